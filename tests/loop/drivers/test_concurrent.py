"""The concurrent driver: models that break their contract, reporters that fail, two runs."""

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest

from agentkit_core import (
    AgentkitError,
    Item,
    ModelRequest,
)
from agentkit_loop import (
    Agent,
    Limits,
    LoopConfig,
    ReporterFailed,
    TurnEnd,
    TurnRunning,
)
from agentkit_loop.events import (
    ContentDelta,
    Envelope,
    Event,
    ToolResultReceived,
    TurnStarted,
)
from agentkit_loop.testing import ManualClock, Reply, ScriptedModel, call, say
from support.sessions import Misbehaving, is_whole, named, ok, recorded, until
from support.traces import event_trace


@pytest.mark.parametrize("when", ["raises at once", "raises later", "ends without an end"])
async def test_a_model_that_breaks_its_contract_fails_the_turn_and_nothing_else(
    when: str, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agent(model=Misbehaving(when), clock=ManualClock())
    result = await agent.run("go")

    assert result.end is TurnEnd.ERROR
    assert result.failure is not None
    if when.startswith("raises"):
        assert "provider exploded" in result.failure.message
        assert result.failure.message.startswith("the model's code raised RuntimeError")
        assert "in respond" in caplog.text, "the log says where"


class NoKey(AgentkitError):
    """A mistake of the host."""


def without_key(request: ModelRequest) -> str:
    raise NoKey("no key for 'scripted': set SCRIPTED_KEY")


async def test_a_mistake_of_the_host_is_raised_and_the_session_can_go_on() -> None:
    model = ScriptedModel(without_key, say("Hello."))
    async with Agent(model=model).session() as session:
        with pytest.raises(NoKey, match="SCRIPTED_KEY"):
            await session.prompt("Hi")

        assert is_whole(session.transcript)
        assert (await session.prompt("Hi again")).text == "Hello."
    assert model.open_responses == 0


def test_a_mistake_of_the_host_is_raised_without_an_event_loop_too() -> None:
    with pytest.raises(NoKey, match="SCRIPTED_KEY"):
        Agent(model=ScriptedModel(without_key)).run_blocking("Hi")


async def test_reporters_that_fail_fast_stop_the_run_and_the_transcript_is_whole() -> None:
    def strict(envelope: Envelope) -> None:
        if isinstance(envelope.event, ContentDelta):
            raise ReporterFailed("disk full")

    model = ScriptedModel(Reply.of("Hello", hangs=True))
    async with Agent(model=model).session() as session:
        session.subscribe(strict)
        with anyio.fail_after(5), pytest.raises(ReporterFailed, match="disk full"):
            await session.prompt("go")
        assert session.view.phase == "idle"
        assert model.open_responses == 0


async def test_reporters_that_fail_fast_stop_tools_that_run_side_by_side() -> None:
    ended: list[str] = []

    async def hang() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("hang")
        return "never"

    def strict(envelope: Envelope) -> None:
        if isinstance(envelope.event, ToolResultReceived):
            raise ReporterFailed("disk full")

    model = ScriptedModel(Reply.of(call("hang", {}, "a"), call("quick", {}, "b")))
    agent = Agent(
        model=model,
        tools=[named("hang", hang), named("quick", ok)],
        reporters=[strict],
    )
    with anyio.fail_after(5), pytest.raises(ReporterFailed, match="disk full"):
        await agent.run("go")
    assert ended == ["hang"]


async def test_o03_a_broken_reporter_changes_nothing_of_a_run() -> None:
    def broken(envelope: Envelope) -> None:
        raise OSError("no space left")

    told: list[Envelope] = []
    agent = Agent(model=ScriptedModel("hello"), reporters=[broken, told.append])
    async with agent.session() as session:
        assert (await session.prompt("go")).text == "hello"
        assert session.view.reporter_failures == len(told)

    assert [one.seq for one in told] == list(range(1, len(told) + 1))


async def test_a_reporter_may_act_on_the_session() -> None:
    model = ScriptedModel(Reply.of("Hello", piece=1, hangs=True))
    told: list[Event] = []
    async with Agent(model=model).session() as session:

        def impatient(envelope: Envelope) -> None:
            if isinstance(envelope.event, ContentDelta):
                session.cancel()

        session.subscribe(impatient)
        session.subscribe(recorded(told))
        with anyio.fail_after(5):
            assert (await session.prompt("go")).end is TurnEnd.CANCELLED

    assert event_trace(told).startswith(
        "input_queued:next turn_started +user model_call_started content_delta model_call_finished"
    )
    assert sum(isinstance(one, ContentDelta) for one in told) == 1


async def test_what_a_reporter_does_comes_after_the_step_that_it_is_told_of() -> None:
    told: list[Event] = []
    async with Agent(model=ScriptedModel("one", "two")).session() as session:

        def eager(envelope: Envelope) -> None:
            told.append(envelope.event)
            if isinstance(envelope.event, TurnStarted):
                session.steer("S")

        session.subscribe(eager)
        assert (await session.prompt("go")).text == "two"

    assert event_trace(told).startswith(
        "input_queued:next turn_started +user model_call_started input_queued:steer"
    )


async def test_the_first_failure_of_a_strict_reporter_is_the_one_to_be_raised() -> None:
    def strict(envelope: Envelope) -> None:
        raise ReporterFailed(f"at {envelope.seq}")

    agent = Agent(model=ScriptedModel("hello"), reporters=[strict])
    with pytest.raises(ReporterFailed, match="at 1"):
        await agent.run("go")
    with pytest.raises(ReporterFailed, match="at 1"):
        agent.run_blocking("go")


async def test_two_tasks_cannot_work_on_one_session_at_once() -> None:
    agent = Agent(model=ScriptedModel(Reply.of("x", hangs=True)))
    async with agent.session() as session, anyio.create_task_group() as group:
        group.start_soon(session.prompt, "go")
        await until(lambda: session.view.turn_id)
        with pytest.raises(TurnRunning):
            await session.prompt("me too")
        with pytest.raises(TurnRunning):
            await session.next()
        session.cancel()


async def test_l12_runs_of_one_agent_at_once_know_nothing_of_each_other() -> None:
    def double(request: ModelRequest) -> str:
        return request.items[-1].text * 2

    history = [Item.user("before"), Item.assistant("ok")]
    kept = list(history)
    agent = Agent(model=ScriptedModel(double, double, double))
    found: dict[str, str] = {}

    async def ask(text: str) -> None:
        found[text] = (await agent.run(text, history=history)).text

    async with anyio.create_task_group() as group:
        for text in ("a", "b", "c"):
            group.start_soon(ask, text)

    assert found == {"a": "aa", "b": "bb", "c": "cc"}
    assert history == kept


async def test_u08_a_driver_asks_no_more_than_the_limit_allows() -> None:
    model = ScriptedModel(*[call("work")] * 10)
    config = LoopConfig(limits=Limits(max_model_calls=3))
    result = await Agent(model=model, tools=[named("work", ok)], config=config).run("go")

    assert (result.end, result.limit) == (TurnEnd.LIMIT, "max_model_calls")
    assert len(model.requests) == 3
