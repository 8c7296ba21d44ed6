"""The snippets of each page are a program that passes `mypy --strict`, as a user would check it.

One run of mypy judges all pages, with the settings and the cache of the project itself; `nox -s
types` makes it right after its own run, so that nearly all is in the cache.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from together.pages import PAGES, module_of, program_of
from together.sources import ROOT

PROGRAMS = {path: program for path in PAGES if (program := program_of(path))}
AWAITING = "a_page_that_awaits"
ILL_TYPED = "a_page_that_is_ill_typed"
FIRST = "a_first_program"
FIRST_PROGRAM = '''
from pathlib import Path
from typing import assert_type

from agentkit_core import JsonValue, ToolCallId, ToolOutput, ToolResult
from agentkit_loop import Agent
from agentkit_loop.testing import ScriptedModel
from agentkit_tools_core import Allowed, Executor, NeedsApproval, ToolInvocation, tool
from agentkit_tools_core.permissions import PathPolicy, permission_to_delete, permission_to_read


@tool(permissions=lambda call: [permission_to_read(call.argument("path", str))])
def read(path: str) -> str:
    """Read a file."""
    return path.upper()


@tool(permissions=lambda call: [permission_to_delete(p) for p in call.argument("p", list[str])])
def delete(p: list[str]) -> int:
    """Delete files."""
    return len(p)


folder = Path("/somewhere")
names = [str(folder)]
policies = PathPolicy(allowed=[folder]), PathPolicy(allowed=names), PathPolicy(allowed=(folder,))
executor = Executor([read, delete], policy=policies[0])


def invocation(name: str, path: JsonValue) -> ToolInvocation:
    return ToolInvocation(ToolCallId("1"), name, {"path" if name == "read" else "p": path})


assert isinstance(executor.preflight(invocation("read", "/somewhere/x")), Allowed)
assert isinstance(executor.preflight(invocation("delete", ["/else/x"])), NeedsApproval)


def text_of(result: ToolResult, output: ToolOutput) -> str:
    return assert_type(result.text, str) + assert_type(output.text, str)


agent = Agent(model=ScriptedModel("Hello!"), tools=[read, delete])
assert assert_type(agent.run_blocking("hi").text, str) == "Hello!"
'''


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Module of a page to mypy's errors about it; made-up pages are judged as well."""
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed; `nox -s types` runs this test")
    # The settings of mypy know the snippets by the name of this folder.
    folder = tmp_path_factory.mktemp("pages") / "snippets"
    folder.mkdir()
    programs = {module_of(path): program for path, program in PROGRAMS.items()}
    programs[FIRST] = FIRST_PROGRAM
    programs[AWAITING] = "import asyncio\n\nawait asyncio.sleep(0)\n"
    programs[ILL_TYPED] = "def increment(number: int) -> int:\n    return str(number)\n"
    for module, program in programs.items():
        (folder / f"{module}.py").write_text(program, encoding="utf-8")
    mypy = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", *folder.glob("*.py")],
        cwd=ROOT,
        env=os.environ | {"MYPYPATH": str(folder.parent)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    # 2 and above: mypy did not get as far as judging types.
    assert mypy.returncode == 1, mypy.stdout + mypy.stderr
    lines = mypy.stdout.splitlines()
    return {module: [line for line in lines if f"/{module}.py:" in line] for module in programs}


@pytest.mark.timeout(310)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_snippets_of_a_page_are_well_typed(
    path: Path, complaints: dict[str, list[str]]
) -> None:
    assert not complaints[module_of(path)]


@pytest.mark.timeout(310)
def test_a_snippet_may_await_and_one_that_is_ill_typed_is_noticed(
    complaints: dict[str, list[str]],
) -> None:
    assert not complaints[AWAITING]
    (complaint,) = complaints[ILL_TYPED]

    assert ":2:" in complaint
    assert "[return-value]" in complaint


@pytest.mark.timeout(310)
def test_vu14_a_first_program_is_well_typed_and_runs(complaints: dict[str, list[str]]) -> None:
    exec(FIRST_PROGRAM, {"__name__": FIRST})

    assert not complaints[FIRST]
