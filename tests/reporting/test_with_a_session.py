"""Reporters of a real session, from the first event to the last."""

from __future__ import annotations

import io
import json

import pytest

from agentkit_core import SessionId, ToolCall, ToolCallId
from agentkit_loop import Agent
from agentkit_loop.events import ApprovalResolved, Envelope
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import ScriptedModel, say
from agentkit_loop.testing import call as calls
from agentkit_reporting import JsonlReporter, TextReporter, TranscriptReporter, UsageReporter
from agentkit_reporting.spans import ToolCallSpan, spans_of
from agentkit_tools_core import tool
from support.outlines import outline


@tool
def weather(city: str) -> str:
    """Say what the weather is like."""
    return f"sunny in {city}"


def test_r04_after_a_tool_round_everyone_tells_the_same_story() -> None:
    call = ToolCall(id=ToolCallId("c1"), name="weather", input={"city": "Rome"})
    lines, data = io.BytesIO(), io.StringIO()
    transcript, usage = TranscriptReporter(), UsageReporter()
    agent = Agent(
        model=ScriptedModel(call, "It is sunny."),
        tools=[weather],
        reporters=[transcript, usage, JsonlReporter(lines), TextReporter(data)],
    )
    with agent.session_blocking() as session:
        result = session.prompt("What is it like in Rome?")
        assert transcript.items == session.transcript

    assert transcript.complete
    assert len(transcript.items) == 4
    assert usage.summary().total == result.usage
    assert usage.summary().total.requests == 2
    events = [json.loads(line)["event"]["type"] for line in lines.getvalue().splitlines()]
    assert events[0] == "run_started"
    assert events[-2:] == ["turn_finished", "run_finished"]
    shown = data.getvalue().splitlines()
    assert '> weather {"city":"Rome"}' in shown
    assert "< weather: sunny in Rome" in shown
    assert "It is sunny." in shown


@tool(needs_approval=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def test_o02_a_session_that_is_left_and_continues_is_told_as_it_was() -> None:
    told: list[Envelope] = []
    transcript, store = TranscriptReporter(), MemoryStore()
    model = ScriptedModel(calls("pay", {"amount": 5}), "done")
    agent = Agent(model=model, tools=[pay], reporters=[told.append, transcript])
    with agent.session_blocking(store=store, session_id=SessionId("s")) as session:
        session.submit("go")
        session.next()
    assert outline(spans_of(told))[0] == "run paused"
    with agent.session_blocking(store=store, session_id=SessionId("s")) as session:
        session.approve(session.pending_approvals[0].id)
        session.next()
        assert transcript.items == session.transcript

    assert outline(spans_of(told)) == [
        "run paused",
        "  turn turn-1 paused",
        "    model call 1.1 ok",
        "    tool call c1 paused approval:waiting",
        "run ok continues",
        "  turn turn-1 ok continues",
        "    tool call c1 ok continues ran approval:approved",
        "    model call 2.1 ok",
    ]
    (first,), (second,) = (
        [span for span in run.walk() if isinstance(span, ToolCallSpan)] for run in spans_of(told)
    )
    assert first.approvals[0].since_ms == second.approvals[0].since_ms


@pytest.mark.parametrize("approve", [True, False])
def test_o02_an_inner_agent_that_waits_for_a_person_is_paused_and_not_cancelled(
    approve: bool,
) -> None:
    told: list[Envelope] = []
    transcript = TranscriptReporter()
    inner = Agent(
        model=ScriptedModel(calls("pay", {"amount": 5}), "done"),
        tools=[pay],
        reporters=[told.append, transcript],
    )
    outer = Agent(
        model=ScriptedModel(calls("clerk", {"task": "t"}), "ok"),
        tools=[inner.as_tool("clerk", "Does paperwork.", blocking=True)],
        reporters=[told.append],
    )
    with outer.session_blocking() as session:
        session.submit("go")
        session.next()
        (request,) = session.pending_approvals
        (session.approve if approve else session.deny)(request.id)
        session.next()

    outcome = "approved" if approve else "denied"
    assert [e.event.outcome for e in told if isinstance(e.event, ApprovalResolved)] == [outcome] * 2
    assert transcript.complete
    (result,) = transcript.items[2].tool_results
    assert result.is_error is not approve
    assert outline(spans_of(told)) == [
        "run ok",
        "  turn turn-1 ok",
        "    model call 1.1 ok",
        f"    tool call c1 ok ran {'progress:1 ' if approve else ''}approval:{outcome}",
        "      run paused",
        "        turn turn-1 paused",
        "          model call 1.1 ok",
        "          tool call c1 paused approval:waiting",
        "      run ok continues",
        "        turn turn-1 ok continues",
        "          tool call c1 "
        + ("ok continues ran" if approve else "error continues denied")
        + f" approval:{outcome}",
        "          model call 2.1 ok",
        "    model call 2.1 ok",
    ]


def test_o02_an_inner_agent_is_in_the_call_of_the_run_in_which_it_goes_on() -> None:
    told: list[Envelope] = []
    store = MemoryStore()
    inner = Agent(
        model=ScriptedModel(calls("pay", {"amount": 5}), "done"),
        tools=[pay],
        reporters=[told.append],
    )
    outer = Agent(
        model=ScriptedModel(calls("clerk", {"task": "t"}), "ok"),
        tools=[inner.as_tool("clerk", "Does paperwork.", blocking=True)],
        reporters=[told.append],
    )
    with outer.session_blocking(store=store, session_id=SessionId("s")) as session:
        session.submit("go")
        session.next()
    with outer.session_blocking(store=store, session_id=SessionId("s")) as session:
        session.approve(session.pending_approvals[0].id)
        session.next()

    assert outline(spans_of(told))[8:] == [
        "run ok continues",
        "  turn turn-1 ok continues",
        "    tool call c1 ok continues progress:1 approval:approved",
        "      run ok continues",
        "        turn turn-1 ok continues",
        "          tool call c1 ok continues ran approval:approved",
        "          model call 2.1 ok",
        "    model call 2.1 ok",
    ]


def test_u01_an_agent_within_an_agent_counts_once_in_every_total() -> None:
    usage = UsageReporter()
    inmost = Agent(model=ScriptedModel(say("a"), name="c"), reporters=[usage])
    middle = Agent(
        model=ScriptedModel(calls("inmost", {"task": "t"}), say("b"), name="b"),
        tools=[inmost.as_tool("inmost", "Looks.", blocking=True)],
        reporters=[usage],
    )
    # The events of this one are not reported: only its tool says what it has used.
    unseen = Agent(model=ScriptedModel(say("d"), name="d"))
    outer = Agent(
        model=ScriptedModel(
            calls("middle", {"task": "t"}), calls("unseen", {"task": "t"}, "c2"), say("e"), name="a"
        ),
        tools=[
            middle.as_tool("middle", "Works.", blocking=True),
            unseen.as_tool("unseen", "Hides.", blocking=True),
        ],
        reporters=[usage],
    )
    result = outer.run_blocking("go")
    summary = usage.summary()

    assert summary.with_tools.tokens == result.usage.tokens
    assert summary.with_tools.requests == result.usage.requests == 7
    assert {name: used.requests for name, used in summary.models.items()} == {
        "a": 3,
        "b": 2,
        "c": 1,
    }
    assert {name: used.requests for name, used in summary.by_tool.items()} == {"unseen": 1}
