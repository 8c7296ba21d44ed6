"""Whatever Python can call, and whatever an annotation can say, is meant as it is or refused."""

from __future__ import annotations

import dataclasses
import functools
import json
import sys
import types
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal, TypedDict, Union

import annotated_types
import attrs
import msgspec
import pydantic
import pydantic.dataclasses
import pytest

from agentkit_core import JsonValue, ToolFailure
from agentkit_tools_core import (
    FunctionTool,
    InvalidToolFunction,
    ToolContext,
    ToolRegistry,
    tool,
)
from agentkit_tools_core.testing import call_tool

Anything = Callable[..., Any]


def of(kind: Any, *default: Any, lenient: bool = True) -> FunctionTool[..., Any]:
    def take(value: Any) -> str:
        return repr(value)

    take.__annotations__ = {"value": kind}
    take.__defaults__ = default
    return tool(strict_arguments=not lenient)(take)


def answer(made: Any, **arguments: JsonValue) -> str:
    return call_tool(made, arguments).result.text


def refused(made: Any, **arguments: JsonValue) -> bool:
    return call_tool(made, arguments).result.failure is ToolFailure.INVALID_INPUT


def properties(made: Any) -> dict[str, Any]:
    found: Any = made.spec.input_schema["properties"]
    return dict(found)


# VL04: what the host has bound


def query(sql: str, api_key: str, user_id: int = 0) -> str:
    """Ask the database."""
    return f"user {user_id} key {api_key}: {sql}"


class Database:
    def query(self, sql: str, api_key: str, user_id: int = 0) -> str:
        """Ask the database."""
        return query(sql, api_key, user_id)


def wrapped(function: Anything) -> Anything:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def narrowing(function: Anything) -> Anything:
    @functools.wraps(function)
    def wrapper(sql: str) -> Any:
        return function(sql, api_key="SECRET", user_id=42)

    return wrapper


BOUND: dict[str, Anything] = {
    "keywords": partial(query, api_key="SECRET", user_id=42),
    "partial of partial": partial(partial(query, api_key="SECRET"), user_id=42),
    "a method": partial(Database().query, api_key="SECRET", user_id=42),
    "a wrapper around it": wrapped(partial(query, api_key="SECRET", user_id=42)),
    "around a wrapper": partial(wrapped(query), api_key="SECRET", user_id=42),
    "a wrapper that binds": narrowing(query),
    "a cache": functools.lru_cache(partial(query, api_key="SECRET", user_id=42)),
    "a tool": partial(tool(query), api_key="SECRET", user_id=42),
}


@pytest.mark.parametrize("name", BOUND)
def test_vl04_what_is_bound_is_not_in_the_schema_and_cannot_be_overridden(name: str) -> None:
    made = tool(name="query")(BOUND[name])

    assert list(properties(made)) == ["sql"]
    assert "SECRET" not in json.dumps(made.spec.input_schema)
    assert answer(made, sql="select 1") == "user 42 key SECRET: select 1"
    for other in ({"user_id": 1}, {"api_key": "mine"}):
        assert refused(made, sql="select 1", **other)


# VL06: field objects as defaults


FIELDS: dict[str, Any] = {
    "pydantic": pydantic.Field(default=7, description="How many"),
    "dataclasses": dataclasses.field(default=7),
    "msgspec": msgspec.field(default=7),
    "attrs": attrs.field(default=7),
}
FACTORIES: dict[str, Any] = {
    "pydantic": pydantic.Field(default_factory=lambda: 7),
    "dataclasses": dataclasses.field(default_factory=lambda: 7),
    "msgspec": msgspec.field(default_factory=lambda: 7),
    "attrs": attrs.field(factory=lambda: 7),
}
REQUIRED: dict[str, Any] = {
    "pydantic": pydantic.Field(),
    "pydantic ...": pydantic.Field(...),
    "dataclasses": dataclasses.field(),
    "msgspec": msgspec.field(),
    "attrs": attrs.field(),
}
REFUSED: dict[str, Any] = {
    "alias": pydantic.Field(default=7, alias="other"),
    "depends on others": pydantic.Field(default_factory=lambda data: 7),
    "excluded": pydantic.Field(default=7, exclude=True),
    "private": pydantic.PrivateAttr(default=7),
    "no argument": dataclasses.field(default=7, init=False),
    "named": msgspec.field(default=7, name="other"),
    "checked": attrs.field(default=7, validator=attrs.validators.instance_of(int)),
    "converted": attrs.field(default=7, converter=int),
    "of the object": attrs.Factory(lambda self: 7, takes_self=True),
}


@pytest.mark.parametrize("name", FIELDS)
def test_vl06_the_default_of_a_field_object_is_used(name: str) -> None:
    made = of(int, FIELDS[name])
    assert made.spec.input_schema["required"] == []
    assert properties(made)["value"]["default"] == 7
    assert (answer(made), answer(made, value=3)) == ("7", "3")
    assert made() == "7"
    assert made(3) == made(value=3) == "3"
    assert made.normalize({}) == {"value": 7}


@pytest.mark.parametrize("name", FACTORIES)
def test_vl06_the_factory_of_a_field_object_is_called_for_each_call(name: str) -> None:
    made = of(int, FACTORIES[name])
    assert made.spec.input_schema["required"] == []
    assert "default" not in properties(made)["value"]
    assert (answer(made), answer(made, value=3), made()) == ("7", "3", "7")
    assert made.normalize({}) == {"value": 7}


@pytest.mark.parametrize("name", REQUIRED)
def test_vl06_a_field_object_without_a_default_has_none(name: str) -> None:
    made = of(int, REQUIRED[name])
    assert made.spec.input_schema["required"] == ["value"]
    assert refused(made)
    assert answer(made, value=3) == "3"


@pytest.mark.parametrize("name", REFUSED)
def test_vl06_what_cannot_be_meant_for_a_parameter_is_refused(name: str) -> None:
    with pytest.raises(InvalidToolFunction, match="value"):
        of(int, REFUSED[name])


def test_vl06_what_a_field_says_beside_its_default_counts() -> None:
    made = of(int, pydantic.Field(default=7, ge=5, description="How many"))
    assert properties(made)["value"] == {
        "type": "integer", "minimum": 5, "default": 7, "description": "How many",
    }  # fmt: skip
    assert refused(made, value=3)
    in_annotation = of(Annotated[int, pydantic.Field(default=7, ge=5)])
    assert answer(in_annotation) == "7"
    assert refused(in_annotation, value=3)


# VL07: constraints in annotations


class Inner(TypedDict):
    name: Annotated[str, pydantic.Field(pattern="^[a-z]+$")]


@dataclasses.dataclass
class Holder:
    name: Annotated[str, pydantic.StringConstraints(pattern="^[a-z]+$")]


@pydantic.dataclasses.dataclass
class Pydantic:
    name: str = pydantic.Field(pattern="^[a-z]+$")


@dataclasses.dataclass
class Plain:
    name: Annotated[str, annotated_types.MinLen(2)]


PATTERN = Annotated[str, pydantic.Field(pattern="^[a-z]+$")]
CONSTRAINED: dict[str, tuple[Any, str, JsonValue, JsonValue]] = {
    "field": (PATTERN, "pattern", "a", "A"),
    "constraints": (Annotated[str, pydantic.StringConstraints(pattern="^[a-z]+$")], "pattern",
                    "a", "A"),
    "meta": (Annotated[str, msgspec.Meta(pattern="^[a-z]+$")], "pattern", "a", "A"),
    "in a list": (list[PATTERN], "pattern", ["a"], ["A"]),
    "in a mapping": (dict[str, list[PATTERN]], "pattern", {"k": ["a"]}, {"k": ["A"]}),
    "in a union": (PATTERN | None, "pattern", "a", "A"),
    "in a TypedDict": (Inner, "pattern", {"name": "a"}, {"name": "A"}),
    "in a dataclass": (Holder, "pattern", {"name": "a"}, {"name": "A"}),
    "in a pydantic dataclass": (Pydantic, "pattern", {"name": "a"}, {"name": "A"}),
    "below lists": (list[Holder], "pattern", [{"name": "a"}], [{"name": "A"}]),
    "in a plain dataclass": (Plain, "minLength", {"name": "ab"}, {"name": "a"}),
    "deep": (dict[str, list[Plain]], "minLength", {"k": [{"name": "ab"}]}, {"k": [{"name": "a"}]}),
    "conint": (pydantic.conint(gt=3), "exclusiveMinimum", 4, 3),
    "length": (Annotated[list[int], annotated_types.Len(1, 2)], "maxItems", [1], [1, 2, 3]),
    "interval": (Annotated[int, annotated_types.Interval(ge=1, le=3)], "maximum", 2, 4),
    "multiple": (Annotated[int, annotated_types.MultipleOf(5)], "multipleOf", 10, 7),
    "validator": (Annotated[int, pydantic.AfterValidator(lambda v: 1 // (v - 3) and v)], "integer",
                  4, "x"),
    "email-like": (pydantic.HttpUrl, "uri", "http://a.b/", "nothing"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONSTRAINED)
def test_vl07_a_constraint_holds_and_is_in_the_schema(name: str) -> None:
    kind, word, good, bad = CONSTRAINED[name]
    made = of(kind)
    assert word in json.dumps(made.spec.input_schema)
    assert not call_tool(made, {"value": good}).result.is_error
    assert refused(made, value=bad)


@pytest.mark.parametrize(
    "kind",
    [
        Annotated[str, annotated_types.Predicate(str.islower)],
        list[Annotated[str, annotated_types.Predicate(str.islower)]],
        Annotated[str, object()],
    ],
)
def test_vl07_what_is_not_understood_is_refused_and_the_parameter_is_named(kind: Any) -> None:
    with pytest.raises(InvalidToolFunction, match="'value'"):
        of(kind)


def test_vl07_strict_arguments_are_strict_for_pydantic_too() -> None:
    kind = Annotated[int, pydantic.Field(gt=3, strict=False, json_schema_extra={"x": 1})]
    assert answer(of(kind), value="5") == "5"
    assert refused(of(kind, lenient=False), value="5")


# VL08: two classes of one name


def module(name: str, source: str) -> Any:
    made = types.ModuleType(name)
    sys.modules[name] = made  # dataclasses look for it there
    exec("import dataclasses, pydantic\n" + source, made.__dict__)
    return made


MODEL = """
class Item(pydantic.BaseModel):
  {0}: str
class Box(pydantic.BaseModel):
  items: list[Item]
"""
DATA = """
@dataclasses.dataclass
class Item:
  {0}: str
@dataclasses.dataclass
class Box:
  items: list[Item]
"""


@pytest.mark.parametrize("first", [MODEL, DATA], ids=["model", "dataclass"])
@pytest.mark.parametrize("second", [MODEL, DATA], ids=["model", "dataclass"])
@pytest.mark.parametrize("third", [MODEL, DATA], ids=["model", "dataclass"])
def test_vl08_each_place_leads_to_the_fields_of_its_own_class(
    first: str, second: str, third: str
) -> None:
    def act(a: Any, b: Any, c: Any) -> str:
        return f"{a.items[0].price} {b.items[0].shelf} {c.items[0].weight}"

    act.__annotations__ = {
        "a": module("vl08_billing", first.format("price")).Box,
        "b": module("vl08_stock", second.format("shelf")).Box,
        "c": module("vl08_post", third.format("weight")).Box,
    }
    made = tool(act)
    schema: Any = made.spec.input_schema

    def follow(place: Any) -> Any:
        while "$ref" in place:
            place = schema["$defs"][place["$ref"].removeprefix("#/$defs/")]
        return place

    for name, field in {"a": "price", "b": "shelf", "c": "weight"}.items():
        items = follow(schema["properties"][name])["properties"]["items"]
        assert list(follow(items["items"])["properties"]) == [field]
    assert "foreign:" not in json.dumps(schema)
    boxes: dict[str, JsonValue] = {
        name: {"items": [{field: field}]}
        for name, field in {"a": "price", "b": "shelf", "c": "weight"}.items()
    }
    assert answer(made, **boxes) == "price shelf weight"


def test_vl08_one_class_in_two_places_has_one_definition() -> None:
    shop: Any = module("vl08_shop", MODEL.format("price"))
    kinds: list[Any] = [shop.Box, list[shop.Box]]

    def act(a: Any, b: Any) -> str:
        return ""

    act.__annotations__ = dict(zip("ab", kinds, strict=True))
    definitions: Any = tool(act).spec.input_schema["$defs"]
    assert list(definitions).count("Item") == 1
    assert not [name for name in definitions if name.endswith("_2")]


# VL16: kinds of callables


class Files:
    root = "/"

    def __init__(self) -> None:
        self.root = "/own/"

    @classmethod
    @tool
    def above(cls, path: str) -> str:
        """Read a file."""
        return cls.root + path

    @tool
    @classmethod
    def below(cls, path: str) -> str:
        """Read a file."""
        return cls.root + path

    @staticmethod
    @tool
    def static_above(path: str) -> str:
        """Read a file."""
        return "/" + path

    @tool
    @staticmethod
    def static_below(path: str) -> str:
        """Read a file."""
        return "/" + path

    @tool
    def own(self, path: str) -> str:
        """Read a file."""
        return self.root + path

    @tool
    def strangely_named(this, path: str) -> str:  # noqa: N805
        """Read a file."""
        return this.root + path

    def plain(self, path: str) -> str:
        """Read a file."""
        return self.root + path

    def __call__(self, path: str) -> str:
        """Read a file."""
        return self.root + path


class SubFiles(Files):
    root = "/sub/"


CALLABLES: dict[str, tuple[Any, str]] = {
    "class method": (Files.above, "/a"),
    "class method of an object": (Files().above, "/a"),
    "class method, other order": (Files.below, "/a"),
    "class method of a subclass": (SubFiles.below, "/sub/a"),
    "class method above, of a subclass": (SubFiles.above, "/sub/a"),
    "static method": (Files.static_above, "/a"),
    "static method of an object": (Files().static_above, "/a"),
    "static method, other order": (Files.static_below, "/a"),
    "static method, other order, object": (Files().static_below, "/a"),
    "method": (Files().own, "/own/a"),
    "method of a subclass": (SubFiles().own, "/own/a"),
    "method without self": (Files().strangely_named, "/own/a"),
    "bound method": (tool(Files().plain), "/own/a"),
    "object": (tool(name="files")(Files()), "/own/a"),
    "partial of an object": (tool(name="files")(partial(Files())), "/own/a"),
    "partial of a function of a class": (
        tool(name="files")(partial(Files.plain, Files())),
        "/own/a",
    ),
    "wrapped": (tool(wrapped(Files().plain)), "/own/a"),
    "tool of a tool": (tool(name="other")(Files().own), "/own/a"),
}


@pytest.mark.parametrize("name", CALLABLES)
def test_vl16_it_is_read_as_it_will_be_called(name: str) -> None:
    made, text = CALLABLES[name]
    registered = ToolRegistry([made])
    (only,) = registered

    assert list(properties(only)) == ["path"]
    assert answer(only, path="a") == text
    assert made.spec.name not in ("FunctionTool", "partial")


@pytest.mark.parametrize("made", [Files.own, Files.strangely_named])
def test_vl16_a_method_without_its_object_is_refused_where_the_agent_is_made(made: Any) -> None:
    with pytest.raises(InvalidToolFunction, match="without its object"):
        ToolRegistry([made])
    with pytest.raises(InvalidToolFunction, match="without its object"):
        ToolRegistry().replace_all([made])


def test_vl16_a_bound_class_method_of_newer_python_is_bound_too() -> None:
    newer: Any = types.MethodType(vars(Files)["above"].__func__, Files)
    (only,) = ToolRegistry([newer])
    assert answer(only, path="a") == "/a"


@pytest.mark.parametrize("thing", [property(lambda self: 1), functools.partialmethod(query), 3])
def test_vl16_what_cannot_be_called_is_refused(thing: Any) -> None:
    with pytest.raises(InvalidToolFunction):
        tool(name="thing")(thing)


def test_vl16_a_wrapper_that_takes_no_names_is_refused() -> None:
    @functools.wraps(query)
    def wrapper(*args: Any) -> Any:
        return query(*args)

    with pytest.raises(InvalidToolFunction, match="by name"):
        tool(wrapper)


def test_vl16_an_async_function_is_seen_through_partials() -> None:
    class Reader:
        async def __call__(self, path: str, root: str) -> str:
            return root + path

    made = tool(name="read")(partial(partial(Reader(), root="/")))
    assert made.is_async
    assert answer(made, path="a") == "/a"


# VL32: unions


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    good: bool


@dataclasses.dataclass
class Circle:
    radius: float


@dataclasses.dataclass
class Ring:
    radius: float
    hole: float


@dataclasses.dataclass
class Drawing:
    shapes: list[Circle | Ring]
    title: str | None = None


class Square(TypedDict):
    side: int


PETS = Annotated[Cat | Dog, pydantic.Field(discriminator="kind")]
CAT: JsonValue = {"kind": "cat", "lives": 9}
UNIONS: list[tuple[Any, JsonValue, Any]] = [
    (Cat | Dog, {"kind": "dog", "good": True}, Dog(kind="dog", good=True)),
    (Union[Cat, Dog, None], None, None),  # noqa: UP007
    (PETS, CAT, Cat(kind="cat", lives=9)),
    (list[PETS], [CAT], [Cat(kind="cat", lives=9)]),
    (dict[str, Cat | Dog], {"a": CAT}, {"a": Cat(kind="cat", lives=9)}),
    (Cat | str, "no cat", "no cat"),
    (Cat | Circle, {"radius": 1.5}, Circle(1.5)),
    (Circle | Ring, {"radius": 1.0}, Circle(1.0)),
    (Circle | Ring, {"radius": 1.0, "hole": 0.5}, Ring(1.0, 0.5)),
    (Circle | Ring, '{"radius": 1.0, "hole": 0.5}', Ring(1.0, 0.5)),
    (list[Circle | Ring | None], [{"radius": 1.0}, None], [Circle(1.0), None]),
    (Circle | Ring | int, 5, 5),
    (Circle | Square, {"side": 5}, {"side": 5}),
    (Drawing, {"shapes": [{"radius": 1.0, "hole": 0.5}]}, Drawing([Ring(1.0, 0.5)])),
    (dict[str, Drawing], {"a": {"shapes": []}}, {"a": Drawing([])}),
]


@pytest.mark.parametrize(("kind", "sent", "value"), UNIONS)
def test_vl32_unions_of_classes_are_types_like_any(kind: Any, sent: JsonValue, value: Any) -> None:
    made = of(kind)
    assert made.bind({"value": sent}) == {"value": value}
    assert made.bind(made.normalize({"value": sent})) == {"value": value}
    assert "foreign:" not in json.dumps(made.spec.input_schema)
    misfits: list[JsonValue] = [{"kind": "cow"}, [[]], 1.5]
    for misfit in misfits:
        with pytest.raises(Exception, match="Validation failed"):
            made.bind({"value": misfit})


def test_vl32_a_union_in_the_schema_lists_its_members() -> None:
    text = json.dumps(of(Circle | Ring).spec.input_schema)
    assert "anyOf" in text
    assert "hole" in text


def test_a_context_is_still_no_parameter_of_the_model() -> None:
    @tool
    @wrapped
    def act(context: ToolContext, path: str) -> str:
        return context.request.name + path

    assert list(properties(act)) == ["path"]
    assert answer(act, path="a") == "acta"
