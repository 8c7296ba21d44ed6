"""Background calls under both drivers: they outlive turns, and nothing outlives the session."""

import asyncio
from typing import Any

import anyio
import pytest
import trio

from agentkit_core import ItemKind
from agentkit_loop import (
    Agent,
    AwaitingInput,
    BackgroundDone,
    Finished,
    Limits,
    LoopConfig,
    Session,
    TurnEnd,
    UnknownCall,
    WaitingForApproval,
)
from agentkit_loop.events import Event, ToolDetached, ToolResultReceived, TurnFinished
from agentkit_loop.testing import Reply, ScriptedModel, call
from agentkit_tools_core import ToolContext, tool

RAN: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


@tool(detach_after_s=0)
async def job(name: str = "j") -> str:
    """Do a long job."""
    try:
        await anyio.sleep(0.03)
    finally:
        RAN.append(f"end {name}")
    return f"did {name}"


@tool(detach_after_s=0)
def job_at_once() -> str:
    """Do a job."""
    RAN.append("ran")
    return "did it"


@tool(detach_after_s=0.02, timeout_s=0.06)
async def stuck() -> str:
    """Never end."""
    await anyio.sleep(60)
    return "never"


@tool
async def quick() -> str:
    """Be quick."""
    return "quick"


def tasks() -> int:
    """How many tasks there are on the event loop that runs."""
    if asyncio._get_running_loop() is not None:
        return len(asyncio.all_tasks())
    return trio.lowlevel.current_statistics().tasks_living


def in_the_background(session: Session) -> list[str]:
    return list(session.view.background_calls)


def agent(*script: Any, **more: Any) -> Agent:
    return Agent(model=ScriptedModel(*script), tools=[job, job_at_once, stuck, quick], **more)


async def test_the_turn_goes_on_and_the_next_one_tells_the_model() -> None:
    one = agent(Reply.of(call("job"), call("quick", {}, "c2")), "meanwhile", "so it is done")
    async with one.session() as session:
        result = await session.prompt("go")
        placeholder, plain = result.items[1].tool_results
        assert "background" in placeholder.output.text
        assert not placeholder.is_error
        assert plain.output.text == "quick"
        assert in_the_background(session) == ["c1"]
        assert RAN == []

        await session.wait_background()
        assert in_the_background(session) == []
        result = await session.prompt("and?")

        notice, said = session.transcript[-3:-1]
        assert notice.kind is ItemKind.NOTIFICATION
        assert "c1" in notice.text
        assert "did j" in notice.text
        assert said.text == "and?"
        assert result.text == "so it is done"


@pytest.mark.parametrize("first", ["good", "bad"])
async def test_two_are_told_of_in_the_order_in_which_they_end_though_one_fails(first: str) -> None:
    gates = {"good": anyio.Event(), "bad": anyio.Event()}

    @tool(detach_after_s=0)
    async def wait(name: str) -> str:
        """Wait to be let go."""
        await gates[name].wait()
        if name == "bad":
            raise ValueError("no luck")
        return "luck"

    both = Reply.of(call("wait", {"name": "good"}, "g"), call("wait", {"name": "bad"}, "b"))
    async with Agent(model=ScriptedModel(both, "meanwhile", "ok"), tools=[wait]).session() as one:
        events: list[Event] = []
        one.subscribe(lambda envelope: events.append(envelope.event))
        await one.prompt("go")
        order = [first, *({"good", "bad"} - {first})]
        for name in order:
            gates[name].set()
            await one.wait_background()
        await one.prompt("and?")

        texts = {"good": "Background call g of wait is done:\nluck", "bad": "ValueError: no luck"}
        notices = [item.text for item in one.transcript if item.kind is ItemKind.NOTIFICATION]
        assert len(notices) == 2
        assert all(texts[name] in text for name, text in zip(order, notices, strict=True))
        ended = [event for event in events if isinstance(event, ToolResultReceived)]
        assert [event.call_id for event in ended] == [name[0] for name in order]


async def test_next_waits_for_nothing_that_is_in_the_background() -> None:
    async with agent(call("job"), "meanwhile").session() as session:
        await session.prompt("go")
        with anyio.fail_after(1):
            assert await session.next() == AwaitingInput()
        assert RAN == []


async def test_run_waits_for_it_where_the_model_is_to_go_on_with_it() -> None:
    config = LoopConfig(background_done=BackgroundDone.CONTINUE)
    events: list[Event] = []
    one = agent(
        call("job"), "meanwhile", "done", config=config,
        reporters=[lambda envelope: events.append(envelope.event)],
    )  # fmt: skip

    result = await one.run("go")

    assert result.text == "done"
    assert sum(isinstance(event, ToolDetached) for event in events) == 1
    received = [event for event in events if isinstance(event, ToolResultReceived)]
    assert [event.background for event in received] == [True]


async def test_nothing_outlives_the_session() -> None:
    before = tasks()
    async with agent(call("job"), "meanwhile").session() as session:
        await session.prompt("go")
        assert session.view.background_calls == ("c1",)
        assert tasks() == before + 1

    assert RAN == ["end j"]
    assert tasks() == before


async def test_what_the_host_raises_comes_out_as_it_is() -> None:
    async def fail() -> None:
        async with agent(call("job"), "meanwhile").session() as session:
            await session.prompt("go")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert RAN == ["end j"]


async def test_a_deadline_of_the_hosts_ends_the_session_and_its_jobs() -> None:
    with anyio.CancelScope() as scope:
        async with agent(call("job"), "meanwhile").session() as session:
            await session.prompt("go")
            scope.deadline = anyio.current_time() + 0.01
            await anyio.sleep(60)
    assert scope.cancelled_caught
    assert RAN == ["end j"]


async def test_cancelling_the_turn_leaves_it_and_cancelling_the_call_ends_it() -> None:
    one = agent(Reply.of(call("job"), call("stuck", {}, "c2")), "never", "told")
    async with one.session() as session:
        async with anyio.create_task_group() as group:

            async def stop() -> None:
                while "c1" not in session.view.background_calls:
                    await anyio.sleep(0)
                session.cancel()

            group.start_soon(stop)
            result = await session.prompt("go")
        assert result.end is TurnEnd.CANCELLED
        assert in_the_background(session) == ["c1"]

        session.cancel_call(session.view.background_calls[0])
        assert in_the_background(session) == []
        with pytest.raises(UnknownCall):
            session.cancel_call(result.items[0].tool_calls[0].id)
        await anyio.sleep(0.01)
        assert RAN == ["end j"]


async def test_a_call_detaches_after_a_while_and_is_stopped_by_its_timeout() -> None:
    async with agent(call("stuck"), "meanwhile", "told").session() as session:
        result = await session.prompt("go")
        assert "background" in result.items[1].tool_results[0].output.text
        await session.wait_background()
        step = await session.next()
        while not isinstance(step, Finished):
            step = await session.next()

        assert "failed" in session.transcript[-2].text
        assert "stopped after" in session.transcript[-2].text


async def test_a_background_call_may_ask_and_no_turn_waits_for_it() -> None:
    @tool(detach_after_s=0)
    async def asks(context: ToolContext) -> str:
        """Ask."""
        answer = context.ask("Which one?")
        return f"took {answer}"

    model = ScriptedModel(call("asks"), "meanwhile", "told")
    async with Agent(model=model, tools=[asks]).session() as session:
        result = await session.prompt("go")
        assert result.text == "meanwhile"
        await session.wait_background()
        step = await session.next()
        assert isinstance(step, WaitingForApproval)
        assert step.background == (step.requests[0].call.id,)
        session.approve(step.requests[0].id, answer="the left")
        await session.wait_background()
        await session.prompt("and?")

        assert "took the left" in session.transcript[-3].text


async def test_in_a_stream_it_is_waited_for() -> None:
    events = [event async for event in agent(call("job"), "meanwhile").stream("go")]

    assert RAN == ["end j"]
    assert sum(isinstance(event, ToolDetached) for event in events) == 1


def test_without_an_event_loop_it_runs_at_once_and_the_model_is_told_the_same() -> None:
    one = agent(call("job_at_once"), "meanwhile", "told")
    with one.session_blocking() as session:
        assert session.prompt("go").text == "meanwhile"
        assert RAN == ["ran"]
        assert session.prompt("and?").text == "told"
        kinds = [item.kind.value for item in session.transcript]
        assert kinds == [
            "user", "assistant", "tool", "assistant", "notification", "user", "assistant",
        ]  # fmt: skip


async def test_sessions_at_once_keep_their_own_jobs() -> None:
    one = agent(*[call("job"), "meanwhile"] * 10, config=LoopConfig(limits=Limits()))

    async def talk() -> None:
        async with one.session() as session:
            await session.prompt("go")
            await session.wait_background()

    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(talk)
    assert len(RAN) >= 1


async def test_events_go_on_where_the_model_is_to_go_on_with_it() -> None:
    config = LoopConfig(background_done=BackgroundDone.CONTINUE)
    events = [event async for event in agent(call("job"), "so", "done", config=config).stream("go")]

    ends = [event.result.text for event in events if isinstance(event, TurnFinished)]
    assert ends == ["so", "done"]
    assert RAN == ["end j"]


async def test_events_end_where_what_was_to_be_gone_on_with_is_not_any_more() -> None:
    config = LoopConfig(background_done=BackgroundDone.CONTINUE)
    async with agent(call("job"), "so", config=config).session() as session:
        with anyio.fail_after(2):
            async for event in session.stream("go"):
                if isinstance(event, TurnFinished):
                    session.settings.config = LoopConfig()
        assert in_the_background(session) == ["c1"]


async def test_a_group_of_exceptions_comes_out_of_a_session_as_it_went_in() -> None:
    with pytest.raises(ExceptionGroup) as raised:
        async with agent().session():
            raise ExceptionGroup("two", [ValueError("a"), TypeError("b")])

    assert [type(one) for one in raised.value.exceptions] == [ValueError, TypeError]


async def test_what_is_said_after_the_kernel_began_a_turn_by_itself_comes_after_that_turn() -> None:
    config = LoopConfig(background_done=BackgroundDone.CONTINUE)
    model = ScriptedModel(call("job"), "meanwhile", "so it is done", "yes")
    async with Agent(model=model, tools=[job], config=config).session() as session:
        session.submit("go")
        await session.next()
        await session.wait_background()
        assert session.view.is_running, "the kernel goes on with what came of the call"

        result = await session.prompt("and?")

        assert result.text == "yes"
        assert [item.text for item in session.transcript if item.kind == "assistant"] == [
            "", "meanwhile", "so it is done", "yes",
        ]  # fmt: skip


async def test_a_cancelled_turn_is_not_gone_on_with_when_a_background_call_is_over() -> None:
    config = LoopConfig(background_done=BackgroundDone.CONTINUE)
    model = ScriptedModel(call("job"), Reply.of("Hel", hangs=True))
    async with Agent(model=model, tools=[job], config=config).session() as session:
        async with anyio.create_task_group() as group:

            async def stop() -> None:
                while not model.open_responses:
                    await anyio.sleep(0)
                session.cancel()

            group.start_soon(stop)
            with anyio.fail_after(5):
                result = await session.prompt("go")

        assert result.end is TurnEnd.CANCELLED
        assert RAN == [], "it did not wait for the call"
