"""The checks that others run on their tools: they pass what is right and name what is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from agentkit_core import JsonValue, ToolSpec
from agentkit_tools_core import PermissionRequest, ToolContext, ToolRequest, tool
from agentkit_tools_core.testing import ScriptedTool, call_tool, check_tool


class Mutable:
    """A tool that keeps the contract, until a test changes one thing."""

    is_async = inline = False

    def __init__(self) -> None:
        self.spec = ToolSpec("ok", "Do it.")
        self.count = 0

    def permissions(self, request: ToolRequest, /) -> list[PermissionRequest]:
        return [PermissionRequest("x", "x")]

    def bind(self, given: Mapping[str, JsonValue], /) -> Any:
        return given

    def invoke(self, arguments: Any, context: ToolContext, /) -> Any:
        return "done"


def test_a_tool_that_keeps_the_contract_passes() -> None:
    assert check_tool(Mutable(), {"a": 1}).result.output.text == "done"  # type: ignore[union-attr]
    assert check_tool(ScriptedTool("t"), {}).result.output.text == "ok"  # type: ignore[union-attr]


def test_async_tools_are_checked_too() -> None:
    @tool
    async def slow() -> str:
        """Take a while."""
        return "done"

    assert check_tool(slow).result.output.text == "done"  # type: ignore[union-attr]


def rename(broken: Mutable) -> None:
    broken.spec = ToolSpec("a.b", "Do it.")


def silence(broken: Mutable) -> None:
    broken.spec = ToolSpec("ok")


def shapeless(broken: Mutable) -> None:
    broken.spec = ToolSpec("ok", "Do it.", {"type": "array"})


def grabby(broken: Mutable) -> None:
    broken.bind = lambda given, /: given.clear()  # type: ignore[method-assign, attr-defined]


def late(broken: Mutable) -> None:
    broken.invoke = lambda given, context, /: given.clear()  # type: ignore[method-assign]


def fickle(broken: Mutable) -> None:
    def ask(request: ToolRequest, /) -> list[PermissionRequest]:
        broken.count += 1
        return [PermissionRequest("x", str(broken.count))]

    broken.permissions = ask  # type: ignore[method-assign]


def failing(broken: Mutable) -> None:
    broken.invoke = lambda given, context, /: 1 // 0  # type: ignore[method-assign]


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

    answers = [call_tool(scripted, {"n": n}).result.output.text for n in range(3)]  # type: ignore[union-attr]
    assert answers == ["a", "b", "b"]
    assert scripted.calls == [{"n": 0}, {"n": 1}, {"n": 2}]
