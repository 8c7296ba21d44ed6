"""A conversation of three rounds, and a world whose process dies at a chosen point of it.

    round 1   charge      plain                      a
              look        read only                  b
              spoil       fails                      c
    round 2   approved    needs approval             d
              dig         goes to the background     e
              charge      plain                      f
    round 3   approved    needs approval             g
              tidy        idempotent                 h

Then the model says that it is done, and in the end that it has read the result of `e`.
Everything that outlives a process is in a `World`; an agent and a session belong to one process.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Protocol

import anyio.lowlevel

from agentkit_core import Item, ModelRequest, SessionId, ToolFailure, Transcript
from agentkit_loop import (
    Agent,
    AwaitingInput,
    BlockingSession,
    Session,
    SessionStatus,
    WaitingForApproval,
)
from agentkit_loop.events import (
    Envelope,
    Event,
    ToolCallRequested,
    ToolResultReceived,
    TurnFinished,
    TurnStarted,
)
from agentkit_loop.ports import LogEntry, Saved
from agentkit_loop.stores import FileStore, MemoryStore, SqliteStore
from agentkit_loop.testing import ManualClock, Reply, ScriptedModel, call, say
from agentkit_tools_core import FunctionTool, ToolContext, tool

NAME = SessionId("s")
CALLS = tuple("abcdefgh")
REPEATABLE = frozenset("bh")
FAILING = "c"
ROUNDS = (
    Reply.of("one, two", call("charge", {}, "a"), call("look", {}, "b"), call("spoil", {}, "c")),
    Reply.of(call("approved", {}, "d"), call("dig", {}, "e"), call("charge", {}, "f")),
    Reply.of(call("approved", {}, "g"), call("tidy", {}, "h")),
)
_MOST_STEPS = 100

AnyStore = MemoryStore | FileStore | SqliteStore


class Crash(BaseException):
    """The process is dead: what it still does has no effect."""


class World(Hashable, Protocol):
    """What outlives the process."""

    def point(self, where: str) -> None:
        """Pass a moment at which the process may die."""

    def act(self, call_id: str) -> None:
        """Do, as a tool, what cannot be undone."""

    def report(self, envelope: Envelope) -> None:
        """Take an envelope, as a reporter."""


class Remembering:
    """A world in memory that kills its process at a point, counted from 1; 0 means never."""

    def __init__(self) -> None:
        self.begin()

    def begin(self, crash_at: int = 0) -> None:
        """Begin anew, as if nothing had been."""
        self.points: list[str] = []
        self.crash_at = crash_at
        self.is_dead = False
        self.done: list[str] = []
        self.envelopes: list[Envelope] = []

    def point(self, where: str) -> None:
        if not self.is_dead:
            self.points.append(where)
            self.is_dead = len(self.points) == self.crash_at
        if self.is_dead:
            raise Crash(where)

    def act(self, call_id: str) -> None:
        self.done.append(call_id)

    def report(self, envelope: Envelope) -> None:
        tag = str(type(envelope.event).__struct_config__.tag)
        self.point(f"before {tag}")
        self.envelopes.append(envelope)
        self.point(f"after {tag}")

    def reborn(self, crash_at: int = 0) -> None:
        """Let another process begin, which may die so many points later; 0 means never."""
        self.is_dead = False
        self.crash_at = len(self.points) + crash_at if crash_at else 0


class Dying:
    """A store whose process may die before and after each save."""

    def __init__(self, store: AnyStore, world: World) -> None:
        self._store = store
        self._world = world

    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        return self._store.load_blocking(session_id)

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        self._world.point("before a save")
        self._store.save_blocking(session_id, seq=seq, head=head, log=log)
        self._world.point("after a save")

    async def load(self, session_id: SessionId, /) -> Saved | None:
        return await self._store.load(session_id)

    async def save(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        self._world.point("before a save")
        await self._store.save(session_id, seq=seq, head=head, log=log)
        self._world.point("after a save")


def agent_in(world: World, *, waits: bool = False) -> Agent:
    """The agent of one process.

    Args:
        world: What its tools change, and its reporter tells.
        waits: Whether its tools are async ones, except one that runs in a thread.
    """

    def answer(request: ModelRequest) -> Reply:
        world.point("before an answer")
        answers = sum(item.kind == "assistant" for item in request.items)
        return ROUNDS[answers] if answers < len(ROUNDS) else say(f"text {answers}")

    return Agent(
        model=ScriptedModel(*[answer] * _MOST_STEPS),
        tools=_tools(world, waits=waits),
        reporters=[world.report],
        clock=ManualClock(),
        jitter=lambda: 0.0,
    )


# To read six signatures takes longer than the rest of a short process.
@lru_cache(maxsize=2)
def _tools(world: World, *, waits: bool) -> list[FunctionTool[..., object]]:
    def act(context: ToolContext) -> str:
        name = context.request.call_id
        world.point(f"before {name}")
        world.act(name)
        world.point(f"after {name}")
        if name == FAILING:
            raise ValueError("spoilt")
        return f"did {name}"

    async def act_and_wait(context: ToolContext) -> str:
        await anyio.lowlevel.checkpoint()
        done = act(context)
        await anyio.lowlevel.checkpoint()
        return done

    function: Callable[..., object] = act_and_wait if waits else act
    return [
        tool(name="charge")(function),
        tool(name="look", read_only=True)(act),
        tool(name="spoil")(function),
        tool(name="approved", needs_approval=True)(function),
        tool(name="dig", detach_after_s=0)(function),
        tool(name="tidy", idempotent=True)(function),
    ]


def live_blocking(session: BlockingSession) -> None:
    """Be the host: begin if nothing was begun, approve all, until nothing is left to be done."""
    _begin(session)
    for _ in range(_MOST_STEPS):
        if _goes_on(session, session.next()):
            return
    raise AssertionError("no end")


async def live(session: Session) -> None:
    """Be the host; see `live_blocking`."""
    _begin(session)
    for _ in range(_MOST_STEPS):
        if _goes_on(session, await session.next()):
            return
        if session.view.turn_id is None:
            await session.wait_background()
    raise AssertionError("no end")


def _begin(session: Session | BlockingSession) -> None:
    if not session.transcript and not session.view.queued:
        session.submit("go")


def _goes_on(session: Session | BlockingSession, step: SessionStatus) -> bool:
    """Answer what is asked; whether nothing is left."""
    if isinstance(step, WaitingForApproval):
        for ask in session.pending_approvals:
            session.approve(ask.id, call_id=ask.call.id)
    return step == AwaitingInput() and not session.view.background_calls


# laws


def started_in(store: AnyStore) -> frozenset[str]:
    """The calls that, as far as a process has saved, had begun and had no result."""
    saved = store.load_blocking(NAME)
    if saved is None:
        return frozenset()
    effects = json.loads(saved.head)["state"].get("out", {}).values()
    started = frozenset(effect["call"]["id"] for effect in effects if effect.get("started"))
    return started - REPEATABLE


def check_transcript(items: Sequence[Item]) -> None:
    """Check the history at the end: every call and one result of each."""
    assert Transcript(items).open_calls == ()
    assert [call.id for item in items for call in item.tool_calls] == list(CALLS)
    assert [result.call_id for item in items for result in item.tool_results] == list(CALLS)
    assert [item.text for item in items if item.kind == "user"] == ["go"]
    assert next(item.text for item in items if item.text.startswith("text")) == "text 3"
    assert sum(item.kind == "notification" for item in items) == 1


def check_log(store: AnyStore, items: Sequence[Item]) -> None:
    """Check that the entries of the stored log make the transcript."""
    saved = store.load_blocking(NAME)
    assert saved is not None
    assert not any(entry.rewrite for entry in saved.log)
    assert [item for entry in saved.log for item in entry.items] == list(items)


def check_effects(done: Sequence[str], unknown: frozenset[str]) -> None:
    """Check what the tools did: each once, unless it may be repeated or the outcome is unknown."""
    times = Counter(done)
    for call_id in CALLS:
        if call_id in REPEATABLE:
            assert times[call_id] >= 1, f"{call_id} never ran"
        elif call_id in unknown:
            assert times[call_id] <= 1, f"{call_id} ran {times[call_id]} times"
        else:
            assert times[call_id] == 1, f"{call_id} ran {times[call_id]} times"


def check_events(envelopes: Sequence[Envelope], unknown: frozenset[str]) -> None:
    """Check what was reported: nothing is missing, and what was reported twice is the same.

    Args:
        envelopes: From all processes, in order.
        unknown: The calls whose outcome is unknown.
    """
    events: dict[int, Event] = {}
    for envelope in envelopes:
        if envelope.number is not None:
            event = events.setdefault(envelope.number, envelope.event)
            assert event == envelope.event, f"two events have number {envelope.number}"
    assert sorted(events) == list(range(1, len(events) + 1)), "some events were never reported"
    reported = [events[number] for number in sorted(events)]
    turns = [type(event) for event in reported if isinstance(event, TurnStarted | TurnFinished)]
    assert turns == [TurnStarted, TurnFinished] * (len(turns) // 2)
    requested = [event.call.id for event in reported if isinstance(event, ToolCallRequested)]
    assert requested == list(CALLS)
    results = [event for event in reported if isinstance(event, ToolResultReceived)]
    assert sorted(event.call_id for event in results) == list(CALLS)
    failures = {event.call_id: event.result.failure for event in results}
    lost = {name for name, why in failures.items() if why is ToolFailure.OUTCOME_UNKNOWN}
    assert lost == unknown
    failed = {event.call_id for event in results if event.result.is_error}
    assert failed == unknown | {FAILING}
