"""Saves that fail or are interrupted, and reporters that strike: what a session is afterwards."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from agentkit_core import Item, ModelRequest, SessionId, Transcript
from agentkit_loop import Agent, BackgroundDone, LoopConfig, ReporterFailed
from agentkit_loop.events import Envelope
from agentkit_loop.ports import LogEntry
from agentkit_loop.stores import MemoryStore
from agentkit_loop.stores._async_wrapper import AsyncWrapper
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import ToolContext, tool
from support.crashing import (
    NAME,
    Remembering,
    agent_in,
    check_effects,
    check_events,
    check_log,
    check_transcript,
    live,
    live_blocking,
    started_in,
)


class Striking(MemoryStore):
    """A store in which something strikes at one save, before it or when it is made."""

    _run = AsyncWrapper._run  # in a thread, as where there is a disk

    def __init__(self, strike: Callable[[], None], at: int, *, late: bool) -> None:
        super().__init__()
        self.saves = 0
        self._strike = strike
        self._at = at
        self._late = late

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        self.saves += 1
        if self.saves == self._at and not self._late:
            self._strike()
        super().save_blocking(session_id, seq=seq, head=head, log=log)
        if self.saves == self._at and self._late:
            self._strike()


def interrupt() -> None:
    raise KeyboardInterrupt


class Talk:
    """A conversation with two calls, one in the background, and all that was told of it."""

    def __init__(self) -> None:
        self.told: list[Envelope] = []
        self.ran: list[str] = []

    def agent(self, *more: Callable[[Envelope], None]) -> Agent:
        @tool
        def work() -> str:
            """Work."""
            self.ran.append("work")
            return "worked"

        @tool(detach_after_s=0)
        def dig() -> str:
            """Take long."""
            self.ran.append("dig")
            return "found"

        first = Reply.of("hm", call("work", {}, "a"), call("dig", {}, "b"))

        def answer(request: ModelRequest) -> Reply:
            items = request.items
            if any(item.text == "again" for item in items):
                return say("fine")
            return say("done") if any(item.kind == "tool" for item in items) else first

        model = ScriptedModel(*[answer] * 20)
        return Agent(model=model, tools=[work, dig], reporters=[self.told.append, *more])

    def check(self, store: MemoryStore | None, transcript: Sequence[Item]) -> None:
        numbers = [one.number for one in self.told if one.number is not None]
        assert numbers == list(range(1, len(numbers) + 1)), "told twice, or not at all"
        if store is not None:
            saved = store.load_blocking(NAME)
            assert saved is not None
            assert [item for entry in saved.log for item in entry.items] == list(transcript)


def saves_of_a_whole_talk() -> int:
    store = Striking(interrupt, 0, late=False)
    with Talk().agent().session_blocking(session_id=NAME, store=store) as session:
        assert session.prompt("go").text == "done"
        return store.saves


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_a_ctrl_c_while_a_session_is_saved_cancels_the_turn_and_breaks_nothing(
    late: bool,
) -> None:
    for at in range(1, saves_of_a_whole_talk() + 1):
        store, talk = Striking(interrupt, at, late=late), Talk()
        with talk.agent().session_blocking(session_id=NAME, store=store) as session:
            with pytest.raises(KeyboardInterrupt):
                session.prompt("go")
            assert not session.view.is_running
            assert Transcript(session.transcript).open_calls == ()
            assert session.prompt("again").text == "fine"
            while session.view.background_calls:
                session.next()
        talk.check(store, session.transcript)
        assert len(talk.ran) == len(set(talk.ran))


@pytest.mark.parametrize("stored", [False, True], ids=["no store", "store"])
def test_a_ctrl_c_in_a_reporter_loses_no_event_of_the_others_and_no_work(stored: bool) -> None:
    whole = Talk()
    with whole.agent().session_blocking() as session:
        session.prompt("go")
    for at in range(2, len(whole.told)):
        talk = Talk()

        def strike(envelope: Envelope, talk: Talk = talk, at: int = at) -> None:
            if len(talk.told) == at:
                raise KeyboardInterrupt

        store = MemoryStore() if stored else None
        struck = False
        with talk.agent(strike).session_blocking(session_id=NAME, store=store) as session:
            try:
                session.prompt("go")
            except KeyboardInterrupt:
                struck = True
            assert not session.view.is_running
            assert Transcript(session.transcript).open_calls == ()
            assert session.prompt("again").text == "fine"
            while session.view.background_calls:
                session.next()
        assert struck or at >= len(whole.told) - 4
        talk.check(store, session.transcript)


@pytest.mark.parametrize("stored", [False, True], ids=["no store", "store"])
async def test_a_reporter_may_stop_a_turn_at_any_event(stored: bool) -> None:
    whole = Talk()
    async with whole.agent().session() as session:
        await session.prompt("go")
    for at in range(2, len(whole.told)):
        talk = Talk()

        def strike(envelope: Envelope, talk: Talk = talk, at: int = at) -> None:
            if len(talk.told) == at:
                raise ReporterFailed("full")

        store = MemoryStore() if stored else None
        async with talk.agent(strike).session(session_id=NAME, store=store) as session:
            with anyio.fail_after(10):
                try:
                    await session.prompt("go")
                except ReporterFailed:
                    assert not session.view.is_running
                assert Transcript(session.transcript).open_calls == ()
                try:
                    result = await session.prompt("again")
                except ReporterFailed:  # the background call's, or of the end of the turn
                    result = await session.prompt("again")
                assert result.text == "fine"
                await session.wait_background()
        talk.check(store, session.transcript)


# asyncio cancels through any shield


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # it is asyncio's own way
async def test_a_task_that_is_cancelled_by_asyncio_itself_waits_for_the_save_and_can_go_on(
    anyio_backend: str,
) -> None:
    for at in range(1, saves_of_a_whole_talk() + 1):
        began, release = threading.Event(), threading.Event()

        def wait(began: threading.Event = began, release: threading.Event = release) -> None:
            began.set()
            assert release.wait(10)

        store, talk = Striking(wait, at, late=False), Talk()
        async with talk.agent().session(session_id=NAME, store=store) as session:
            task = asyncio.ensure_future(session.prompt("go"))
            while not (began.is_set() or task.done()):
                await asyncio.sleep(0)
            if task.done():  # that was a save of the background's
                release.set()
                continue
            task.cancel()
            for _ in range(5):
                await asyncio.sleep(0)
            assert not task.done(), "a save that has begun is finished"
            release.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not session.view.is_running
            assert (await session.prompt("again")).text == "fine"
            await session.wait_background()
        talk.check(store, session.transcript)


# calls in the background, and whoever waits for them


class Struck(BaseException):
    """Something that ends more than a call."""


class Digging:
    """An agent whose only call goes on in the background until it is let end."""

    def __init__(self, end: Callable[[], str], config: LoopConfig | None = None) -> None:
        self.may_end = anyio.Event()

        @tool(detach_after_s=0)
        async def dig(context: ToolContext) -> str:
            """Take long."""
            await self.may_end.wait()
            return end() if end is not ask_first else str(context.ask("where?"))

        model = ScriptedModel(call("dig"), say("done"), say("noted"))
        self.agent = Agent(model=model, tools=[dig], config=config)


def ask_first() -> str:
    raise NotImplementedError


@pytest.mark.parametrize("stored", [False, True], ids=["no store", "store"])
async def test_what_strikes_a_call_in_the_background_is_told_once_and_the_call_is_over(
    stored: bool,
) -> None:
    def end() -> str:
        raise Struck

    digging, store = Digging(end), MemoryStore() if stored else None
    async with digging.agent.session(session_id=NAME, store=store) as session:
        await session.prompt("go")
        digging.may_end.set()
        with anyio.fail_after(5):
            await session.wait_background()
            assert session.view.background_calls == ()
            with pytest.raises(Struck):
                await session.prompt("hello?")
            assert (await session.prompt("and now?")).text == "noted"


@pytest.mark.parametrize("stored", [False, True], ids=["no store", "store"])
async def test_a_prompt_waits_for_a_call_in_the_background_while_somebody_else_answers_it(
    stored: bool,
) -> None:
    config = LoopConfig(background_done=BackgroundDone.CONTINUE)
    digging, store = Digging(ask_first, config), MemoryStore() if stored else None
    digging.may_end.set()
    async with (
        digging.agent.session(session_id=NAME, store=store) as session,
        anyio.create_task_group() as group,
    ):

        async def answer() -> None:
            # An answer before the model has said "done" would be part of that turn.
            while not session.pending_approvals or len(session.transcript) < 4:
                await anyio.sleep(0.001)
            session.approve(session.pending_approvals[0].id, answer="here")
            await session.flush()

        group.start_soon(answer)
        with anyio.fail_after(5):
            assert (await session.prompt("go")).text == "noted"
        assert "here" in session.transcript[-2].text


@pytest.mark.parametrize("stored", [False, True], ids=["no store", "store"])
async def test_a_call_in_the_background_that_was_answered_goes_on_while_it_is_waited_for(
    stored: bool,
) -> None:
    digging, store = Digging(ask_first), MemoryStore() if stored else None
    digging.may_end.set()
    async with digging.agent.session(session_id=NAME, store=store) as session:
        await session.prompt("go")
        with anyio.fail_after(5):
            await session.wait_background()
            session.approve(session.pending_approvals[0].id, answer="here")
            await session.wait_background()
        assert session.view.background_calls == ()
        assert (await session.prompt("and now?")).text == "noted"


async def test_whoever_waits_for_a_call_that_cannot_be_begun_is_told_so() -> None:
    digging, store = Digging(ask_first), Full(10_000)
    digging.may_end.set()
    told: list[str] = []

    async def wait() -> None:
        async with digging.agent.session(session_id=NAME, store=store) as session:
            await session.prompt("go")
            await session.wait_background()
            session.approve(session.pending_approvals[0].id, answer="here")
            await session.flush()
            store.left = 1
            with anyio.move_on_after(5):
                try:
                    await session.wait_background()
                except OSError as error:
                    told.append(str(error))

    with pytest.raises(OSError, match="no space"):  # leaving it says so once more
        await wait()
    assert told == ["no space left"]


async def test_a_stream_that_is_left_in_a_cancelled_scope_is_saved_before_its_session_is_left() -> (
    None
):
    store, talk = MemoryStore(), Talk()
    async with talk.agent().session(session_id=NAME, store=store) as session:
        with anyio.CancelScope() as scope:
            async with aclosing(session.stream("go")) as events:
                async for _ in events:
                    scope.cancel()
                    await anyio.lowlevel.checkpoint()
        saved = store.load_blocking(NAME)
        assert saved is not None
        state = json.loads(saved.head)["state"]
        assert (state.get("phase", "idle"), state.get("turn")) == ("idle", None)


async def test_what_was_decided_is_saved_when_a_session_is_left_in_a_cancelled_scope() -> None:
    store, talk = MemoryStore(), Talk()
    with anyio.CancelScope() as scope:
        async with talk.agent().session(session_id=NAME, store=store) as session:
            session.submit("again")
            scope.cancel()
            await anyio.lowlevel.checkpoint()

    async with talk.agent().session(session_id=NAME, store=store) as session:
        assert [item.text for item in session.view.queued] == ["again"]


async def test_leaving_a_session_whose_store_is_full_still_closes_the_models_session() -> None:
    class Counting(ScriptedModel):
        closed = 0

        def open(self, session_id: SessionId, /) -> Any:
            model, opened = self, super().open(session_id)

            class Counted:
                respond = opened.respond

                async def close(self) -> None:
                    model.closed += 1

            return Counted()

    model = Counting("hi")

    async def leave() -> None:
        async with Agent(model=model).session(store=Full(1)) as session:
            session.submit("go")

    with pytest.raises(OSError, match="no space"):
        await leave()
    assert model.closed == 1


# a store that takes no more


class Full(MemoryStore):
    """A store that refuses from one save on, as a full disk does, until it is mended."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.left = at

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        self.left -= 1
        if self.left == 0:
            raise OSError("no space left")
        if self.left < 0:
            raise AssertionError("nothing is saved after a save that failed")
        super().save_blocking(session_id, seq=seq, head=head, log=log)


class Repair:
    """A world, a store that was full, and who goes on when it is mended."""

    def __init__(self, at: int) -> None:
        self.store = Full(at)
        self.world = Remembering()
        self.unknown: frozenset[str] = frozenset()

    def mend(self) -> None:
        self.unknown = started_in(self.store)
        self.store.left = 10_000

    def check(self, items: Sequence[Item]) -> None:
        check_transcript(items)
        check_log(self.store, items)
        check_effects(self.world.done, self.unknown)
        check_events(self.world.envelopes, self.unknown)


def test_a_blocking_session_whose_store_is_full_does_nothing_more_and_another_goes_on() -> None:
    def go(one: Repair) -> None:
        agent = agent_in(one.world)
        with agent.session_blocking(session_id=NAME, store=one.store) as session:
            live_blocking(session)
        one.check(session.transcript)

    whole = Repair(10_000)
    go(whole)
    for at in range(1, 10_001 - whole.store.left):
        one = Repair(at)
        with pytest.raises(OSError, match="no space"):
            go(one)
        one.mend()
        go(one)


async def test_a_session_whose_store_is_full_does_nothing_more_and_another_goes_on() -> None:
    async def go(one: Repair) -> None:
        agent = agent_in(one.world, waits=True)
        with anyio.fail_after(10):
            async with agent.session(session_id=NAME, store=one.store) as session:
                await live(session)
        one.check(session.transcript)

    whole = Repair(10_000)
    await go(whole)
    # How many saves there are differs a little from run to run.
    for at in range(1, 10_001 - whole.store.left - 5):
        one = Repair(at)
        with pytest.raises(OSError, match="no space"):
            await go(one)
        one.mend()
        await go(one)
