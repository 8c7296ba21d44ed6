"""A context shows a tool its call and its surroundings."""

from __future__ import annotations

import pytest

from agentkit_core import ApprovalId, JsonValue, ToolCallId
from agentkit_tools_core import MissingDependency, ToolContext, ToolInvocation, tool
from agentkit_tools_core.testing import call_tool

REQUEST = ToolInvocation(ToolCallId("1"), "t")


class Database:
    name = "people"


def test_dependencies_are_found_by_the_type_they_were_given_under() -> None:
    @tool
    def where(context: ToolContext) -> str:
        return context.get(Database).name

    result = call_tool(where, dependencies={Database: Database()}).result
    assert "people" in repr(result.output)


def test_a_missing_dependency_says_which_and_for_whom() -> None:
    class Special(Database):
        pass

    context = ToolContext(REQUEST, dependencies={Special: Special()})
    with pytest.raises(MissingDependency, match="Database") as caught:
        context.get(Database)
    assert caught.value.tool == "t"


def test_progress_and_cancelling_reach_whoever_runs_the_call() -> None:
    events: list[tuple[str, JsonValue]] = []
    flag: list[bool] = []
    context = ToolContext(
        REQUEST,
        progress=lambda message, data: events.append((message, data)),
        cancelled=lambda: bool(flag),
        approved=[ApprovalId("a")],
    )
    context.progress("half", {"done": 1})
    context.progress("all")

    assert events == [("half", {"done": 1}), ("all", None)]
    before = context.cancelled
    flag.append(True)
    assert (before, context.cancelled) == (False, True)
    assert context.approved == {"a"}


def test_a_context_with_nothing_around_it_works() -> None:
    context = ToolContext(REQUEST)
    context.progress("to nobody")

    assert not context.cancelled
    assert context.approved == frozenset()
