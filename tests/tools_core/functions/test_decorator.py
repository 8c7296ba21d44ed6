"""What `@tool` makes of a function."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import pytest

from agentkit_core import ToolAnnotations, ToolCallId
from agentkit_tools_core import InvalidToolFunction, InvalidToolName, ToolInvocation, tool
from agentkit_tools_core.permissions import PermissionRequest
from agentkit_tools_core.testing import call_tool, check_tool


@tool(read_only=True)
def add(a: int, b: int = 1) -> int:
    """Add.

    Args:
        a: The first.
        c: Nobody knows.
    """
    return a + b


def test_t30_a_function_becomes_a_spec() -> None:
    spec = add.spec

    assert spec.name == "add"
    assert spec.description == "Add."
    assert spec.annotations == ToolAnnotations(read_only=True)
    assert spec.input_schema == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "The first."},
            "b": {"type": "integer", "default": 1},
        },
        "required": ["a"],
        "additionalProperties": False,
    }


def test_t30_it_is_called_with_its_defaults() -> None:
    assert check_tool(add, {"a": 2}).result.output.value == 3  # type: ignore[union-attr]


def test_t30_arguments_that_do_not_fit_are_an_error_result_that_names_them() -> None:
    result = call_tool(add, {"a": "x"}).result

    assert result.is_error
    assert "a: " in result.text


def test_t30_a_parameter_that_does_not_exist_is_refused() -> None:
    result = call_tool(add, {"a": 2, "c": 3}).result

    assert result.is_error
    assert "c: is not a parameter" in result.text


def test_an_object_that_is_called_is_described_by_its_call_else_by_its_class() -> None:
    class Silent:
        """The class."""

        def __call__(self) -> None: ...

    class Described(Silent):
        def __call__(self) -> None:
            """The call."""

    assert tool(Silent()).spec.description == "The class."
    assert tool(Described(), name="named").spec.description == "The call."
    assert tool(Silent()).spec.name == "Silent"


def test_a_partial_is_named_and_described_by_its_function() -> None:
    fixed = tool(functools.partial(add.__wrapped__, b=5))

    assert (fixed.spec.name, fixed.spec.description) == ("add", "Add.")
    assert check_tool(fixed, {"a": 2}).result.output.value == 7  # type: ignore[union-attr]


def test_a_tool_is_still_the_function() -> None:
    assert add(2, b=5) == 7
    assert add.__doc__ == add.__wrapped__.__doc__


def test_every_word_of_the_decorator_reaches_the_spec() -> None:
    @tool(
        name="remove",
        description="Remove it.",
        label="Removal",
        destructive=True,
        idempotent=True,
        needs_approval=True,
        exclusive=True,
        timeout_s=1.5,
        detach_after_s=0,
        strict=True,
        inline=True,
    )
    def function() -> None:
        """Not this."""

    spec = function.spec
    assert (spec.name, spec.description, spec.label) == ("remove", "Remove it.", "Removal")
    assert spec.strict is True
    assert function.inline
    assert spec.annotations == ToolAnnotations(
        destructive=True,
        idempotent=True,
        needs_approval=True,
        exclusive=True,
        timeout_s=1.5,
        detach_after_s=0,
    )


@pytest.mark.parametrize("times", [{"timeout_s": 0}, {"timeout_s": -1}, {"detach_after_s": -0.5}])
@pytest.mark.parametrize("value", [None, float("nan")])
def test_a_time_that_makes_no_sense_is_refused(
    times: dict[str, float], value: float | None
) -> None:
    (name,) = times
    times = times if value is None else {name: value}
    with pytest.raises(InvalidToolFunction, match=name):
        tool(lambda: None, name="t", **times)  # type: ignore[call-overload]


def test_the_text_of_an_annotation_comes_before_that_of_the_docstring() -> None:
    @tool
    def act(
        first: Annotated[int, "from a string"],
        two: Annotated[int, msgspec.Meta(ge=1, description="from Meta")],
        three: int,
    ) -> None:
        """Act.

        Args:
            first: x
            two: x
            three: from the docstring
        """

    properties: Any = act.spec.input_schema["properties"]
    assert properties["first"]["description"] == "from a string"
    assert properties["two"] == {"type": "integer", "minimum": 1, "description": "from Meta"}
    assert properties["three"]["description"] == "from the docstring"


@pytest.mark.parametrize("name", ["a.b", "", "x" * 65, "ä", "a b", "a\n"])
def test_t03_a_name_that_some_provider_refuses_is_refused_here(name: str) -> None:
    with pytest.raises(InvalidToolName):
        tool(lambda: None, name=name)


def test_a_function_may_say_what_it_needs_permission_for() -> None:
    def ask(request: ToolInvocation) -> Sequence[PermissionRequest]:
        return [PermissionRequest("fs.read", f"read {request.input['path']}")]

    @tool(permissions=ask)
    def read(path: str) -> str:
        return path

    requests = read.permissions(ToolInvocation(ToolCallId("1"), "read", {"path": "/x"}))
    assert requests == (PermissionRequest("fs.read", "read /x"),)
    assert add.permissions(ToolInvocation(ToolCallId("1"), "add")) == ()
