"""Cancelling everywhere: at any await of a run, by the host or from outside, nothing is left.

A run meets all that can wait: an answer that streams, tools of both kinds, one with a child
process, one in the background, one that needs approval, hooks, a mutator and a store. Every place
where one of them waits is a point; the run is repeated and cancelled at each of them. What waits
inside the library is met by counting the turns of the event loop.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import IO, Any

import anyio
import anyio.lowlevel
import pytest
import trio

from agentkit_core import (
    ApprovalRequest,
    Item,
    ModelRequest,
    ModelResponse,
    SessionId,
    ToolCallId,
    Transcript,
)
from agentkit_core.provider import ModelEvent
from agentkit_loop import Agent, Hook, Mutation, RunFacts, Session, TurnEnd
from agentkit_loop.events import Envelope, ToolResultReceived
from agentkit_loop.ports import LogEntry, Saved
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import ManualClock, Reply, ScriptedModel, call, say
from agentkit_tools_core import ToolFacts, ToolInvocation, tool
from support.examples import thorough

NAME = SessionId("s")
ROUND = Reply.of(
    "I shall see",
    call("nod", {}, "a"),
    call("sync", {}, "b"),
    call("shell", {}, "c"),
    call("dig", {}, "d"),
    call("write", {}, "e"),
    piece=40,
)
Point = Callable[[], Awaitable[None]]
Strike = Callable[[], None]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX's")


class Points:
    """The places where a run waits; something strikes at one of them, counted from 1."""

    def __init__(self, strike_at: int) -> None:
        self.met = 0
        self.strike: Strike = lambda: None
        self._strike_at = strike_at

    async def __call__(self) -> None:
        self.met += 1
        if self.met == self._strike_at:
            self.strike()
        await anyio.lowlevel.checkpoint()


class Slow:
    """A store that waits before and after each save, and while it loads."""

    def __init__(self, kept: MemoryStore, point: Point) -> None:
        self._kept = kept
        self._point = point

    async def load(self, session_id: SessionId, /) -> Saved | None:
        return self._kept.load_blocking(session_id)

    async def save(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        await self._point()
        self._kept.save_blocking(session_id, seq=seq, head=head, log=log)
        await self._point()


class Waiting(ScriptedModel):
    """A scripted model that also waits at a point before each read."""

    def __init__(self, point: Point, *script: Any) -> None:
        super().__init__(*script)
        self._point = point

    def open(self, session_id: SessionId, /) -> Any:
        return _Conversation(super().open(session_id), self._point)


class _Conversation:
    def __init__(self, plain: Any, point: Point) -> None:
        self._plain = plain
        self._point = point

    async def respond(self, request: ModelRequest, /) -> AsyncIterator[Sequence[ModelEvent]]:
        batches = self._plain.respond(request)
        try:
            async for batch in batches:
                await self._point()
                yield batch
        finally:
            await batches.aclose()

    async def close(self) -> None:
        await self._plain.close()


class Looking(Hook):
    """Hooks that wait and change nothing."""

    def __init__(self, point: Point) -> None:
        self._point = point

    async def before_request(self, request: ModelRequest, facts: RunFacts, /) -> None:
        await self._point()

    async def after_response(self, response: ModelResponse, facts: RunFacts, /) -> None:
        await self._point()

    async def before_tool(self, call: ToolInvocation, facts: ToolFacts) -> None:
        await self._point()


class Stage:
    """One run, and all that must not be left of it."""

    def __init__(self, strike_at: int = 0) -> None:
        self.points = Points(strike_at)
        self.outputs: list[IO[bytes]] = []
        """Of child processes; each ends when the last process that could write to it has."""
        self.kept = MemoryStore()
        self.results: dict[ToolCallId, ToolResultReceived] = {}
        self.model = Waiting(self.points, *[self._answer] * 30)

    @staticmethod
    def _answer(request: ModelRequest) -> Reply:
        if request.items[-1].kind == "user" and request.items[-1].text == "again":
            return say("fine")
        return say("done") if any(item.kind == "tool" for item in request.items) else ROUND

    def agent(self) -> Agent:
        point = self.points

        @tool
        async def nod() -> str:
            """Nod."""
            await point()
            return "yes"

        @tool
        def sync() -> str:
            """Do something in a thread."""
            return "synced"

        @tool
        async def shell() -> str:
            """Run a command that never ends, and a child of it."""
            process = subprocess.Popen(
                ["sh", "-c", "sleep 300 & sleep 300"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            assert process.stdout is not None
            self.outputs.append(process.stdout)
            try:
                await point()
                await point()
            finally:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            return "ended"

        @tool(detach_after_s=0)
        async def dig() -> str:
            """Take long."""
            for _ in range(5):
                await point()
            return "found"

        @tool(needs_approval=True)
        async def write() -> str:
            """Write."""
            await point()
            return "written"

        async def ask(ask: ApprovalRequest) -> bool:
            await point()
            return True

        async def mutate(items: tuple[Item, ...], mutation: Mutation) -> None:
            await point()

        return Agent(
            model=self.model,
            tools=[nod, sync, shell, dig, write],
            hooks=[Looking(point)],
            mutators=[mutate],
            on_approval=ask,
            reporters=[self._note],
            clock=ManualClock(),
        )

    def _note(self, envelope: Envelope) -> None:
        if isinstance(event := envelope.event, ToolResultReceived) and not event.background:
            self.results[event.call_id] = event

    def session(self) -> Any:
        return self.agent().session(session_id=NAME, store=Slow(self.kept, self.points))

    async def check_and_go_on(self, session: Session) -> None:
        """Check what a host finds after a cancelled turn, and say something more."""
        self.check_transcript(session.transcript)
        assert session.view.phase == "idle"
        assert self.model.open_responses == 0
        result = await session.prompt("again")
        assert (result.end, result.text) == (TurnEnd.COMPLETED, "fine")
        await session.wait_background()
        self.check_transcript(session.transcript)

    def check_transcript(self, items: Sequence[Item]) -> None:
        assert Transcript(items).open_calls == ()
        results = {one.call_id: one for item in items for one in item.tool_results}
        for call_id, told in self.results.items():
            assert results[call_id] == told.result, f"what came of {call_id} was lost"

    async def check_nothing_is_left(self, tasks: int) -> None:
        assert self.model.open_responses == 0
        with anyio.fail_after(5):
            while living_tasks() > tasks or not all(map(has_ended, self.outputs)):
                await anyio.sleep(0.001)
        for output in self.outputs:
            output.close()


def living_tasks() -> int:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return trio.lowlevel.current_statistics().tasks_living
    return len(asyncio.all_tasks())


def has_ended(output: IO[bytes]) -> bool:
    ready, _, _ = select.select([output], [], [], 0)
    return bool(ready) and output.read(1) == b""


async def cancelled_by_its_host(stage: Stage) -> None:
    """Another task tells the session to cancel the turn."""
    async with stage.session() as session, anyio.create_task_group() as group:
        struck = anyio.Event()

        async def cancel() -> None:
            await struck.wait()
            session.cancel()

        stage.points.strike = struck.set
        group.start_soon(cancel)
        await session.prompt("go")
        group.cancel_scope.cancel()
        await stage.check_and_go_on(session)


async def cancelled_in_a_scope(stage: Stage) -> None:
    """A scope around one prompt is cancelled; the session goes on."""
    async with stage.session() as session:
        with anyio.CancelScope() as scope:
            stage.points.strike = scope.cancel
            await session.prompt("go")
        await stage.check_and_go_on(session)


async def cancelled_around(stage: Stage) -> None:
    """A scope around the whole session is cancelled; another one goes on from the store."""
    with anyio.CancelScope() as scope:
        stage.points.strike = scope.cancel
        async with stage.session() as session:
            await session.prompt("go")
    assert stage.model.open_responses == 0
    async with stage.session() as session:
        await stage.check_and_go_on(session)


async def left_in_a_stream(stage: Stage) -> None:
    """A scope around a stream is cancelled; another session goes on from the store."""
    with anyio.CancelScope() as scope:
        stage.points.strike = scope.cancel
        async with stage.session() as session, aclosing(session.stream("go")) as events:
            async for _ in events:
                await stage.points()
    assert stage.model.open_responses == 0
    async with stage.session() as session:
        await stage.check_and_go_on(session)


WAYS: list[Callable[[Stage], Awaitable[None]]] = [
    cancelled_by_its_host,
    cancelled_in_a_scope,
    cancelled_around,
    left_in_a_stream,
]


@pytest.mark.parametrize("way", WAYS)
async def test_x09_x07_k04_a_run_may_be_cancelled_wherever_it_waits(
    way: Callable[[Stage], Awaitable[None]], anyio_backend: str
) -> None:
    tasks = living_tasks()
    whole = Stage()
    await way(whole)
    await whole.check_nothing_is_left(tasks)
    assert set(whole.results) == set("abce")
    total = whole.points.met
    assert total > 40

    # Each way from another point on. The driver is the same on trio, where fewer are tried.
    stride = thorough(2, 1) if anyio_backend == "asyncio" else thorough(5, 1)
    for at in range(1 + WAYS.index(way) % stride, total + 1, stride):
        stage = Stage(at)
        with anyio.fail_after(10):
            await way(stage)
        await stage.check_nothing_is_left(tasks)


async def test_x09_a_run_may_be_cancelled_at_any_turn_of_the_event_loop() -> None:
    """Between two points the library waits for itself: for a thread, a lock, its own tasks."""
    tasks = living_tasks()

    async def run(stop_at: int | None) -> tuple[Stage, int]:
        stage, turns = Stage(), 0
        with anyio.fail_after(10), anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:

                async def stop() -> None:
                    nonlocal turns
                    while stop_at is None or turns < stop_at:
                        await anyio.lowlevel.checkpoint()
                        turns += 1
                    scope.cancel()

                group.start_soon(stop)
                async with stage.session() as session:
                    await session.prompt("go")
                group.cancel_scope.cancel()
        async with stage.session() as session:
            await stage.check_and_go_on(session)
        await stage.check_nothing_is_left(tasks)
        return stage, turns

    whole, total = await run(None)
    assert set(whole.results) == set("abce")
    for at in range(0, total, max(1, total // thorough(60, 150))):
        await run(at)
