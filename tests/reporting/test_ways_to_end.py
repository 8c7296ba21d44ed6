"""However a run ends, its record has an end, and each span of it ended once, with how it ended."""

from __future__ import annotations

import io
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing, closing, suppress
from typing import Any

import pytest

from agentkit_core import SessionId
from agentkit_loop import Agent
from agentkit_loop.events import Envelope, ToolExecutionStarted
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import ScriptedModel, call, fail, say
from agentkit_reporting import JsonlReporter
from agentkit_reporting.spans import Span, SpanTree
from agentkit_tools_core import tool
from support.forms import FORMS, Form
from support.outlines import outline


@tool
def look() -> str:
    """Look."""
    return "seen"


@tool
def trip() -> str:
    """Fail."""
    raise RuntimeError("it broke")


@tool(needs_approval=True)
def pay() -> str:
    """Pay."""
    return "paid"


async def run_to_its_end(form: Form, agent: Agent) -> None:
    await form.do(agent, "run", "go")


async def leave_while_a_person_is_asked(form: Form, agent: Agent, **options: Any) -> None:
    async with form.opened(agent, **options) as session:
        session.submit("go")
        await form.do(session, "next")


async def leave_a_stored_session(form: Form, agent: Agent) -> None:
    await leave_while_a_person_is_asked(form, agent, store=MemoryStore(), session_id=SessionId("s"))


async def cancel_when_a_tool_starts(form: Form, agent: Agent) -> None:
    async with form.opened(agent) as session:

        def stop(envelope: Envelope) -> None:
            if isinstance(envelope.event, ToolExecutionStarted):
                session.cancel()

        session.subscribe(stop)
        await form.do(session, "prompt", "go")


async def break_off_the_stream(form: Form, agent: Agent) -> None:
    if form.is_blocking:
        with closing(agent.stream_blocking("go")) as events:
            for event in events:
                if isinstance(event, ToolExecutionStarted):
                    return
    async with aclosing(agent.stream("go")) as more:
        async for event in more:
            if isinstance(event, ToolExecutionStarted):
                return


async def raise_in_the_block(form: Form, agent: Agent) -> None:
    with suppress(ZeroDivisionError):
        async with form.opened(agent) as session:
            session.submit("go")
            await form.do(session, "next")
            raise ZeroDivisionError


Way = Callable[[Form, Agent], Awaitable[None]]

ENDS: dict[str, tuple[Way, list[Any], str, list[str]]] = {
    "normal": (
        run_to_its_end,
        [call("look"), say("ok")],
        "run_finished",
        [
            "run ok",
            "turn turn-1 ok",
            "model call 1.1 ok",
            "tool call c1 ok ran",
            "model call 2.1 ok",
        ],
    ),
    "provider error": (
        run_to_its_end,
        [fail(retryable=False)],
        "run_finished",
        ["run error", "turn turn-1 error error", "model call 1.1 error"],
    ),
    "tool error": (
        run_to_its_end,
        [call("trip"), say("ok")],
        "run_finished",
        [
            "run ok",
            "turn turn-1 ok",
            "model call 1.1 ok",
            "tool call c1 error ran",
            "model call 2.1 ok",
        ],
    ),
    "close": (
        leave_while_a_person_is_asked,
        [call("pay")],
        "run_finished",
        [
            "run cancelled",
            "turn turn-1 cancelled",
            "model call 1.1 ok",
            "tool call c1 cancelled approval:withdrawn",
        ],
    ),
    "approval pause": (
        leave_a_stored_session,
        [call("pay")],
        "run_suspended",
        [
            "run paused",
            "turn turn-1 paused",
            "model call 1.1 ok",
            "tool call c1 paused approval:waiting",
        ],
    ),
    "cancel": (
        cancel_when_a_tool_starts,
        [call("look"), say("ok")],
        "run_finished",
        [
            "run cancelled",
            "turn turn-1 cancelled",
            "model call 1.1 ok",
            "tool call c1 cancelled ran",
        ],
    ),
    "break": (
        break_off_the_stream,
        [call("look"), say("ok")],
        "run_finished",
        [
            "run cancelled",
            "turn turn-1 cancelled",
            "model call 1.1 ok",
            "tool call c1 cancelled ran",
        ],
    ),
    "exception of the host": (
        raise_in_the_block,
        [call("pay")],
        "run_finished",
        [
            "run cancelled",
            "turn turn-1 cancelled",
            "model call 1.1 ok",
            "tool call c1 cancelled approval:withdrawn",
        ],
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("end", ENDS)
def test_o02_each_span_ends_once_and_the_record_has_its_end(end: str, form: str) -> None:
    way, script, last_event, expected = ENDS[end]
    tree, began, ended = SpanTree(), list[Span](), list[Span]()
    file = io.BytesIO()

    def note(envelope: Envelope) -> None:
        changes = tree.take(envelope)
        began.extend(changes.began)
        ended.extend(changes.ended)

    agent = Agent(
        model=ScriptedModel(*script),
        tools=[look, trip, pay],
        reporters=[note, JsonlReporter(file)],
    )
    forms = Form(form)
    forms.run(lambda: way(forms, agent))

    assert [line.strip() for line in outline(tree.runs)] == expected
    assert len(ended) == len(began) == len(expected)
    assert {*map(id, began)} == {*map(id, ended)}
    assert tree.finish().ended == ()
    assert json.loads(file.getvalue().splitlines()[-1])["event"]["type"] == last_event
