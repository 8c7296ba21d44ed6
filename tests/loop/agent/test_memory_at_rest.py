"""A session at rest holds little, a long answer at most twice, and for each delta nothing."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack
from contextvars import ContextVar
from sys import getsizeof

import pytest

from agentkit_core import FinishReason, Item, ItemKind, ModelRequest, SessionId, Text
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    ModelEvent,
    PartId,
    ResponseFinished,
)
from agentkit_loop import Agent, BlockingSession, Session
from agentkit_loop.events import Event
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import tool

MOST = 8_000
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


class AwaitedRound(OneRound):
    """The same, on an event loop."""

    def open(self, session_id: SessionId, /) -> AwaitedRound:
        return self

    async def respond(  # type: ignore[override]
        self, request: ModelRequest, /
    ) -> AsyncIterator[Sequence[ModelEvent]]:
        for batch in super().respond(request):
            yield batch

    async def close(self) -> None:  # type: ignore[override]
        pass


AGENT = Agent(model=OneRound(), tools=[add])
AWAITED = Agent(model=AwaitedRound(), tools=[add])


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


async def test_a_session_on_an_event_loop_holds_little_more() -> None:
    async with AsyncExitStack() as stack:

        async def open_awaited() -> Session:
            session = await stack.enter_async_context(AWAITED.session())
            assert (await session.prompt("hi")).tool_calls == 1
            return session

        sessions = [await open_awaited() for _ in range(WARM)]
        tracemalloc.start()
        try:
            sessions += [await open_awaited() for _ in range(FEW)]
            gc.collect()
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert held / FEW < 1.1 * MOST


REQUEST: ContextVar[object] = ContextVar("request")


async def test_a_session_at_rest_holds_nothing_of_the_context_in_which_it_worked() -> None:
    class OfRequest:
        """What an application keeps in a context variable while it serves one request."""

    async def serve(session: Session) -> weakref.ref[OfRequest]:
        value = OfRequest()
        token = REQUEST.set(value)
        await session.prompt("hi")
        REQUEST.reset(token)
        return weakref.ref(value)

    async with AWAITED.session() as session:
        held = await serve(session)
        gc.collect()

        assert held() is None


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


PIECE, PIECES = 10_000, 100
LOOKS = 500, 2_500


class LongAnswer(OneRound):
    """A model that answers with many pieces of text, each made when it is sent."""

    name = "long-answer"

    def __init__(self, sign: str) -> None:
        self.sign = sign

    def respond(self, request: ModelRequest, /) -> Iterator[Sequence[ModelEvent]]:
        part = PartId("part-0")
        yield (BeginPart(part, Text("")),)
        for _ in range(PIECES):
            yield (AppendText(part, self.sign * (PIECE - 1) + " "),)
        yield (ResponseFinished(FinishReason.COMPLETED),)


@pytest.mark.parametrize("sign", ["a", "é", "中"])
def test_a_long_answer_is_held_once_beside_the_pieces_that_a_host_keeps(sign: str) -> None:
    kept: list[Event] = []
    agent = Agent(model=LongAnswer(sign), reporters=[lambda told: kept.append(told.event)])
    agent.run_blocking("hi")  # what is imported and cached is not counted
    kept.clear()
    tracemalloc.start()
    try:
        result = agent.run_blocking("hi")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    size = getsizeof(result.text)

    assert len(result.text) == PIECE * PIECES
    assert 2 * size < peak < 2.2 * size


class Deltas(OneRound):
    """A model that answers with one letter a read, and looks at two of them how much is held."""

    name = "deltas"

    def __init__(self) -> None:
        self.held: list[int] = []

    def respond(self, request: ModelRequest, /) -> Iterator[Sequence[ModelEvent]]:
        part = PartId("part-0")
        yield (BeginPart(part, Text("")),)
        for at in range(LOOKS[-1] + 1):
            if at in LOOKS:
                self.held.append(tracemalloc.get_traced_memory()[0])
            yield (AppendText(part, "a"),)
        yield (ResponseFinished(FinishReason.COMPLETED),)


def test_of_a_delta_nothing_is_kept_but_its_text() -> None:
    model = Deltas()
    agent = Agent(model=model, reporters=[lambda told: None])
    tracemalloc.start()
    try:
        agent.run_blocking("hi")
    finally:
        tracemalloc.stop()
    (first, last), (early, late) = LOOKS, model.held

    # A place in a list, which grows by an eighth at a time: no event, no delta.
    assert late - early < 10 * (last - first)
