"""Structs and string enums work as those of msgspec and the standard library, but for `help()`."""

import copy
import pickle
import pydoc
from enum import StrEnum
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from agentkit_core import FinishReason, TextOutput, Usage
from agentkit_core.values import Record, StringEnum

needs_brief_structs = pytest.mark.skipif(
    type(Record) is type(Struct), reason="creating such a struct would take three times as long"
)


class Point(Record, frozen=True, tag="point"):
    """A point.

    Attributes:
        x: To the right.
    """

    x: int

    def moved(self, by: int) -> "Point":
        """Move it."""
        return Point(self.x + by)


class Circle(Record, frozen=True, tag="circle"):
    r: int


class Colour(StringEnum):
    """A colour."""

    RED = "red"
    BLUE = "blue"

    @property
    def is_warm(self) -> bool:
        """Whether it is warm."""
        return self is Colour.RED


@needs_brief_structs
def test_help_shows_the_fields_and_methods_of_a_record_and_no_machinery() -> None:
    text = pydoc.plain(pydoc.render_doc(Point))

    for own in ("x: To the right.", "moved(self, by: int)", "Move it."):
        assert own in text
    for inherited in (
        "__copy__", "__eq__", "__reduce__", "__replace__", "__rich_repr__", "__struct_fields__",
        "__annotations__",
    ):  # fmt: skip
        assert inherited not in text


def test_help_shows_the_members_of_an_enum_and_no_methods_of_strings() -> None:
    text = pydoc.plain(pydoc.render_doc(Colour))

    for own in ("RED = <Colour.RED: 'red'>", "is_warm", "Whether it is warm."):
        assert own in text
    for inherited in ("capitalize", "zfill", "__add__", "__format__", "__members__"):
        assert inherited not in text


@needs_brief_structs
@pytest.mark.parametrize("value", [TextOutput, FinishReason, Usage])
def test_help_on_our_own_values_fits_one_screen(value: type) -> None:
    assert len(pydoc.plain(pydoc.render_doc(value)).splitlines()) < 65


def test_creating_a_record_takes_the_fast_path_of_a_struct() -> None:
    fast_path = 1 << 11  # Py_TPFLAGS_HAVE_VECTORCALL
    types: list[Any] = [type(Struct), type(Record), type(Point)]

    assert [bool(kind.__flags__ & fast_path) for kind in types] == [True] * 3


def test_operators_that_a_record_defines_are_shown() -> None:
    # Python 3.14 writes the annotation without quotes.
    assert "__add__(self, other: " in pydoc.plain(pydoc.render_doc(Usage))


def test_a_record_is_a_struct_in_all_that_it_does() -> None:
    point = Point(3)

    assert isinstance(point, Struct)
    assert point == Point(3) != Point(4)
    assert len({point, Point(3)}) == 1
    assert repr(point) == "Point(x=3)"
    assert copy.copy(point) == pickle.loads(pickle.dumps(point)) == point
    assert msgspec.structs.replace(point, x=4) == point.moved(1)
    assert msgspec.structs.asdict(point) == {"x": 3}
    with pytest.raises(AttributeError):
        point.x = 1  # type: ignore[misc]
    for data in (msgspec.json.encode(point), b'{"x":3,"type":"point"}'):
        assert msgspec.json.decode(data, type=Point | Circle) == point
    packed = msgspec.msgpack.encode(Circle(1))
    assert msgspec.msgpack.decode(packed, type=Point | Circle) == Circle(1)
    assert msgspec.convert({"type": "point", "x": 3}, Point) == point


def test_a_string_enum_is_a_str_enum_in_all_that_it_does() -> None:
    assert isinstance(Colour.RED, StrEnum)
    assert Colour("red") is Colour.RED
    assert Colour.RED.value == str(Colour.RED) == "red"
    assert [*Colour] == ["red", "blue"]
    assert f"{Colour.BLUE}" == "blue"
    assert pickle.loads(pickle.dumps(Colour.RED)) is Colour.RED
    for data in (msgspec.json.encode(Colour.RED), b'"red"'):
        assert msgspec.json.decode(data, type=Colour) is Colour.RED
    assert msgspec.json.decode(b'{"blue":1}', type=dict[Colour, int]) == {Colour.BLUE: 1}
    with pytest.raises(msgspec.ValidationError, match="green"):
        msgspec.convert("green", Colour)
