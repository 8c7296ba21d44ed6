"""Files and classes stay small enough to be read in one go, in all five packages."""

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator

import pytest

from together.sources import MODULE_OF, ROOT, folder_of, python_files

MOST_METHODS = 25
"""Methods of a class, properties and what it inherits from us included."""

MOST_LINES = 350

SHORTER = {
    "agentkit_loop/drivers/blocking.py": 200,
    "agentkit_loop/agent/_blocking_session.py": 200,
}
"""Files that are thin around what they share with their asynchronous counterparts."""


def methods_of(cls: type) -> set[str]:
    """The names of a class's methods and properties, with those that it inherits from us."""
    ours = [base for base in cls.__mro__ if base.__module__.partition(".")[0] in MODULE_OF.values()]
    return {
        name
        for base in ours
        for name, member in vars(base).items()
        if inspect.isfunction(member) or isinstance(member, property | classmethod | staticmethod)
    }


def classes_of(package: str) -> Iterator[type]:
    """All classes that are defined at the top of a package's modules."""
    folder = folder_of(package)
    for path in python_files(folder):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        if not names:
            continue
        parts = path.relative_to(folder.parent).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        try:
            importlib.import_module(module)
        except ImportError as error:
            if "pip install" not in str(error):
                raise
            continue  # it needs an extra that is not installed here
        yield from (getattr(sys.modules[module], name) for name in names)


class _Tower:
    def lowest(self) -> None: ...

    @property
    def kind(self) -> None: ...


class _Higher(_Tower):
    def lowest(self) -> None: ...

    @classmethod
    def make(cls) -> None: ...


def test_inherited_methods_count_and_overridden_ones_count_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(MODULE_OF, "here", __name__.partition(".")[0])

    assert methods_of(_Higher) == {"lowest", "kind", "make"}


@pytest.mark.parametrize("package", MODULE_OF)
def test_no_class_has_more_methods_than_one_reads_in_one_go(package: str) -> None:
    classes = list(classes_of(package))
    too_big = {
        cls.__qualname__: count for cls in classes if (count := len(methods_of(cls))) > MOST_METHODS
    }

    assert classes
    assert not too_big


@pytest.mark.parametrize("package", MODULE_OF)
def test_no_file_is_longer_than_one_reads_in_one_go(package: str) -> None:
    folder = folder_of(package)
    lengths = {
        path.relative_to(folder.parent).as_posix(): len(
            path.read_text(encoding="utf-8").splitlines()
        )
        for path in python_files(folder)
    }

    assert {
        path: length
        for path, length in lengths.items()
        if length > MOST_LINES or length >= SHORTER.get(path, length + 1)
    } == {}


@pytest.mark.parametrize("path", SHORTER)
def test_the_files_that_have_a_limit_of_their_own_exist(path: str) -> None:
    assert list(ROOT.glob(f"packages/*/src/{path}"))
