"""Conversations: whoever looks on disturbs nobody, and one that is over is over."""

import threading
from typing import NoReturn

import anyio
import pytest

from agentkit_core import SessionId
from agentkit_loop import (
    Agent,
    Lane,
    ReporterFailed,
    SessionClosed,
    SessionView,
    TurnResult,
    TurnRunning,
)
from agentkit_loop.events import ContentDelta, Envelope, ToolResultReceived
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call
from agentkit_tools_core import tool


class Stop(BaseException):
    """Ends more than a call."""


@tool
async def slow() -> str:
    """Take a while."""
    await anyio.sleep(0.02)
    return "slow"


@tool
async def strike() -> str:
    """Strike."""
    await anyio.sleep(0.02)
    raise Stop


def fail_at_results(envelope: Envelope) -> None:
    if isinstance(envelope.event, ToolResultReceived):
        raise ReporterFailed("enough")


@pytest.mark.parametrize("struck", [Stop, ReporterFailed])
async def test_what_strikes_a_turn_reaches_whoever_works_and_nobody_who_waits_for_its_end(
    struck: type[BaseException],
) -> None:
    names = ("slow", "strike", "slow") if struck is Stop else ("slow", "slow")
    calls = [call(name, {}, f"c{at}") for at, name in enumerate(names)]
    model = ScriptedModel(Reply.of(*calls), "never")
    async with Agent(model=model, tools=[slow, strike]).session() as session:
        if struck is ReporterFailed:
            session.subscribe(fail_at_results)

        async def wait() -> None:
            await anyio.sleep(0.005)
            await session.wait_idle()

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            with pytest.raises(struck):
                await session.prompt("go")


async def test_a_stored_session_that_was_left_takes_nothing_more() -> None:
    store, name = MemoryStore(), SessionId("s")
    async with Agent(model=ScriptedModel("a", "never")).session(
        store=store, session_id=name
    ) as session:
        await session.prompt("go")
    saves = await store.load(name)

    with pytest.raises(SessionClosed):
        session.steer("more")
    with pytest.raises(SessionClosed):
        await session.prompt("more")
    assert await store.load(name) == saves


def test_a_stored_session_that_was_left_takes_nothing_more_without_an_event_loop() -> None:
    store, name = MemoryStore(), SessionId("s")
    model = ScriptedModel(Reply.of("abcdefghijklmnopqrstuvw"))
    with Agent(model=model).session_blocking(store=store, session_id=name) as session:
        events = session.stream("go")
        next(events)
    saved = store.load_blocking(name)

    with pytest.raises(SessionClosed):
        session.submit("more")
    events.close()
    assert store.load_blocking(name) == saved


@pytest.mark.parametrize("stored", [False, True])
async def test_whoever_works_on_a_session_that_is_left_is_told_that_it_is_over(
    stored: bool,
) -> None:
    store = MemoryStore() if stored else None
    came = list[TurnResult]()
    with anyio.fail_after(2):
        async with anyio.create_task_group() as group:
            model = ScriptedModel(Reply.of("abc", hangs=True))
            async with Agent(model=model).session(store=store) as session:

                async def prompt() -> None:
                    with pytest.raises(SessionClosed):
                        came.append(await session.prompt("go"))

                group.start_soon(prompt)
                await anyio.sleep(0.02)
            await session.wait_idle()
    assert came == []


def test_of_several_threads_that_prompt_at_once_one_does_and_the_others_are_told() -> None:
    count = 8
    begun, gate = threading.Barrier(count), threading.Event()
    results: list[str] = []

    @tool
    def wait() -> str:
        """Wait until all others have tried."""
        gate.wait(5)
        return ""

    with Agent(model=ScriptedModel(call("wait"), "ok"), tools=[wait]).session_blocking() as session:

        def prompt() -> None:
            begun.wait()
            try:
                session.prompt("go")
                results.append("done")
            except TurnRunning:
                results.append("refused")
                if results.count("refused") == count - 1:
                    gate.set()

        threads = [threading.Thread(target=prompt) for _ in range(count)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    assert sorted(results) == ["done", *["refused"] * (count - 1)]


def test_what_is_taken_back_is_steering_first_and_of_one_lane_if_that_is_wanted() -> None:
    taken: list[list[str]] = []

    @tool
    def look() -> str:
        """Look."""
        session.submit("later")
        session.steer("now")
        taken.append([item.text for item in session.unqueue(Lane.STEER)])
        session.steer("now")
        taken.append([item.text for item in session.unqueue()])
        return ""

    model = ScriptedModel(call("look"), "ok")
    with Agent(model=model, tools=[look]).session_blocking() as session:
        session.prompt("go")
        assert session.unqueue() == ()

    assert taken == [["now"], ["now", "later"]]


def test_an_answer_is_not_looked_at_from_another_thread_while_more_of_it_is_taken_in() -> None:
    looks: list[threading.Thread] = []
    seen: list[SessionView] = []

    def report(envelope: Envelope) -> None:
        if isinstance(envelope.event, ContentDelta):
            look = threading.Thread(target=lambda: seen.append(session.view))
            look.start()
            look.join(0.05)
            looks.append(look)
            assert look.is_alive(), "it looked while the answer was taken in"

    with Agent(model=ScriptedModel(Reply.of("abc"))).session_blocking() as session:
        session.subscribe(report)
        session.prompt("go")
        assert session.view.reporter_failures == 0
        for look in looks:
            look.join(5)
    assert len(looks) == len(seen) > 0


class Shut(ScriptedModel):
    """A model that cannot be opened."""

    def open_blocking(self, session_id: SessionId, /) -> NoReturn:
        raise RuntimeError("no key")


def test_a_model_that_cannot_be_opened_leaves_the_one_that_is_there() -> None:
    model = ScriptedModel("ok", name="first")
    with Agent(model=model).session_blocking() as session:
        with pytest.raises(RuntimeError, match="no key"):
            session.settings.change_model(Shut(name="second"))
        assert session.prompt("go").text == "ok"
    assert [request.model for request in model.requests] == ["first"]
