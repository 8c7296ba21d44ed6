"""The sources as data: which packages there are, and what each file imports.

Reads files and never imports them, so that a check of one package needs none of the others.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

MODULE_OF = {
    "agentkit-core": "agentkit_core",
    "agentkit-tools-core": "agentkit_tools_core",
    "agentkit-loop": "agentkit_loop",
    "agentkit-providers": "agentkit_providers",
    "agentkit-reporting": "agentkit_reporting",
}
"""Distribution to the name that it is imported by."""


_BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)


class Import(NamedTuple):
    """One imported name: `from a.b import c` gives `a.b.c`, and `import a.b` gives `a.b`."""

    line: int
    name: str

    @property
    def top(self) -> str:
        return self.name.partition(".")[0]


def folder_of(package: str) -> Path:
    """Where the modules of a distribution are."""
    return ROOT / "packages" / package / "src" / MODULE_OF[package]


def python_files(folder: Path) -> list[Path]:
    """All Python files below a folder, sorted; none if there is no such folder."""
    return sorted(folder.rglob("*.py"))


def imports_of(source: str, *, at_import: bool = False) -> Iterator[Import]:
    """What a source imports, in functions and under conditions too.

    Args:
        source: The text of a module.
        at_import: Leave out what only runs when a function is called.
    """
    queue: list[ast.AST] = [ast.parse(source)]
    for node in queue:
        match node:
            case ast.Import():
                yield from (Import(node.lineno, alias.name) for alias in node.names)
            case ast.ImportFrom(level=0, module=str(module)):
                yield from (Import(node.lineno, f"{module}.{alias.name}") for alias in node.names)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if at_import:
                pass
            case _:  # no expression has a statement in it
                queue += [
                    child for child in ast.iter_child_nodes(node) if isinstance(child, _BLOCKS)
                ]


def public_modules(package: str) -> dict[str, Path]:
    """Dotted name to file, for the front door and each module that is public by its path."""
    folder, found = folder_of(package), {}
    for path in python_files(folder):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if not any(part.startswith("_") for part in parts):
            found[".".join(parts)] = path
    return found


def public_names(path: Path) -> list[str]:
    """The public names of a module, sorted: its `__all__`, else what it defines itself.

    Without `__all__`, that is every class, function and assigned name at the top of the file
    that has no leading underscore.
    """
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return sorted(ast.literal_eval(value))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
            case _:
                pass
    return sorted(name for name in found if not name.startswith("_"))
