"""Typed functions of every kind become tools, or say at once why they cannot."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional, TypedDict

import msgspec
import pytest

from agentkit_tools_core import (
    FunctionTool,
    InvalidToolFunction,
    InvalidToolName,
    ToolContext,
    tool,
)
from agentkit_tools_core.testing import call_tool

if TYPE_CHECKING:
    from somewhere import OnlyForCheckers  # type: ignore[import-not-found]


class Point(msgspec.Struct):
    x: int


@dataclass
class Line:
    start: Point
    label: str = "none"


class Options(TypedDict):
    deep: bool


MOVE = {
    "type": "object",
    "properties": {
        "p": {"$ref": "#/$defs/Point"},
        "mode": {"enum": ["a", "b"], "default": "a"},
        "to": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["p"],
    "additionalProperties": False,
    "$defs": {
        "Point": {
            "title": "Point",
            "type": "object",
            "properties": {"x": {"type": "integer"}},
            "required": ["x"],
        }
    },
}
SAID = "Point(x=1) a None"


def move(ctx: ToolContext, p: Point, mode: Literal["a", "b"] = "a", to: Path | None = None) -> str:
    assert isinstance(ctx, ToolContext)
    return f"{p} {mode} {to}"


async def move_slowly(
    ctx: ToolContext, p: Point, mode: Literal["a", "b"] = "a", to: Path | None = None
) -> str:
    return move(ctx, p, mode, to)


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


class Mover:
    def move(
        self, ctx: ToolContext, p: Point, mode: Literal["a", "b"] = "a", to: Path | None = None
    ) -> str:
        return move(ctx, p, mode, to)

    def __call__(
        self, ctx: ToolContext, p: Point, mode: Literal["a", "b"] = "a", to: Path | None = None
    ) -> str:
        return move(ctx, p, mode, to)

    @tool
    def decorated(
        self, ctx: ToolContext, p: Point, mode: Literal["a", "b"] = "a", to: Path | None = None
    ) -> str:
        return move(ctx, p, mode, to)

    @staticmethod
    def static(
        ctx: ToolContext, p: Point, mode: Literal["a", "b"] = "a", to: Path | None = None
    ) -> str:
        return move(ctx, p, mode, to)


FORMS: dict[str, FunctionTool[..., Any]] = {
    "function": tool(move),
    "async function": tool(move_slowly),
    "wrapped": tool(logged(move)),
    "wrapped async": tool(logged(move_slowly)),
    "bound method": tool(Mover().move),
    "decorated method": Mover().decorated,
    "static method": tool(Mover.static),
    "callable object": tool(Mover(), name="mover"),
    "partial": tool(functools.partial(move)),
    "partial of a wrapper of a method": tool(functools.partial(logged(Mover().move))),
}


@pytest.mark.parametrize("form", FORMS)
def test_s01_every_form_of_function_has_the_schema_of_its_types(form: str) -> None:
    assert FORMS[form].spec.input_schema == MOVE


@pytest.mark.parametrize("form", [form for form in FORMS if form != "wrapped async"])
def test_s01_every_form_of_function_is_called_with_real_values(form: str) -> None:
    result = call_tool(FORMS[form], {"p": {"x": 1}}).result

    assert result.output == call_tool(FORMS["function"], {"p": {"x": 1}}).result.output
    assert SAID in repr(result.output)


def test_s01_a_path_arrives_as_a_path() -> None:
    @tool
    def kind(to: Path | None = None) -> str:
        return type(to).__mro__[-2].__name__ + str(to)

    assert "/tmp/x" in repr(call_tool(kind, {"to": "/tmp/x"}).result.output)
    assert "PurePath" in repr(call_tool(kind, {"to": "/tmp/x"}).result.output)


def test_s01_a_class_defined_inside_a_function_is_found() -> None:
    @dataclass
    class Inner:
        n: int

    @tool
    def take(inner: Inner, more: list[Inner] | None = None) -> int:
        return inner.n

    assert take.spec.input_schema["properties"]["inner"] == {"$ref": "#/$defs/Inner"}  # type: ignore[index, call-overload]
    assert "7" in repr(call_tool(take, {"inner": {"n": 7}}).result.output)


def test_s01_a_method_of_a_class_inside_a_function_finds_its_names() -> None:
    class Outer:
        class Inner(msgspec.Struct):
            n: int

        @tool
        def take(self, inner: Inner) -> int:
            return inner.n

    assert "7" in repr(call_tool(Outer().take, {"inner": {"n": 7}}).result.output)


def test_s01_a_function_that_outlived_its_maker_still_knows_what_it_uses() -> None:
    def make() -> Callable[..., Any]:
        class Inner(msgspec.Struct):
            n: int

        def take(inner: Inner) -> bool:
            return isinstance(inner, Inner)

        return take

    assert "True" in repr(call_tool(tool(make()), {"inner": {"n": 7}}).result.output)


def test_s01_a_name_that_only_type_checkers_see_is_an_error_that_says_where() -> None:
    with pytest.raises(InvalidToolFunction) as caught:

        @tool
        def lost(fine: int, odd: list[OnlyForCheckers]) -> None: ...

    assert (caught.value.tool, caught.value.parameter) == ("lost", "odd")
    assert "OnlyForCheckers" in str(caught.value)


def test_s01_a_context_is_known_even_if_only_type_checkers_import_it() -> None:
    names: dict[str, Any] = {"__name__": "elsewhere"}
    exec("def act(ctx: 'ToolContext', n: int) -> int: return n", names)

    assert list(tool(names["act"]).spec.input_schema["properties"]) == ["n"]  # type: ignore[arg-type]


def test_a_method_is_a_tool_of_each_object_and_is_read_once() -> None:
    class Counter:
        def __init__(self, start: int) -> None:
            self.count = start

        @tool
        def add(self, n: int) -> int:
            """Add."""
            self.count += n
            return self.count

    value, other = Counter(1), Counter(10)

    assert "3" in repr(call_tool(value.add, {"n": 2}).result.output)
    assert "12" in repr(call_tool(other.add, {"n": 2}).result.output)
    assert value.add.spec is other.add.spec
    assert value.add(5) == 8


def test_arguments_that_a_partial_fixes_by_place_are_not_shown() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    fixed = tool(functools.partial(add, 1), name="add_one")

    assert list(fixed.spec.input_schema["properties"]) == ["b"]  # type: ignore[arg-type]
    assert "3" in repr(call_tool(fixed, {"b": 2}).result.output)


@pytest.mark.parametrize(
    "annotation", ["ToolContext", "Optional[ToolContext]", "Annotated[ToolContext, 1]"]
)
def test_a_context_is_injected_however_it_is_annotated(annotation: str) -> None:
    names = {"ToolContext": ToolContext, "Optional": Optional, "Annotated": Annotated}
    exec(f"def who(c: {annotation} = None) -> str: return c.request.name", names)
    who = tool(names["who"])  # type: ignore[call-overload]

    assert who.spec.input_schema["properties"] == {}
    assert "who" in repr(call_tool(who).result.output)


class Plain: ...


def numbers(*values: int) -> None: ...
def anything(**values: int) -> None: ...
def by_place(value: int, /) -> None: ...
def generated() -> Iterator[int]:
    yield 1


async def streamed() -> AsyncIterator[int]:
    yield 1


def raw(value: complex) -> None: ...
def made(value: Plain) -> None: ...
def no_type(value: "1 +") -> None: ...  # type: ignore[valid-type]  # noqa: F722


@pytest.mark.parametrize(
    ("function", "parameter", "reason"),
    [
        (numbers, "values", "list"),
        (anything, "values", "dict"),
        (by_place, "value", "/"),
        (generated, None, "generator"),
        (streamed, None, "generator"),
        (raw, "value", "complex"),
        (made, "value", "Plain'> cannot be decoded from JSON: use a dataclass"),
        (no_type, "value", "not a valid type"),
        (Line, None, "class"),
    ],
)
def test_what_cannot_be_put_to_a_model_is_refused_with_a_reason(
    function: Callable[..., Any], parameter: str | None, reason: str
) -> None:
    with pytest.raises(InvalidToolFunction) as caught:
        tool(function)

    assert caught.value.parameter == parameter
    assert caught.value.tool in str(caught.value)
    assert reason in str(caught.value)


def test_a_function_without_a_name_needs_one() -> None:
    with pytest.raises(InvalidToolName, match="lambda"):
        tool(lambda: 1)

    assert tool(lambda: 1, name="one").spec.name == "one"
