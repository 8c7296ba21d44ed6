"""The documentation's site has every page and every public module; `nox -s docs` builds it."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from together.sources import MODULE_OF, ROOT, public_modules

DOCS = ROOT / "docs"
FOLDERS = {"decisions", "reference"}
"""Entries of the navigation that become lists of all pages in a folder."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("build") / "docs"
    assemble: Any = runpy.run_path(str(DOCS / "assemble.py"))["assemble"]
    assemble(folder)
    assemble(folder)  # what an earlier run has left is no hindrance
    return folder


def test_the_navigation_names_every_page_once() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"[\w/-]+\.md$", settings.partition("\nnav:\n")[2], re.MULTILINE)
    pages = [path.relative_to(DOCS) for path in sorted(DOCS.rglob("*.md"))]

    assert sorted(named) == [str(page) for page in pages if page.parts[0] not in FOLDERS]


def test_every_public_module_has_a_page_of_reference(site: Path) -> None:
    modules = {module for package in MODULE_OF for module in public_modules(package)}

    assert {path.stem for path in (site / "reference").glob("*.md")} == modules


def test_the_list_for_language_models_has_every_page_with_a_sentence(site: Path) -> None:
    lines = (site / "llms.txt").read_text(encoding="utf-8").splitlines()
    entries = [line for line in lines if line.startswith("- ")]
    modules = [module for package in MODULE_OF for module in public_modules(package)]

    assert len(entries) == len([*DOCS.rglob("*.md")]) + len(modules)
    assert not [line for line in entries if not re.fullmatch(r"- \[.+\]\(.*\): \S.*\S", line)]


def test_folders_of_the_navigation_have_become_lists(site: Path) -> None:
    settings = (site.parent / "mkdocs.yml").read_text(encoding="utf-8")

    for folder in FOLDERS:
        pages = [path.relative_to(site).as_posix() for path in (site / folder).glob("*.md")]
        assert pages
        assert not [page for page in pages if f'"{page}"' not in settings]
