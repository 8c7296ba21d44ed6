"""ARCHITECTURE.md draws the layers that the contracts in pyproject.toml state, and no others."""

import re
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement

from together.sources import MODULE_OF, ROOT, folder_of

Layers = list[frozenset[str]]
"""From the top down; each layer is the modules that do not know each other."""

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS: list[dict[str, Any]] = SETTINGS["tool"]["importlinter"]["contracts"]


def drawn_layers(page: str, heading: str) -> Layers:
    """Read the first drawing below a heading: a layer per line, its names left of two spaces.

    Lines that begin with a space only explain the layer above them.
    """
    _, _, section = page.partition(f"\n{heading}\n")
    drawing = re.search(r"^```text\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert drawing, f"ARCHITECTURE.md has no drawing below {heading!r}"
    lines = [line.partition("  ")[0] for line in drawing[1].splitlines() if line[:1] != " "]
    return [frozenset(line.split(" | ")) for line in lines]


def stated_layers(container: str | None) -> Layers:
    """Read the layers contract of a package; that between the packages where it is None."""
    (contract,) = [
        contract
        for contract in CONTRACTS
        if contract["type"] == "layers" and contract.get("containers", [None]) == [container]
    ]
    return [frozenset(re.split(r" [|:] ", layer)) for layer in contract["layers"]]


def modules_in(package: str) -> set[str]:
    """Name the modules and folders of modules directly below a package, `__init__` aside."""
    folder = folder_of(package)
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return modules | {path.parent.name for path in folder.glob("*/__init__.py")}


@pytest.mark.parametrize("package", MODULE_OF)
def test_the_drawing_of_a_package_shows_the_layers_of_its_contract(package: str) -> None:
    assert drawn_layers(PAGE, f"### {package}") == stated_layers(MODULE_OF[package])


@pytest.mark.parametrize("package", MODULE_OF)
def test_the_drawing_of_a_package_shows_every_module_once(package: str) -> None:
    names = [name for layer in drawn_layers(PAGE, f"### {package}") for name in layer]

    assert sorted(names) == sorted(modules_in(package))


def test_the_drawing_of_the_packages_shows_the_layers_of_their_contract() -> None:
    assert drawn_layers(PAGE, "## Packages") == stated_layers(None)


@pytest.mark.parametrize("package", MODULE_OF)
def test_the_table_of_packages_says_what_a_package_imports(package: str) -> None:
    row = re.search(rf"^\| {package} \| (.*?) \|", PAGE, re.MULTILINE)
    assert row
    project = (ROOT / "packages" / package / "pyproject.toml").read_text(encoding="utf-8")
    requirements = tomllib.loads(project)["project"]["dependencies"]

    assert set(row[1].split(", ")) == {
        Requirement(requirement).name.removeprefix("agentkit-") for requirement in requirements
    }


def test_the_four_protocols_have_the_modules_that_the_page_lists() -> None:
    _, _, section = PAGE.partition("| modules of each protocol |")
    table, _, _ = section.partition("\n\n")
    listed = set(re.findall(r"`(_\w+)`", table))
    folder = folder_of("agentkit-providers")
    protocols = [folder / name for layer in stated_layers("agentkit_providers") for name in layer]
    modules = [
        {path.stem for path in protocol.glob("_*.py")} - {"__init__"}
        for protocol in protocols
        if (protocol / "_projection.py").exists()
    ]

    assert len(modules) == 4
    assert listed == set.intersection(*modules)


def test_no_package_is_without_contracts() -> None:
    (siblings,) = [found for found in CONTRACTS if found["type"] == "acyclic_siblings"]

    assert siblings["ancestors"] == list(MODULE_OF.values())
    for contract in CONTRACTS:
        if contract["type"] == "layers" and "containers" in contract:
            assert contract["exhaustive"], f"{contract['name']!r} must list every module"


@pytest.mark.parametrize(
    "change",
    [
        ("_projection ", "_history "),  # one module twice, one not at all
        ("_item | _tool_spec", "_item, _tool_spec"),
        ("testing  ", "testing | _projection  "),
    ],
)
def test_a_drawing_that_differs_is_noticed(change: tuple[str, str]) -> None:
    heading = "### agentkit-core"
    start = PAGE.index(heading)
    page = PAGE[:start] + PAGE[start:].replace(*change, 1)

    assert page != PAGE
    assert drawn_layers(page, heading) != stated_layers("agentkit_core")
