"""`help()` of a package is short enough to read, and says what each field of a struct means.

Every struct that can be reached through a name of a public module is checked: the class itself, and
each member of a union.
"""

import importlib
import inspect
import pydoc
import re
import types
import typing
from collections.abc import Iterator

import pytest
from msgspec import Struct

from together.sources import MODULE_OF, public_modules, public_names

MOST_LINES = 6_000
"""Lines of `python -m pydoc` for the root module of a package."""

_SECTION = re.compile(r"^Attributes:\n((?:(?: .*)?\n?)*)", re.MULTILINE)
_ENTRY = re.compile(r"^ {4}(\w+): \S", re.MULTILINE)


def public_structs(package: str) -> Iterator[type[Struct]]:
    """Every struct that can be reached through a public name of a package, each once."""
    seen: set[type] = set()
    for module, path in public_modules(package).items():
        try:
            imported = importlib.import_module(module)
        except ImportError as error:
            if "pip install" not in str(error):
                raise
            continue
        for name in public_names(path):
            for struct in structs_in(getattr(imported, name)):
                if struct not in seen and struct.__module__.startswith(MODULE_OF[package]):
                    seen.add(struct)
                    yield struct


def structs_in(value: object) -> Iterator[type[Struct]]:
    """A struct itself, or the structs of a union."""
    if isinstance(value, types.UnionType) or typing.get_origin(value) is typing.Union:
        for member in typing.get_args(value):
            yield from structs_in(member)
    elif isinstance(value, type) and issubclass(value, Struct):
        yield value


def documented(struct: type[Struct]) -> list[str]:
    """The names that the Attributes section of a docstring explains, in its order."""
    section = _SECTION.search(inspect.cleandoc(vars(struct).get("__doc__") or ""))
    return _ENTRY.findall(section[1]) if section else []


def misses(package: str) -> list[str]:
    """Structs whose docstrings do not explain exactly their fields, as lines, sorted."""
    lines = []
    for struct in public_structs(package):
        fields, explained = struct.__struct_fields__, documented(struct)
        wrong = [name for name in fields if name not in explained]
        wrong += [f"no field {name}" for name in explained if name not in fields]
        if wrong:
            lines.append(f"{struct.__module__}.{struct.__qualname__}: {', '.join(wrong)}")
    return sorted(lines)


@pytest.mark.parametrize("module", MODULE_OF.values())
def test_vu08_the_help_of_a_root_module_can_be_read(module: str) -> None:
    text = pydoc.render_doc(importlib.import_module(module), renderer=pydoc.TextDoc())

    assert 20 < len(text.splitlines()) < MOST_LINES


@pytest.mark.parametrize("package", MODULE_OF)
def test_vu08_a_struct_explains_each_of_its_fields(package: str) -> None:
    assert not misses(package)


@pytest.mark.parametrize("package", MODULE_OF)
def test_structs_are_found(package: str) -> None:
    assert len([*public_structs(package)]) >= 2


def test_a_field_that_is_not_explained_and_one_that_is_not_there_are_noticed() -> None:
    class Odd(Struct):
        """Odd.

        Attributes:
            seen: Explained, over
                two lines: with a colon.
            gone: Not there.

        Raises:
            missing: Not in the section.
        """

        seen: int
        missing: int

    assert documented(Odd) == ["seen", "gone"]
