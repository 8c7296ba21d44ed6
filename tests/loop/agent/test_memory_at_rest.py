"""A session at rest holds its conversation and little else, and each session holds the same."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from agentkit_core import ItemKind, ModelRequest, SessionId
from agentkit_core.provider import ModelEvent
from agentkit_loop import Agent
from agentkit_loop.testing import Reply, call, say
from agentkit_tools_core import tool

MOST = 13_000
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


def open_session(stack: ExitStack) -> object:
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
