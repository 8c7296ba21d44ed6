"""Two runs are compared by what they mean, and the first difference is said in words."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import (
    FailureKind,
    Item,
    ModelOptions,
    SessionId,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
)
from agentkit_loop import Agent
from agentkit_loop.events import Envelope, ItemsAppended, TurnStarted
from agentkit_loop.testing import Reply, ScriptedModel, call, fail, say
from agentkit_reporting.replay import RunDifference, diff
from agentkit_tools_core import tool
from support.runs import enveloped


@tool
def look(city: str, days: list[int] | None = None) -> str:
    """Look."""
    return f"sunny in {city}"


def run(*script: Any, prompt: str = "go", options: ModelOptions | None = None) -> list[Envelope]:
    told: list[Envelope] = []
    model = ScriptedModel(*script, name="small")
    agent = Agent(model=model, tools=[look], reporters=[told.append], options=options)
    with agent.session_blocking() as session:
        session.submit(prompt)
        session.next()
    return told


def looks(city: str, call_id: str = "c1", **more: Any) -> ToolCall:
    return call("look", {"city": city, **more}, call_id)


BASE = (Reply.of("Let me see.", looks("Rome", days=[1, 2])), say("It is sunny in Rome."))


def difference(left: list[Envelope], right: list[Envelope]) -> RunDifference:
    found, mirrored = diff(left, right), diff(right, left)
    assert found is not None
    assert mirrored is not None
    assert (mirrored.left, mirrored.right) == (found.right, found.left)
    return found


def test_times_ids_usage_and_cuts_do_not_differ() -> None:
    other = (
        Reply.of("Let me see.", looks("Rome", "another", days=[1, 2]), piece=3),
        say("It is sunny in Rome.", input=99),
    )
    later = [
        replace(each, at=each.at + 5, session_id=SessionId("t"), number=None)
        for each in run(*other)
    ]

    assert diff(run(*BASE), later) is None
    assert diff([], []) is None


@pytest.mark.parametrize(
    ("changes", "where", "left", "right"),
    [
        (
            {"script": (Reply.of("Let me see.", looks("Paris", days=[1, 2])), BASE[1])},
            "turn-1, item 2 (assistant), part 2 (call of look), argument city",
            "Rome",
            "Paris",
        ),
        (
            {"script": (Reply.of("Let me see.", looks("Rome", days=[1, 3])), BASE[1])},
            "turn-1, item 2 (assistant), part 2 (call of look), argument days[1]",
            2,
            3,
        ),
        (
            {"script": (BASE[0], say("It is rainy in Rome."))},
            "turn-1, item 4 (assistant), part 1 (text), text",
            "It is sunny in Rome.",
            "It is rainy in Rome.",
        ),
        (
            {"script": (say("No."),)},
            "turn-1, the end of model call 1.1, finish_reason",
            "tool_call",
            "completed",
        ),
        (
            {"script": (BASE[0], fail(FailureKind.AUTH, retryable=False))},
            "turn-1, the end of model call 2.1, finish_reason",
            "completed",
            "error",
        ),
        ({"prompt": "stop"}, "turn-1, item 1 (user), part 1 (text), text", "go", "stop"),
        (
            {"options": ModelOptions(temperature=0.5)},
            "turn-1, model call 1.1, options.temperature",
            None,
            0.5,
        ),
    ],
)
def test_the_first_difference_is_named(
    changes: dict[str, Any], where: str, left: Any, right: Any
) -> None:
    changed = run(*changes.pop("script", BASE), **changes)
    found = difference(run(*BASE), changed)

    assert (found.where, found.left, found.right) == (where, left, right)
    assert found.left_seq is not None
    assert found.right_seq is not None


def test_a_run_that_ends_earlier_differs_where_it_ends() -> None:
    whole = run(*BASE)
    found = difference(whole, whole[: len(whole) // 2])

    assert found.where.endswith(", where one of them ends")
    assert (found.right, found.right_seq) == (None, None)
    assert "right: nothing" in found.describe()


def test_an_item_that_only_one_run_has_is_shown_with_what_the_other_has() -> None:
    left = enveloped([TurnStarted(), ItemsAppended((Item.user("a"),), 1)])
    tool_item = Item.tool(ToolResult(call_id=ToolCallId("c"), output=TextOutput("x")))
    right = enveloped([TurnStarted(), ItemsAppended((tool_item,), 1)])
    found = difference(left, right)

    assert found.where == "turn-1, item 1 (user)"
    assert isinstance(found.left, dict)
    assert [*found.left] == ["user item"]
    assert isinstance(found.right, dict)
    assert [*found.right] == ["tool item"]


def test_arguments_named_like_an_id_are_compared() -> None:
    def asked(value: str) -> list[Envelope]:
        arguments = ToolCall(id=ToolCallId("c"), name="look", input={"id": value})
        return enveloped([ItemsAppended((Item.assistant(arguments),), 1)])

    assert difference(asked("a"), asked("b")).where.endswith("argument id")


def test_sessions_are_compared_in_the_order_in_which_they_begin() -> None:
    one, other = run(*BASE), run(*BASE)
    second = [replace(each, session_id=SessionId("inner")) for each in run(say("a"))]
    changed = [replace(each, session_id=SessionId("inner")) for each in run(say("b"))]

    assert diff([*one, *second], [*other, *second]) is None
    found = difference([*one, *second], [*other, *changed])
    assert found.where == "session 2, turn-1, item 2 (assistant), part 1 (text), text"
    assert difference([*one, *second], other).where.startswith("session 2, ")


def test_z07_a_description_is_short_and_shows_nothing_unseen() -> None:
    long = "x" * 10_000

    def said(text: str) -> list[Envelope]:
        return enveloped([ItemsAppended((Item.assistant(Text(text)),), 1)])

    lines = difference(said(long + "\x1b[2Ja"), said(long + "\u202eb")).describe().splitlines()

    assert len(lines) == 3
    assert all(len(line) < 300 for line in lines)
    assert all(line.isprintable() for line in lines)
    assert lines[1] != lines[2]
    assert "…xxx" in lines[1]
