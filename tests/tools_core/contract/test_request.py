"""A call, and its arguments as types."""

from typing import assert_type

import pytest

from agentkit_core import JsonValue, ToolCall, ToolCallId, ToolFailure
from agentkit_tools_core import Executor, InvalidToolInput, Refused, ToolInvocation, tool
from agentkit_tools_core.permissions import permission_to_read, permission_to_run


def invocation(**arguments: JsonValue) -> ToolInvocation:
    return ToolInvocation(ToolCallId("c1"), "t", arguments)


def test_an_argument_is_returned_as_the_type_that_was_asked_for() -> None:
    call = invocation(path="/a", depth=2, words=["x", "y"], nothing=None)

    assert_type(call.argument("path", str), str)
    assert call.argument("path", str) == "/a"
    assert call.argument("depth", int) == 2
    assert call.argument("words", list[str]) == ["x", "y"]
    assert call.argument("missing", str, default=".") == "."
    assert call.argument("missing", str, default=None) is None
    assert call.argument("depth", int, default=9) == 2


@pytest.mark.parametrize(
    ("value", "kind"), [(1, str), ("1", int), (None, str), (["a", 1], list[str]), ("ab", list[str])]
)
def test_nothing_is_converted_to_fit(value: JsonValue, kind: type) -> None:
    with pytest.raises(InvalidToolInput, match=r"^x: Expected") as caught:
        invocation(x=value).argument("x", kind, default=None)

    assert caught.value.paths == ("x",)


def test_an_argument_that_is_missing_is_named() -> None:
    with pytest.raises(InvalidToolInput, match=r"^path: is required$") as caught:
        invocation().argument("path", str)

    assert caught.value.paths == ("path",)


def test_permissions_that_cannot_be_read_refuse_the_call_and_tell_the_model_why() -> None:
    @tool(permissions=lambda call: [permission_to_read(call.argument("path", str))])
    def read(path: str | int) -> str:
        return "text"

    verdict = Executor([read]).preflight(ToolInvocation(ToolCallId("c1"), "read", {"path": 1}))

    assert isinstance(verdict, Refused)
    assert verdict.result.failure is ToolFailure.INVALID_INPUT
    assert "path: Expected `str`, got `int`" in verdict.result.text


def test_a_list_of_texts_is_read_for_a_command() -> None:
    request = permission_to_run(invocation(argv=["ls", "-l"]).argument("argv", list[str]))

    assert request.metadata == {"shell.argv": ["ls", "-l"]}


def test_a_call_is_a_part_with_the_arguments_that_the_tool_would_run_with() -> None:
    call = ToolInvocation(ToolCallId("c1"), "t", {"a": 1}, metadata={"x.y": 2})

    assert call.call == ToolCall(ToolCallId("c1"), "t", {"a": 1}, metadata={"x.y": 2})
