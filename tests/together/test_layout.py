"""Five packages that agree: one version, pins that fit it, dependencies that are used."""

import ast
import importlib
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from together.sources import MODULE_OF, ROOT, folder_of, imports_of, python_files

ONE_SCREEN = 60
"""Lines that a package's README may have."""

TESTED_PYTHONS = {"3.11", "3.12", "3.13"}
"""Those that `nox -s versions` tests, where they are installed."""

IMPORTED_AS = {"markdown-it-py": "markdown_it", "opentelemetry-api": "opentelemetry"}
"""Distributions whose import name is not their own name."""


def project(package: str) -> Mapping[str, Any]:
    path = ROOT / "packages" / package / "pyproject.toml"
    table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    return table


def requirements(package: str) -> list[Requirement]:
    return [Requirement(line) for line in project(package)["dependencies"]]


def module_of(requirement: Requirement) -> str:
    return IMPORTED_AS.get(requirement.name, requirement.name.replace("-", "_"))


def version() -> str:
    source = (ROOT / "VERSION.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    assert found
    return found[1]


@pytest.mark.parametrize("package", MODULE_OF)
def test_every_package_has_the_version_of_the_version_file(package: str) -> None:
    assert importlib.metadata.version(package) == version()


@pytest.mark.parametrize("package", MODULE_OF)
def test_every_package_says_its_version_without_reading_metadata(package: str) -> None:
    assert importlib.import_module(MODULE_OF[package]).__version__ == version()


@pytest.mark.parametrize("package", MODULE_OF)
def test_an_index_can_tell_what_a_package_is_and_on_which_pythons_it_is_tested(
    package: str,
) -> None:
    about = project(package)
    told = {name.rpartition(" ")[2] for name in about["classifiers"] if " :: 3." in name}

    assert len(about["keywords"]) >= 5
    assert told == TESTED_PYTHONS
    assert SpecifierSet(about["requires-python"]).contains(min(told, key=Version))


@pytest.mark.parametrize("package", MODULE_OF)
def test_siblings_are_pinned_to_compatible_versions(package: str) -> None:
    release = Version(version())
    pin = f"~={release.major}.{release.minor}.0"

    for requirement in requirements(package):
        if requirement.name in MODULE_OF:
            assert str(requirement.specifier) == pin
            assert requirement.specifier.contains(release)


@pytest.mark.parametrize("package", MODULE_OF)
def test_a_package_imports_all_that_it_declares(package: str) -> None:
    imported = {
        found.top
        for path in python_files(folder_of(package))
        for found in imports_of(path.read_text(encoding="utf-8"))
    }

    assert {module_of(requirement) for requirement in requirements(package)} <= imported


@pytest.mark.parametrize("package", MODULE_OF)
def test_a_package_imports_nothing_that_it_does_not_declare(package: str) -> None:
    extras = project(package).get("optional-dependencies", {})
    optional = [Requirement(line) for lines in extras.values() for line in lines]
    declared = {module_of(requirement) for requirement in [*requirements(package), *optional]}
    allowed = {MODULE_OF[package], *declared, *sys.stdlib_module_names}

    wrong = [
        f"{path.relative_to(ROOT)}:{found.line}: {found.name}"
        for path in python_files(folder_of(package))
        for found in imports_of(path.read_text(encoding="utf-8"))
        if found.top not in allowed
    ]

    assert not wrong


@pytest.mark.parametrize("package", MODULE_OF)
def test_type_checkers_and_lawyers_find_their_file(package: str) -> None:
    licence = ROOT / "packages" / package / "LICENSE"

    assert (folder_of(package) / "py.typed").is_file()
    assert licence.read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("package", MODULE_OF)
def test_a_readme_fits_one_screen_and_says_how_to_install(package: str) -> None:
    text = (ROOT / "packages" / package / "README.md").read_text(encoding="utf-8")

    assert text.startswith(f"# {package}\n")
    assert len(text.splitlines()) <= ONE_SCREEN
    assert f"pip install {package}" in text


@pytest.mark.parametrize("package", MODULE_OF)
def test_every_module_says_where_you_are(package: str) -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in python_files(folder_of(package))
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert not silent
