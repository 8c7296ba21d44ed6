"""Readers of a stream have what is told of tools while the tools still run.

A tool waits until an event was read: if it is told only when the tool is over, it is never read.
"""

from collections.abc import Callable

import anyio
import pytest

from agentkit_core import ApprovalRequest
from agentkit_loop import Agent
from agentkit_loop.events import (
    ApprovalRequired,
    Event,
    ToolDetached,
    ToolExecutionStarted,
    ToolProgress,
    ToolResultReceived,
)
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call
from agentkit_tools_core import ToolContext, tool

HEARD = "heard in time"
PATIENCE_S = 5
"""How long a tool waits before it gives up; a tool that is heard waits for nothing."""


class Reader:
    """Knows whether an event was read from a stream."""

    def __init__(self, is_awaited: Callable[[Event], bool]) -> None:
        self._is_awaited = is_awaited
        self._heard = anyio.Event()

    def read(self, event: Event) -> None:
        if self._is_awaited(event):
            self._heard.set()

    async def hear(self) -> str:
        """Wait until the event was read."""
        with anyio.move_on_after(PATIENCE_S):
            await self._heard.wait()
            return HEARD
        return "heard by nobody"


def says(message: str) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, ToolProgress) and event.message == message


def is_start_of(name: str) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, ToolExecutionStarted) and event.name == name


def is_result_of(name: str) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, ToolResultReceived) and event.name == name


AWAITED = {
    "progress": says("half"),
    "started": is_start_of("work"),
    "result of another": is_result_of("aside"),
    "progress of another": says("aside"),
    "ask of another": lambda event: isinstance(event, ApprovalRequired),
    "another goes on": lambda event: isinstance(event, ToolDetached),
}


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("what", AWAITED)
async def test_vl17_who_reads_a_stream_has_the_event_while_the_tool_runs(
    what: str, stored: bool
) -> None:
    reader = Reader(AWAITED[what])

    @tool
    async def work(context: ToolContext) -> str:
        """Work, and tell how far."""
        context.progress("half")
        return await reader.hear()

    @tool(detach_after_s=0 if what == "another goes on" else None)
    async def aside(context: ToolContext) -> str:
        """Do something at the same time."""
        context.progress("aside")
        if what == "ask of another":
            context.ask("May I?")
        return "done"

    def allow(request: ApprovalRequest) -> bool:
        return True

    calls = Reply.of(call("work", {}, "a"), call("aside", {}, "b"))
    agent = Agent(model=ScriptedModel(calls, *["ok"] * 3), tools=[work, aside], on_approval=allow)

    results: dict[str, str] = {}
    async with agent.session(store=MemoryStore() if stored else None) as session:
        async for event in session.stream("go"):
            reader.read(event)
            if isinstance(event, ToolResultReceived):
                results[event.name] = event.result.text

    assert results["work"] == HEARD
