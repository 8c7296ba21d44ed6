"""What a page names is there: files, public modules and their names, other pages."""

import builtins
import importlib
import re
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from together.pages import OTHER_PAGES, PAGES, program_of
from together.sources import MODULE_OF, ROOT, folder_of, public_modules, public_names, python_files

PUBLIC = {
    module: frozenset(public_names(path))
    for package in MODULE_OF
    for module, path in public_modules(package).items()
}
"""Each module that is public by its path, with its public names."""

RECUT = ROOT / "docs" / "decisions" / "0013-recut-into-layers.md"
"""Names what was there before as well."""

COMING_FROM = ROOT / "docs" / "coming-from.md"
COMPARISON = ROOT / "docs" / "comparison.md"
"""Both name classes of other libraries as well."""

ARCHITECTURE = ROOT / "ARCHITECTURE.md"
"""Is for people who change the code, so it names private classes as well."""

CODE = re.compile(r"```.*?```", re.DOTALL)
FILE = re.compile(r"`((?:[\w-]+/)*\w+\.(?:py|md|mjs|toml)|(?:[\w-]+/)+)`")
NAME = re.compile(r"`(agentkit_\w+(?:\.\w+)*)")
CLASS = re.compile(r"`([A-Z]\w*[a-z]\w*)(?:\.(\w+))?(?:\(.*?\))?`")
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)")


def name_of(page: Path) -> str:
    """Name a page by its path in the project."""
    return str(page.relative_to(ROOT))


def text_of(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return CODE.sub("", page.read_text(encoding="utf-8"))


def missing_files(text: str, page: Path) -> Iterator[str]:
    """Find the paths in backticks that lead to no file or folder.

    A path may begin at the page, the project, its `examples`, or the folder that holds a package's
    module; in the README of a package, at the folder of its module.
    """
    starts = [page.parent, ROOT, ROOT / "examples", ROOT / "bench"]
    starts += [folder_of(package).parent for package in MODULE_OF]
    if page.parent.name in MODULE_OF:
        starts.append(folder_of(page.parent.name))
    for path in FILE.findall(text):
        if not any((start / path).exists() for start in starts):
            yield path


def missing_names(text: str) -> Iterator[str]:
    """Find the dotted names in backticks that are neither a public module nor a public name."""
    for name in NAME.findall(text):
        module, _, attribute = name.rpartition(".")
        if name not in PUBLIC and attribute not in PUBLIC.get(module, ()):
            yield name


def missing_classes(text: str, private: Collection[str] = ()) -> Iterator[str]:
    """Find the class names in backticks, and `Class.attribute`, that no public module has.

    Args:
        text: The text of a page.
        private: Names of private classes that the page may use.
    """
    for name, attribute in CLASS.findall(text):
        modules = [module for module, names in PUBLIC.items() if name in names]
        if not modules and not hasattr(builtins, name) and name not in private:
            yield name
        for module in modules[:1]:
            value = getattr(importlib.import_module(module), name)
            if attribute and not hasattr(value, attribute):
                yield f"{name}.{attribute}"


def all_classes() -> set[str]:
    """Name all classes at the top of a module of the packages, private ones included."""
    files = [path for package in MODULE_OF for path in python_files(folder_of(package))]
    return {
        name
        for path in files
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }


def missing_pages(text: str, page: Path) -> Iterator[str]:
    """Find the links inside the project that lead nowhere, or out of the documentation.

    `nox -s docs` builds the documentation from `docs/` alone.
    """
    docs = ROOT / "docs"
    for target in LINK.findall(text):
        path = (page.parent / target).resolve()
        if not path.exists() or (docs in page.parents and docs not in path.parents):
            yield target


@pytest.mark.parametrize("page", [*PAGES, *OTHER_PAGES], ids=name_of)
def test_what_a_page_names_is_there(page: Path) -> None:
    text = text_of(page)

    assert not [*missing_files(text, page), *missing_names(text), *missing_pages(text, page)]


@pytest.mark.parametrize(
    "page",
    [page for page in [*PAGES, *OTHER_PAGES] if page not in (RECUT, COMING_FROM, COMPARISON)],
    ids=name_of,
)
def test_the_classes_that_a_page_names_are_public(page: Path) -> None:
    private = all_classes() if page == ARCHITECTURE else ()

    assert not [*missing_classes(text_of(page), private)]


@pytest.mark.parametrize("package", MODULE_OF)
def test_the_readme_of_a_package_lists_its_public_modules(package: str) -> None:
    text = text_of(ROOT / "packages" / package / "README.md")

    for module in public_modules(package):
        if PUBLIC[module] and ".replay." not in module:
            last = module.rpartition(".")[2]
            assert f"`{module}`" in text or f"`.{last}`" in text, module


@pytest.mark.parametrize("package", MODULE_OF)
def test_the_readme_of_a_package_says_what_it_needs(package: str) -> None:
    folder = ROOT / "packages" / package
    project = tomllib.loads(text_of(folder / "pyproject.toml"))["project"]
    needs = text_of(folder / "README.md").partition("- Needs: ")[2].partition("\n```")[0]

    for requirement in project["dependencies"]:
        name = re.split(r"[<>=~]", requirement)[0]
        assert re.search(rf"(?<![\w-]){name}(?![\w-])", needs), requirement


@pytest.mark.parametrize(
    "example", sorted((ROOT / "examples").iterdir()), ids=lambda path: path.name
)
def test_the_readme_lists_the_examples(example: Path) -> None:
    if example.suffix == ".py" or (example / "__main__.py").exists():
        assert f"`{example.name}" in text_of(ROOT / "README.md")


def test_the_index_of_the_documentation_links_every_page() -> None:
    index = ROOT / "docs" / "index.md"
    links = {index.parent / target for target in LINK.findall(text_of(index))}

    assert links == {page for page in PAGES if index.parent in page.parents} - {index}


@pytest.mark.parametrize("page", OTHER_PAGES, ids=lambda page: page.name)
def test_the_pages_whose_snippets_are_not_run_have_none(page: Path) -> None:
    assert not program_of(page)


def test_what_is_missing_is_noticed() -> None:
    page = ROOT / "README.md"
    text = (
        "`agentkit_core/_nothing.py`, `examples/nothing/`, [here](docs/nothing.md), `docs/`, "
        "`agentkit_core.nothing`, `agentkit_core.Nothing`, `agentkit_core.Item(…)`, `a_tool.py`"
    )

    assert [*missing_files(text, page)] == ["agentkit_core/_nothing.py", "examples/nothing/"]
    assert [*missing_names(text)] == ["agentkit_core.nothing", "agentkit_core.Nothing"]
    assert [*missing_pages(text, page)] == ["docs/nothing.md"]

    assert [*missing_pages("[1](../README.md) [2](tour.md)", ROOT / "docs" / "index.md")] == [
        "../README.md"
    ]

    text = "`Nothing`, `Item.nothing`, `Item.text`, `KeyboardInterrupt`, `None`, `OPENAI_API_KEY`"
    assert [*missing_classes(text)] == ["Nothing", "Item.nothing"]
