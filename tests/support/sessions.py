"""Helpers of the tests that run whole sessions."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import anyio
import anyio.lowlevel

from agentkit_core import (
    Item,
    ModelRequest,
    SessionId,
    TokenUsage,
    Transcript,
    Usage,
)
from agentkit_core.provider import ModelEvent
from agentkit_loop.events import (
    Envelope,
    Event,
)
from agentkit_loop.testing import Reply
from agentkit_tools_core import FunctionTool, tool

USED = Usage(tokens=TokenUsage(input=7), requests=1, reported_requests=1)


def recorded(events: list[Event]) -> Callable[[Envelope], None]:
    return lambda envelope: events.append(envelope.event)


def is_whole(transcript: Sequence[Item]) -> bool:
    return Transcript(transcript).open_calls == ()


def named(name: str, function: Callable[..., Any]) -> FunctionTool[..., Any]:
    return tool(name=name)(function)


def ok() -> str:
    return "ok"


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(5):
        while not condition():
            await anyio.lowlevel.checkpoint()


class Misbehaving:
    """A model that breaks its contract."""

    name = "misbehaving"

    def __init__(self, when: str) -> None:
        self.when = when

    def open(self, session_id: SessionId, /) -> "Misbehaving":
        return self

    async def respond(self, request: ModelRequest, /) -> AsyncIterator[Sequence[ModelEvent]]:
        if self.when == "raises at once":
            raise RuntimeError("provider exploded")
        for batch in Reply.of("Hello").batches[:-1]:
            yield batch
        if self.when == "raises later":
            raise RuntimeError("provider exploded")

    async def close(self) -> None:
        return None
