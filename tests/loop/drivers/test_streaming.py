"""Streams: every event in order, one for each read, and responses that are closed when left."""

import gc
import warnings
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest

from agentkit_core import (
    ModelRequest,
)
from agentkit_core.provider import ModelEvent
from agentkit_loop import (
    Agent,
    TurnEnd,
)
from agentkit_loop.events import (
    ContentDelta,
    Envelope,
    Event,
    ModelCallStarted,
    TurnFinished,
)
from agentkit_loop.testing import ManualClock, Reply, ScriptedModel, call, fail, say
from support.sessions import Misbehaving, named, ok, recorded, until
from support.traces import event_trace


@pytest.mark.parametrize("how", ["aclosing", "raise", "cancel"])
async def test_x04_leaving_a_stream_early_frees_its_response(how: str) -> None:
    model = ScriptedModel(*[Reply.of("Hello there", hangs=True)] * 5, "fine")
    agent = Agent(model=model)

    async def leave() -> None:
        async with aclosing(agent.stream("go")) as events:
            async for event in events:
                if isinstance(event, ContentDelta):
                    if how == "raise":
                        raise RuntimeError("enough")
                    if how == "cancel":
                        await anyio.sleep_forever()
                    return

    for _ in range(5):
        if how == "raise":
            with pytest.raises(RuntimeError, match="enough"):
                await leave()
        elif how == "cancel":
            with anyio.move_on_after(0.02):
                await leave()
        else:
            await leave()
        assert model.open_responses == 0

    assert (await agent.run("go")).text == "fine"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_x04_a_stream_that_is_dropped_without_being_closed_frees_its_response() -> None:
    model = ScriptedModel(Reply.of("Hello there", hangs=True), "fine")
    agent = Agent(model=model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        async for event in agent.stream("go"):
            if isinstance(event, ContentDelta):
                break
        del event
        gc.collect()
        await until(lambda: model.open_responses == 0)

    assert (await agent.run("go")).text == "fine"


async def test_leaving_a_sessions_stream_early_cancels_its_turn() -> None:
    model = ScriptedModel(Reply.of("Hello there", hangs=True), "fine")
    async with Agent(model=model).session() as session:
        async with aclosing(session.stream("go")) as events:
            async for event in events:
                if isinstance(event, ContentDelta):
                    break
        assert session.view.phase == "idle"
        assert model.open_responses == 0
        assert session.transcript[-1].interrupted or len(session.transcript) == 1
        assert (await session.prompt("again")).text == "fine"


async def test_a_stream_can_be_cancelled_from_within_its_loop() -> None:
    model = ScriptedModel(Reply.of("Hello there, you", piece=2, hangs=True))
    async with Agent(model=model).session() as session:
        events: list[Event] = []
        async for event in session.stream("go"):
            events.append(event)
            if len([one for one in events if isinstance(one, ContentDelta)]) == 3:
                session.cancel()
        assert isinstance(events[-1], TurnFinished)
        assert events[-1].result.end is TurnEnd.CANCELLED
        assert model.open_responses == 0


async def test_a_stream_hands_over_every_event_that_reporters_are_told_in_the_same_order() -> None:
    told: list[Event] = []
    model = ScriptedModel(Reply.of("one", call("work", {}, "a"), call("work", {}, "b")), say("two"))
    agent = Agent(model=model, tools=[named("work", ok)], reporters=[recorded(told)])
    streamed = [event async for event in agent.stream("go")]

    assert streamed == told[1:-1]  # the session's own beginning and end are around it
    assert event_trace(streamed).endswith("turn_finished:completed")


async def test_one_network_read_is_one_event() -> None:
    told: list[Event] = []
    reply = Reply.of("a text in pieces", piece=1)
    whole = Reply(batches=(tuple(one for batch in reply.batches for one in batch),))
    result = await Agent(model=ScriptedModel(whole), reporters=[recorded(told)]).run("go")

    assert result.text == "a text in pieces"
    assert sum(isinstance(one, ContentDelta) for one in told) == 1


async def test_nothing_is_told_of_an_answer_after_its_turn_is_over() -> None:
    class Eager(Misbehaving):
        async def respond(self, request: ModelRequest, /) -> AsyncIterator[Sequence[ModelEvent]]:
            for batch in Reply.of("Hello there", piece=1).batches:
                yield batch  # and never waits

    told: list[Event] = []
    async with Agent(model=Eager("")).session() as session:

        def impatient(envelope: Envelope) -> None:
            told.append(envelope.event)
            if isinstance(envelope.event, ContentDelta):
                session.cancel()

        session.subscribe(impatient)
        assert (await session.prompt("go")).end is TurnEnd.CANCELLED

    assert sum(isinstance(one, ContentDelta) for one in told) == 1


async def test_x04_a_response_has_time_to_close_when_its_consumer_is_cancelled() -> None:
    closed: list[str] = []

    class Slow(Misbehaving):
        async def respond(self, request: ModelRequest, /) -> AsyncIterator[Sequence[ModelEvent]]:
            try:
                for batch in Reply.of("Hello").batches:
                    yield batch
            finally:
                await anyio.sleep(0.01)
                closed.append("closed")

    async with Agent(model=Slow("")).session() as session:
        with anyio.move_on_after(0.05):
            async with aclosing(session.stream("go")) as events:
                async for event in events:
                    if isinstance(event, ContentDelta):
                        await anyio.sleep_forever()
        assert closed == ["closed"]


async def test_a_first_delta_is_told_before_the_answer_is_over() -> None:
    released = anyio.Event()

    class Slow(Misbehaving):
        async def respond(self, request: ModelRequest, /) -> AsyncIterator[Sequence[ModelEvent]]:
            *batches, end = Reply.of("Hello", piece=100).batches
            for batch in batches:
                yield batch
            await released.wait()
            yield end

    async with Agent(model=Slow("")).session() as session:
        async for event in session.stream("go"):
            if isinstance(event, ContentDelta):
                released.set()
        assert session.transcript[-1].text == "Hello"


async def test_x03_a_consumer_that_folds_after_each_start_sees_the_text_once() -> None:
    model = ScriptedModel(Reply.of("Hel", failure=fail()), "Hello")
    agent = Agent(model=model, clock=ManualClock(), jitter=lambda: 0.0)
    shown: list[str] = []
    async for event in agent.stream("go"):
        match event:
            case ModelCallStarted():
                shown.append("")
            case ContentDelta(deltas=deltas):
                shown[-1] += "".join(getattr(one, "chunk", "") for one in deltas)
            case _:
                pass

    assert shown == ["Hel", "Hello"]
