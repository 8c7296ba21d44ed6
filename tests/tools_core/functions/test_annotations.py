"""Every kind of type that a parameter may have: its schema, what fits it and what does not."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import uuid
from collections import OrderedDict, deque, namedtuple
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Required,
    TypeAlias,
    TypedDict,
    TypeVar,
)

import msgspec
import pytest

from agentkit_core import JsonValue
from agentkit_tools_core import FunctionTool, InvalidToolFunction, InvalidToolInput, tool

T = TypeVar("T")


class Point(msgspec.Struct):
    x: int
    y: int = 0


class Inside(msgspec.Struct):
    points: list[Point]
    name: str | None = None


class Circle(msgspec.Struct, tag="circle"):
    radius: int


class Square(msgspec.Struct, tag="square"):
    side: int


class Closed(msgspec.Struct, forbid_unknown_fields=True):
    x: int


class Renamed(msgspec.Struct, rename="camel"):
    long_name: int


class Checked(msgspec.Struct):
    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is below the ground")


@dataclasses.dataclass
class Line:
    start: Point
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Sealed:
    x: int


class Options(TypedDict):
    deep: bool
    limit: NotRequired[int]


class Loose(TypedDict, total=False):
    deep: Required[bool]
    limit: int


class Pair(NamedTuple):
    x: int
    label: str = "none"


Plain = namedtuple("Plain", "x y")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Word(enum.StrEnum):
    ONE = "one"


class Mixed(enum.Enum):
    TEXT = "a"
    NUMBER = 2


class Box(msgspec.Struct, Generic[T]):
    value: T


@dataclasses.dataclass
class Crate(Generic[T]):
    value: T


class Bag(TypedDict, Generic[T]):
    value: T


class Tree(msgspec.Struct):
    kids: list[Tree] = []


@dataclasses.dataclass
class Branch:
    n: int
    next: Branch | None = None


class Menu(TypedDict):
    items: NotRequired[list[Menu]]


UserId = NewType("UserId", int)
new_type: Any = NewType  # by another name: mypy 2.4 breaks on a NewType of a Struct
Place: Any = new_type("Place", Point)
Table: TypeAlias = dict[str, list[int]]
ListOf = list[T]
Bound = TypeVar("Bound", bound=Point)
Either = TypeVar("Either", int, str)


class Ge:
    """Stands for a constraint of annotated-types."""

    def __init__(self, ge: int) -> None:
        self.ge = ge


class Length:
    def __init__(self, min_length: int, max_length: int | None = None) -> None:
        self.min_length = min_length
        self.max_length = max_length


class Field:
    """Stands for pydantic's: constraints in a list, and a text."""

    def __init__(self, *metadata: object, description: str) -> None:
        self.metadata = list(metadata)
        self.description = description


class Predicate:
    """A note that nobody here understands."""


HEX = "12345678-1234-5678-1234-567812345678"
REF = "$ref"
UTC = datetime.UTC
INTEGER = {"type": "integer"}
TEXT = {"type": "string"}
NULL = {"type": "null"}
POINT = {"properties": {"x": INTEGER, "y": {"type": "integer", "default": 0}}, "required": ["x"]}


def of(kind: Any, default: Any = dataclasses.MISSING) -> FunctionTool[..., Any]:
    """A tool with one parameter of that type."""

    def take(value: Any) -> None: ...

    if default is not dataclasses.MISSING:
        take.__defaults__ = (default,)
    take.__annotations__["value"] = kind
    return tool(take)


def schema_of(created: FunctionTool[..., Any]) -> Any:
    """The schema of the parameter; that of its definition if it is one."""
    whole: Any = created.spec.input_schema
    own = whole["properties"]["value"]
    return whole["$defs"][own[REF].removeprefix("#/$defs/")] if REF in own else own


KINDS: dict[str, tuple[Any, dict[str, Any], Any, Any, Any, str]] = {
    # kind: its type, in its schema, fits, decoded, does not fit, what the model is told
    "int": (int, INTEGER, 7, 7, [], "Expected `int`, got `array`"),
    "float": (float, {"type": "number"}, 7, 7.0, "x", "Expected `float`, got `str`"),
    "bool": (bool, {"type": "boolean"}, True, True, 2, "Expected `bool`, got `int`"),
    "str": (str, TEXT, "a", "a", {}, "Expected `str`, got `object`"),
    "None": (None, NULL, None, None, 1, "Expected `null`, got `int`"),
    "list": (list[int], {"items": INTEGER}, [1], [1], [[]], "value.0: Expected `int`"),
    "bare list": (list, {"type": "array"}, [1, "a"], [1, "a"], 1, "Expected `array`"),
    "sequence": (Sequence[int], {"items": INTEGER}, [1], [1], {}, "Expected `array`"),
    "iterable": (Iterable[int], {"items": INTEGER}, [1], [1], 1, "Expected `array`"),
    "bare iterable": (Iterable, {"type": "array"}, [1], [1], 1, "Expected `array`"),
    "iterables": (list[Iterable[int]], {"type": "array"}, [[1]], [[1]], [1], "value.0: "),
    "collection": (Collection[int], {"items": INTEGER}, [1], [1], 1, "Expected `array`"),
    "set": (set[int], {"uniqueItems": True}, [1, 1], {1}, ["a"], "value.0: Expected `int`"),
    "abstract set": (Set[int], {"uniqueItems": True}, [1], {1}, 1, "Expected `array`"),
    "frozenset": (frozenset[int], {"items": INTEGER}, [1], frozenset({1}), 1, "`array`"),
    "tuple": (tuple[int, str], {"prefixItems": [INTEGER, TEXT]}, [1, "a"], (1, "a"), [1], "2"),
    "long tuple": (tuple[int, ...], {"items": INTEGER}, [1, 2], (1, 2), ["a"], "value.0: "),
    "dict": (
        dict[str, int],
        {"additionalProperties": INTEGER},
        {"a": 1},
        {"a": 1},
        {"a": "b"},
        "*",
    ),
    "mapping": (Mapping[str, int], {"type": "object"}, {"a": 1}, {"a": 1}, [], "Expected `object`"),
    "dict of int": (dict[int, str], {"type": "object"}, {"1": "a"}, {1: "a"}, {"x": "a"}, "`int`"),
    "dict of enum": (
        dict[Colour, int],
        {"propertyNames": {REF: "#/$defs/Colour"}},
        {"red": 1},
        {Colour.RED: 1},
        {"green": 1},
        "Invalid enum value 'green'",
    ),
    "dict of anything": (
        dict[str, object],
        {"type": "object"},
        {"a": [1]},
        {"a": [1]},
        1,
        "object",
    ),
    # unions and literals
    "optional": (int | None, {"anyOf": [INTEGER, NULL]}, None, None, "x", "Expected `int | null`"),
    "scalars": (int | str, {"anyOf": [INTEGER, TEXT]}, "1", "1", [], "Expected `int | str`"),
    "text or list": (str | list[int], {}, [1], [1], {}, "Expected `str | array`"),
    "struct or list": (Point | list[int], {}, {"x": 1}, Point(1), 1, "`object | array`"),
    "enum or int": (Colour | int, {}, "red", Colour.RED, "green", "Invalid enum value 'green'"),
    "tagged": (
        Circle | Square,
        {
            "discriminator": {
                "propertyName": "type",
                "mapping": {"circle": "#/$defs/Circle", "square": "#/$defs/Square"},
            }
        },
        {"type": "square", "side": 2},
        Square(2),
        {"type": "star"},
        "value.type: Invalid value 'star'",
    ),
    "text or path": (str | pathlib.Path, TEXT, "/a", "/a", [], "Expected `str`"),
    "text, path or none": (str | pathlib.Path | None, {}, None, None, [], "Expected `str | null`"),
    "literal": (Literal["a", "b"], {"enum": ["a", "b"]}, "a", "a", "c", "Invalid enum value 'c'"),
    "number literal": (Literal[1, 2], {"enum": [1, 2]}, "2", 2, 3, "Invalid enum value 3"),
    "mixed literal": (Literal["a", 1], {"enum": [1, "a"]}, 1, 1, "b", "Invalid enum value 'b'"),
    "literal or none": (Literal["a", None], {"enum": [None, "a"]}, None, None, "b", "'b'"),
    # structures
    "struct": (Point, POINT, {"x": 1}, Point(1), {"y": 1}, "value.x: is required"),
    "nested struct": (
        Inside,
        {"required": ["points"]},
        {"points": [{"x": 1}]},
        Inside([Point(1)]),
        {"points": [{"x": 1}, {}]},
        "value.points.1.x: is required",
    ),
    "closed struct": (
        Closed,
        {"additionalProperties": False},
        {"x": 1},
        Closed(1),
        {"x": 1, "z": 2},
        "value.z: is not a known field",
    ),
    "renamed fields": (
        Renamed,
        {"required": ["longName"]},
        {"longName": 1},
        Renamed(1),
        {"long_name": 1},
        "value.longName: is required",
    ),
    "checked struct": (Checked, {}, {"x": 1}, Checked(1), {"x": -1}, "x is below the ground"),
    "dataclass": (
        Line,
        {"required": ["start"]},
        {"start": {"x": 1}},
        Line(Point(1)),
        {"start": 1},
        "value.start: Expected `object`",
    ),
    "sealed dataclass": (Sealed, {"required": ["x"]}, {"x": 1}, Sealed(x=1), {}, "value.x: is req"),
    "typed dict": (
        Options,
        {"required": ["deep"]},
        {"deep": True},
        {"deep": True},
        {},
        "value.deep: is required",
    ),
    "loose typed dict": (
        Loose,
        {"required": ["deep"]},
        {"deep": True, "limit": 1},
        {"deep": True, "limit": 1},
        {"limit": 1},
        "value.deep: is required",
    ),
    "named tuple": (Pair, {"minItems": 1, "maxItems": 2}, [1], Pair(1), {"x": 1}, "`array`"),
    "plain named tuple": (Plain, {"minItems": 2}, [1, "a"], Plain(1, "a"), [1], "length 2"),
    "enum": (Colour, {"enum": ["blue", "red"]}, "red", Colour.RED, "green", "Invalid enum value"),
    "int enum": (Level, {"enum": [1, 2]}, "2", Level.HIGH, 3, "Invalid enum value 3"),
    "str enum": (Word, {"enum": ["one"]}, "one", Word.ONE, "two", "Invalid enum value 'two'"),
    # scalars with a form
    "datetime": (
        datetime.datetime,
        {"type": "string", "format": "date-time"},
        "2026-01-02T03:04:05Z",
        datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        "noon",
        "Invalid RFC3339",
    ),
    "naive datetime": (
        datetime.datetime,
        {},
        "2026-01-02T03:04:05",
        datetime.datetime(2026, 1, 2, 3, 4, 5),
        1.5,
        "Expected `datetime`",
    ),
    "datetimes": (
        list[datetime.datetime],
        {"items": {"type": "string", "format": "date-time"}},
        [],
        [],
        ["x"],
        "value.0: Invalid RFC3339",
    ),
    "date": (
        datetime.date,
        {"format": "date"},
        "2026-01-02",
        datetime.date(2026, 1, 2),
        "2026-13-01",
        "Invalid RFC3339",
    ),
    "time": (
        datetime.time,
        {"type": "string", "format": "time"},
        "03:04:05",
        datetime.time(3, 4, 5),
        "25:00:00",
        "Invalid RFC3339",
    ),
    "timedelta": (
        datetime.timedelta,
        {"format": "duration"},
        "PT5M",
        datetime.timedelta(minutes=5),
        "5 minutes",
        "Invalid ISO8601 duration",
    ),
    "uuid": (uuid.UUID, {"format": "uuid"}, HEX, uuid.UUID(HEX), "x", "Invalid UUID"),
    "decimal": (
        decimal.Decimal,
        {"format": "decimal"},
        "1.50",
        decimal.Decimal("1.50"),
        "x",
        "Invalid decimal string",
    ),
    "bytes": (bytes, {"contentEncoding": "base64"}, "AQI=", b"\1\2", "?", "Invalid base64"),
    "path": (pathlib.Path, TEXT, "/a", pathlib.Path("/a"), [], "Expected `str`"),
    "paths": (list[pathlib.Path], {"items": TEXT}, ["/a"], [pathlib.Path("/a")], [[]], "value.0"),
    # constraints
    "bounds": (
        Annotated[int, msgspec.Meta(ge=1, le=5)],
        {"minimum": 1, "maximum": 5},
        3,
        3,
        6,
        "Expected `int` <= 5",
    ),
    "pattern": (
        Annotated[str, msgspec.Meta(pattern="^a")],
        {"pattern": "^a"},
        "ab",
        "ab",
        "b",
        "matching regex '^a'",
    ),
    "bounds inside": (
        list[Annotated[int, msgspec.Meta(ge=1)]],
        {"items": {"type": "integer", "minimum": 1}},
        [1],
        [1],
        [0],
        "value.0: Expected `int` >= 1",
    ),
    "bounds of an optional": (
        Annotated[int | None, msgspec.Meta(ge=1)],
        {"anyOf": [{"type": "integer", "minimum": 1}, NULL]},
        None,
        None,
        0,
        "Expected `int` >= 1",
    ),
    "foreign bounds": (Annotated[int, Ge(1)], {"minimum": 1}, 1, 1, 0, ">= 1"),
    "foreign lengths": (
        Annotated[list[int], Length(1, 2)],
        {"minItems": 1, "maxItems": 2},
        [1],
        [1],
        [1, 2, 3],
        "of length <= 2",
    ),
    "foreign half lengths": (Annotated[str, Length(0, 2)], {"maxLength": 2}, "", "", "abc", "<= 2"),
    "foreign length of nothing": (
        Annotated[list[int], Length(0, 0)],
        {"maxItems": 0, "minItems": None},
        [],
        [],
        [1],
        "<= 0",
    ),
    "foreign bounds of an optional": (
        Annotated[int | None, "A number.", Ge(1)],
        {"description": "A number."},
        None,
        None,
        0,
        ">= 1",
    ),
    "foreign bounds inside": (
        dict[str, Annotated[int, Ge(1)]],
        {"additionalProperties": {"type": "integer", "minimum": 1}},
        {"a": 1},
        {"a": 1},
        {"a": 0},
        ">= 1",
    ),
    "a field": (
        Annotated[int, Field(Ge(1), description="How many.")],
        {"minimum": 1, "description": "How many."},
        1,
        1,
        0,
        ">= 1",
    ),
    # types that refer to themselves
    "recursive struct": (
        Tree,
        {},
        {"kids": [{}]},
        Tree([Tree()]),
        {"kids": [{"kids": 1}]},
        "value.kids.0.kids: Expected `array`",
    ),
    "recursive dataclass": (
        Branch,
        {"required": ["n"]},
        {"n": 1, "next": {"n": 2}},
        Branch(1, Branch(2)),
        {"n": 1, "next": {}},
        "value.next.n: is req",
    ),
    "recursive typed dict": (
        Menu,
        {},
        {"items": [{}]},
        {"items": [{}]},
        {"items": [1]},
        "value.items.0: Expected `object`",
    ),
    # generics and other names
    "generic struct": (
        Box[int],
        {"properties": {"value": INTEGER}},
        {"value": 1},
        Box(1),
        {"value": "x"},
        "value.value: Expected `int`",
    ),
    "generic dataclass": (
        Crate[list[Point]],
        {},
        {"value": [{"x": 1}]},
        Crate([Point(1)]),
        {"value": [{}]},
        "value.value.0.x: is required",
    ),
    "generic typed dict": (
        Bag[int],
        {"properties": {"value": INTEGER}},
        {"value": 1},
        {"value": 1},
        {"value": []},
        "value.value: Expected `int`",
    ),
    "open generic": (
        Box,
        {"properties": {"value": {}}},
        {"value": [1]},
        Box([1]),
        {},
        "value.value: is required",
    ),
    "new type": (UserId, INTEGER, 1, 1, "x", "Expected `int`"),
    "new type of a struct": (Place, POINT, {"x": 1}, Point(1), {}, "value.x: is required"),
    "alias": (Table, {"type": "object"}, {"a": [1]}, {"a": [1]}, {"a": 1}, "Expected `array`"),
    "generic alias": (ListOf[int], {"items": INTEGER}, [1], [1], ["x"], "value.0: Expected `int`"),
    "bound variable": (Bound, POINT, {"x": 1}, Point(1), {}, "value.x: is required"),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_type_has_a_schema_takes_what_fits_and_tells_what_does_not(name: str) -> None:
    kind, part, fits, decoded, misfit, events = KINDS[name]
    created = of(kind)
    schema = schema_of(created)

    assert {key: schema.get(key) for key in part} == part
    result = created.bind({"value": fits})["value"]
    assert result == decoded
    assert type(result) is type(decoded)
    with pytest.raises(InvalidToolInput) as caught:
        created.bind({"value": misfit})
    assert events in str(caught.value)
    assert caught.value.paths[0].startswith("value")


@pytest.mark.parametrize("kind", [Any, object, T])
def test_a_type_that_says_nothing_takes_everything(kind: Any) -> None:
    created = of(kind)

    assert schema_of(created) == {}
    some: list[JsonValue] = [1, "a", None, [{"b": 1}]]
    for value in some:
        assert created.bind({"value": value}) == {"value": value}


@pytest.mark.parametrize(
    ("kind", "default", "data"),
    [
        (int, 5, 5),
        (int | None, None, None),
        (Colour, Colour.RED, "red"),
        (datetime.timedelta, datetime.timedelta(minutes=5), "PT300S"),
        (datetime.date, datetime.date(2026, 1, 2), "2026-01-02"),
        (decimal.Decimal, decimal.Decimal("1.5"), "1.5"),
        (Point, Point(1), {"x": 1, "y": 0}),
        (Line, Line(Point(1)), {"start": {"x": 1, "y": 0}, "tags": []}),
        (tuple[int, ...], (), []),
        (pathlib.Path, pathlib.Path("/a"), None),
    ],
)
def test_a_default_is_written_as_json_where_it_can_be(
    kind: Any, default: Any, data: JsonValue
) -> None:
    created = of(kind, default)
    properties: Any = created.spec.input_schema["properties"]

    assert properties["value"].get("default") == data
    assert created.spec.input_schema["required"] == []
    assert created.bind({}) == {}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (complex, "use a dataclass"),
        (Callable[[int], int], "use a dataclass"),
        (deque[int], "use a dataclass"),
        (OrderedDict[str, int], "use a dataclass"),
        (Mixed, "all str or all int"),
        (Literal[Colour.RED], "Literal may only contain"),
        (Annotated[int, Predicate()], "not understood"),
        (list[Annotated[int, Ge(1), Predicate()]], "not understood"),
        (list[int] | set[int], "more than one array-like"),
        (str | datetime.date, "more than one str-like"),
        (pathlib.Path | int, "custom type"),
        (Annotated[int | str, Ge(1)], "Can only set `ge` on a numeric type"),
        (Annotated[str, Length(-1)], "min_length"),
        (Either, "constraints"),
    ],
)
def test_a_type_that_cannot_be_told_from_json_is_refused_with_a_reason(
    kind: Any, reason: str
) -> None:
    with pytest.raises(InvalidToolFunction) as caught:
        of(kind)

    assert caught.value.parameter == "value"
    assert reason in caught.value.reason


def test_classes_of_one_name_stay_apart() -> None:
    def one() -> type:
        class Inner(msgspec.Struct):
            x: int

        return Inner

    def other() -> type:
        class Inner(msgspec.Struct):
            y: int

        return Inner

    def take(a: Any, b: Any) -> None: ...

    take.__annotations__ = {"a": one(), "b": other(), "return": None}
    definitions: Any = tool(take).spec.input_schema["$defs"]
    assert sorted(
        name for definition in definitions.values() for name in definition["required"]
    ) == ["x", "y"]
