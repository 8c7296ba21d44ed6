"""The checks that others run on their tools: they pass what is right and name what is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from agentkit_core import JsonValue, ToolSpec
from agentkit_tools_core import ToolContext, ToolInvocation, approval_request, tool
from agentkit_tools_core.permissions import Deny, PermissionRequest
from agentkit_tools_core.testing import ScriptedTool, call_tool, check_tool


class Mutable:
    """A tool that keeps the contract, until a test changes one thing."""

    is_async = inline = False

    def __init__(self) -> None:
        self.spec = ToolSpec("ok", "Do it.")
        self.count = 0

    def permissions(self, request: ToolInvocation, /) -> list[PermissionRequest]:
        return [PermissionRequest("x", "x")]

    def bind(self, arguments: Mapping[str, JsonValue], /) -> Any:
        return arguments

    def invoke(self, arguments: Any, context: ToolContext, /) -> Any:
        return "done"


def test_a_tool_that_keeps_the_contract_passes() -> None:
    assert check_tool(Mutable(), {"a": 1}).result.text == "done"
    assert check_tool(ScriptedTool("t"), {}).result.text == "ok"


def test_async_tools_are_checked_too() -> None:
    @tool
    async def slow() -> str:
        """Take a while."""
        return "done"

    assert check_tool(slow).result.text == "done"


def rename(broken: Mutable) -> None:
    broken.spec = ToolSpec("a.b", "Do it.")


def silence(broken: Mutable) -> None:
    broken.spec = ToolSpec("ok")


def shapeless(broken: Mutable) -> None:
    broken.spec = ToolSpec("ok", "Do it.", {"type": "array"})


def grabby(broken: Mutable) -> None:
    broken.bind = lambda arguments, /: arguments.clear()  # type: ignore[method-assign, attr-defined]


def late(broken: Mutable) -> None:
    broken.invoke = lambda arguments, context, /: arguments.clear()  # type: ignore[method-assign]


def fickle(broken: Mutable) -> None:
    def ask(request: ToolInvocation, /) -> list[PermissionRequest]:
        broken.count += 1
        return [PermissionRequest("x", str(broken.count))]

    broken.permissions = ask  # type: ignore[method-assign]


def failing(broken: Mutable) -> None:
    broken.invoke = lambda arguments, context, /: 1 // 0  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("spoil", "law"),
    [
        (rename, "name"),
        (silence, "description"),
        (shapeless, "object"),
        (grabby, "bind changes"),
        (late, "invoke changes"),
        (fickle, "permission"),
        (failing, "ZeroDivisionError"),
    ],
)
def test_a_broken_law_is_named(spoil: Callable[[Mutable], None], law: str) -> None:
    broken = Mutable()
    spoil(broken)

    with pytest.raises(AssertionError, match=law):
        check_tool(broken, {"a": 1})


def test_a_scripted_tool_answers_in_turn_and_then_stays() -> None:
    scripted = ScriptedTool("t", ["a", "b"])

    answers = [call_tool(scripted, {"n": n}).result.text for n in range(3)]
    assert answers == ["a", "b", "b"]
    assert scripted.calls == [{"n": 0}, {"n": 1}, {"n": 2}]


@tool
def visit(context: ToolContext, times: int = 1) -> str:
    """Ask for a name, and greet."""
    for _ in range(times):
        context.call_blocking("count")
    name = context.ask("Who?")
    context.require(PermissionRequest("door", "open the door"))
    return f"Hello {name}"


def test_what_a_tool_asks_is_answered_and_its_children_run_once() -> None:
    count = ScriptedTool("count")
    answers: dict[str, JsonValue | Deny] = {"Who?": "Ada", "open the door": True}

    outcome = call_tool(visit, tools=[count], answers=answers)
    assert outcome.result.text == "Hello Ada"
    assert len(count.calls) == 1


def test_a_tool_hears_of_denials() -> None:
    result = call_tool(visit, answers={"Who?": 1, "open the door": Deny("shut")}).result
    assert (result.text, result.is_error) == ("shut", True)

    @tool
    def deaf(context: ToolContext) -> str:
        """Ask, and hear nothing but a yes."""
        try:
            return str(context.ask("Who?"))
        except BaseException as suspended:
            context.suspend(suspended.requests)  # type: ignore[attr-defined]

    result = call_tool(deaf, answers={"Who?": Deny("nobody")}).result
    assert (result.text, result.is_error) == ("nobody", True)


def test_a_question_without_an_answer_is_named() -> None:
    with pytest.raises(AssertionError, match=r"there is no answer to 'Who\?'"):
        call_tool(visit)
    with pytest.raises(AssertionError, match="suspends"):
        check_tool(visit)


def test_a_tool_that_never_looks_at_its_answers_is_found_out() -> None:
    @tool
    def forgetful(context: ToolContext) -> None:
        requests = PermissionRequest("question", "Who?")
        request = approval_request(requests, context.request.call)
        context.suspend([request], takes_denials=True)

    with pytest.raises(AssertionError, match="is asked again"):
        call_tool(forgetful, answers={"Who?": 1})
    with pytest.raises(AssertionError, match="is asked again"):
        call_tool(forgetful, answers={"Who?": Deny("no")})
