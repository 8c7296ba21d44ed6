"""A session at rest holds its conversation and little else, and each session holds the same."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from agentkit_core import Item, ItemKind, ModelRequest, SessionId
from agentkit_core.provider import ModelEvent
from agentkit_loop import Agent, BlockingSession
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import tool

MOST = 11_500
"""Bytes that one session may hold; more than it does, since versions of Python differ."""
WARM, FEW, MANY = 10, 30, 90


@tool
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


class OneRound:
    """A model that calls `add` once and then answers; it keeps nothing of what it was asked."""

    name = "one-round"

    def open_blocking(self, session_id: SessionId, /) -> OneRound:
        return self

    def respond(self, request: ModelRequest, /) -> Iterator[Sequence[ModelEvent]]:
        is_first = request.items[-1].kind is ItemKind.USER
        reply = Reply.of(call("add", {"a": 1, "b": 2}, "call_1")) if is_first else say("3")
        return iter(reply.batches)

    def close(self) -> None:
        pass


AGENT = Agent(model=OneRound(), tools=[add])


def open_session(stack: ExitStack) -> BlockingSession:
    session = stack.enter_context(AGENT.session_blocking())
    assert session.prompt("hi").tool_calls == 1
    return session


def test_a_session_at_rest_holds_little_and_each_holds_the_same() -> None:
    with ExitStack() as stack:
        sessions = [open_session(stack) for _ in range(WARM)]
        held = [0]
        tracemalloc.start()
        try:
            for count in (FEW, MANY):
                sessions += [open_session(stack) for _ in range(count)]
                gc.collect()
                held.append(tracemalloc.get_traced_memory()[0])
        finally:
            tracemalloc.stop()
    few, many = held[1] / FEW, (held[2] - held[1]) / MANY

    assert many < MOST
    assert few > 0.8 * many, "a session costs no more where there are more of them"


class History(list[Item]):
    """A history that tells whether it is still there."""


def test_a_blocking_session_does_not_hold_the_list_that_it_began_with() -> None:
    history = History([Item.user("a"), Item.assistant("b")])
    held = weakref.ref(history)
    with AGENT.session_blocking(history=history) as session:
        del history
        gc.collect()

        assert held() is None
        assert session.transcript[0].text == "a"


async def test_nor_does_a_session_on_an_event_loop() -> None:
    history = History([Item.user("a"), Item.assistant("b")])
    held = weakref.ref(history)
    opened = Agent(model=ScriptedModel(say("c"))).session(history=history)
    async with opened as session:
        del history
        gc.collect()

        assert held() is None
        assert session.transcript[0].text == "a"


def test_sessions_of_an_agent_share_the_digests_of_its_tools() -> None:
    with ExitStack() as stack:
        first, second = (open_session(stack) for _ in range(2))

        assert first._engine.state.tools is second._engine.state.tools
        assert set(first._engine.state.tools or ()) == {"add"}
