"""The core lives where there is no event loop, no thread, no socket, no clock and no chance.

Proved by running it in an interpreter that refuses to import such modules to anyone. Clock,
chance and files cannot be refused to everyone, for msgspec imports `datetime`, `platform` and
`uuid` to know their types; of those we ask that the core's own sources leave them alone.
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from together.sources import folder_of, imports_of, python_files

NOWHERE = {
    "_ctypes", "asyncio", "concurrent", "ctypes", "email", "http", "logging", "multiprocessing",
    "queue", "sched", "selectors", "signal", "socket", "socketserver", "sqlite3", "ssl",
    "subprocess", "tempfile", "threading", "urllib",
}  # fmt: skip
"""Refused to everyone while the core is imported and used."""

NOT_IN_CORE = NOWHERE | {
    "contextvars", "datetime", "io", "os", "pathlib", "platform", "random", "secrets", "shutil",
    "sys", "time", "uuid",
}  # fmt: skip
"""Refused to the core's own sources."""

REFUSE = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {NOWHERE!r}:
            raise ImportError(f"{{name}} is refused here")

loaded = {NOWHERE!r} & {{name.partition(".")[0] for name in sys.modules}}
assert not loaded, f"the interpreter itself had loaded {{loaded}}"
sys.meta_path.insert(0, Refuse())
"""

USE = """
import msgspec
from agentkit_core import *
from agentkit_core.provider import *
from agentkit_core import testing

fold = Fold()
fold.feed(BeginPart(PartId("p"), Text(text="")))
for chunk in ("Good ", "morning"):
    fold.feed(AppendText(PartId("p"), chunk))
item = Item(id=MessageId("m"), kind="assistant", parts=fold.finish())
assert item.text == "Good morning", item
again = msgspec.json.decode(msgspec.json.encode(item), type=Item)
assert again == item
"""


def run(source: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a new interpreter that starts with as few modules as it can."""
    # -I -S would hide the installed packages; the paths are handed in instead.
    paths = f"import sys; sys.path[:] = {sys.path!r}\n"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", paths + source],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_core_works_where_there_is_no_loop_thread_socket_or_log() -> None:
    result = run(REFUSE + USE)

    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", sorted(NOWHERE))
def test_the_refusal_is_real(name: str) -> None:
    result = run(f"{REFUSE}\nimport {name}")

    assert f"ImportError: {name} is refused here" in result.stderr


@pytest.mark.parametrize(
    "path", python_files(folder_of("agentkit-core")), ids=lambda path: path.name
)
def test_no_module_of_the_core_reaches_for_the_world(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    tree = list(ast.walk(ast.parse(source)))

    assert not NOT_IN_CORE & {found.top for found in imports_of(source)}
    assert not {"open", "print", "input", "exec", "eval"} & {
        node.func.id
        for node in tree
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not any(isinstance(node, ast.AsyncFunctionDef | ast.Await) for node in tree)
