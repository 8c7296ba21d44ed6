"""A package is entered by its front door or a public module, never through a private one."""

import ast
from pathlib import Path

import pytest

from together.sources import MODULE_OF, ROOT, folder_of, imports_of, python_files

PACKAGE_OF_TESTS = {module.removeprefix("agentkit_"): module for module in MODULE_OF.values()}

OWNERS: dict[Path, str | None] = {
    **{folder_of(package): module for package, module in MODULE_OF.items()},
    **{ROOT / "tests" / tests: module for tests, module in PACKAGE_OF_TESTS.items()},
    ROOT / "tests" / "support": None,
    ROOT / "tests" / "together": None,
    ROOT / "examples": None,
    ROOT / "bench": None,
}
"""Folder of sources to the one package whose private modules it may import."""


def private_imports(source: str, *, owner: str | None) -> list[str]:
    """Imports of private modules or names of packages other than the owner, as `line: name`."""
    return [
        f"{found.line}: {found.name}"
        for found in imports_of(source)
        if found.top in MODULE_OF.values() and found.top != owner
        if any(part.startswith("_") for part in found.name.split("."))
    ]


@pytest.mark.parametrize("folder", OWNERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_nobody_imports_a_neighbours_private_module(folder: Path) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{found}"
        for path in python_files(folder)
        for found in private_imports(path.read_text(encoding="utf-8"), owner=OWNERS[folder])
    ]

    assert not wrong


@pytest.mark.parametrize(
    "line",
    [
        "from agentkit_core._streaming._fold import Fold",
        "from agentkit_core._streaming import _fold",
        "import agentkit_core._streaming._fold",
        "def late():\n    from agentkit_core._streaming._fold import Fold",
    ],
)
def test_every_way_to_import_a_private_module_is_seen(line: str) -> None:
    assert private_imports(line, owner="agentkit_loop")
    assert not private_imports(line, owner="agentkit_core")


@pytest.mark.parametrize("package", MODULE_OF)
def test_a_front_door_is_a_list_of_imports_the_version_and_all(package: str) -> None:
    body = ast.parse((folder_of(package) / "__init__.py").read_text(encoding="utf-8")).body

    assert ast.get_docstring(ast.Module(body, [])), "a front door says what it is"
    for node in body[1:]:
        named = ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else None
        is_list = named in {"__version__", "__all__"}
        assert isinstance(node, ast.ImportFrom) or is_list, f"line {node.lineno} is code"
