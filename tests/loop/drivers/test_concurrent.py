"""The concurrent driver, on asyncio and trio: side by side, cancelled, left early, no leftovers."""

import asyncio
import contextvars
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest

from agentkit_core import (
    AgentkitError,
    Item,
    ModelRequest,
    SessionId,
    TextOutput,
    TokenUsage,
    ToolFailure,
    Transcript,
    Usage,
)
from agentkit_core.provider import ModelEvent
from agentkit_loop import (
    Agent,
    Execution,
    Hook,
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
    ModelCallStarted,
    ToolProgress,
    ToolResultReceived,
    TurnFinished,
    TurnStarted,
)
from agentkit_loop.testing import ManualClock, Reply, ScriptedModel, call, fail, say
from agentkit_tools_core import FunctionTool, ToolContext, ToolFacts, ToolInvocation, tool
from support.traces import event_trace

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


# side by side


async def test_async_tools_run_side_by_side_and_results_are_in_call_order() -> None:
    other_done = anyio.Event()

    async def slow() -> str:
        await other_done.wait()
        return "slow"

    async def fast() -> str:
        other_done.set()
        return "fast"

    events: list[Event] = []
    model = ScriptedModel(Reply.of(call("slow", {}, "a"), call("fast", {}, "b")), "done")
    agent = Agent(
        model=model, tools=[named("slow", slow), named("fast", fast)], reporters=[recorded(events)]
    )
    with anyio.fail_after(5):
        result = await agent.run("go")

    told = [one.call_id for one in events if isinstance(one, ToolResultReceived)]
    assert told == ["b", "a"]
    assert [one.call_id for one in result.items[1].tool_results] == ["a", "b"]


async def test_sequential_tools_never_run_at_the_same_time() -> None:
    running = 0

    async def work() -> str:
        nonlocal running
        running += 1
        assert running == 1
        await anyio.lowlevel.checkpoint()
        running -= 1
        return "ok"

    model = ScriptedModel(Reply.of(*(call("work", {}, f"c{at}") for at in range(3))), "done")
    config = LoopConfig(execution=Execution.SEQUENTIAL)
    result = await Agent(model=model, tools=[named("work", work)], config=config).run("go")

    assert [one.is_error for one in result.items[1].tool_results] == [False] * 3


VARIABLE = contextvars.ContextVar("variable", default="unset")


async def test_k07_blocking_tools_run_at_once_and_see_the_callers_context() -> None:
    both = threading.Barrier(2, timeout=30)
    beats = 0

    def nap() -> str:
        both.wait()  # each call waits until the other runs as well
        enough = beats + 5
        while beats < enough:  # and until the event loop has done something meanwhile
            time.sleep(0.005)
        return VARIABLE.get()

    async def beat() -> None:
        nonlocal beats
        while True:
            await anyio.sleep(0.01)
            beats += 1

    VARIABLE.set("caller")
    model = ScriptedModel(Reply.of(call("nap", {}, "a"), call("nap", {}, "b")), "done")
    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        result = await Agent(model=model, tools=[named("nap", nap)]).run("go")
        group.cancel_scope.cancel()

    outputs = [one.output for one in result.items[1].tool_results]
    assert outputs == [TextOutput("caller")] * 2


async def test_l01_a_failing_tool_discards_nothing_of_its_siblings() -> None:
    async def give(value: int) -> int:
        if value == 2:
            raise ValueError("no")
        return value

    model = ScriptedModel(
        Reply.of(*(call("give", {"value": at}, f"c{at}") for at in (1, 2, 3))), "done"
    )
    result = await Agent(model=model, tools=[named("give", give)]).run("go")

    first, second, third = result.items[1].tool_results
    assert (first.is_error, second.is_error, third.is_error) == (False, True, False)
    assert isinstance(second.output, TextOutput)
    assert "ValueError" in second.output.text
    assert "no" in second.output.text
    assert "Traceback" not in second.output.text
    assert result.end is TurnEnd.COMPLETED


class Abort(BaseException):
    """Something that ends more than a call."""


async def test_l02_what_must_end_the_run_stops_siblings_first_and_comes_out_as_it_is() -> None:
    written: list[str] = []
    started = anyio.Event()

    async def abort() -> str:
        await started.wait()
        raise Abort

    async def write() -> str:
        started.set()
        await anyio.sleep(0.05)
        written.append("written")
        return "ok"

    model = ScriptedModel(Reply.of(call("abort", {}, "a"), call("write", {}, "b")), "done")
    agent = Agent(model=model, tools=[named("abort", abort), named("write", write)])
    async with agent.session() as session:
        with pytest.raises(Abort):
            await session.prompt("go")
        assert is_whole(session.transcript)
        assert session.view.phase == "idle"

    await anyio.sleep(0.1)
    assert written == []


async def test_l05_a_made_up_tool_is_answered_and_the_real_one_runs() -> None:
    def search() -> str:
        return "found"

    model = ScriptedModel(Reply.of(call("serch", {}, "a"), call("search", {}, "b")), "done")
    result = await Agent(model=model, tools=[named("search", search)]).run("go")

    wrong, right = result.items[1].tool_results
    assert (wrong.failure, wrong.started) == (ToolFailure.NOT_FOUND, False)
    assert isinstance(wrong.output, TextOutput)
    assert "search" in wrong.output.text
    assert "ermission" not in wrong.output.text
    assert right.output == TextOutput("found")


async def test_progress_of_a_tool_in_a_thread_is_told_before_its_result() -> None:
    def work(context: ToolContext) -> str:
        context.progress("half", {"done": 0.5})
        return "ok"

    events: list[Event] = []
    model = ScriptedModel(call("work"), "done")
    await Agent(model=model, tools=[named("work", work)], reporters=[recorded(events)]).run("go")

    told = [one for one in events if isinstance(one, ToolProgress | ToolResultReceived)]
    assert [type(one) for one in told] == [ToolProgress, ToolResultReceived]
    assert told[0] == ToolProgress(told[0].call_id, "half", {"done": 0.5})


async def test_progress_after_the_end_is_ignored() -> None:
    kept: list[ToolContext] = []

    async def work(context: ToolContext) -> str:
        kept.append(context)
        return "ok"

    events: list[Event] = []
    agent = Agent(
        model=ScriptedModel(call("work"), "done"),
        tools=[named("work", work)],
        reporters=[recorded(events)],
    )
    async with agent.session() as session:
        await session.prompt("go")
        told = len(events)
        kept[0].progress("late")
        assert len(events) == told


async def test_what_is_approved_while_a_sibling_runs_joins_it() -> None:
    joined = anyio.Event()

    async def wait() -> str:
        await anyio.lowlevel.checkpoint()
        session.approve(session.pending_approvals[0].id)
        await joined.wait()
        return "waited"

    async def gated() -> str:
        joined.set()
        return "ran"

    model = ScriptedModel(Reply.of(call("gated", {}, "a"), call("wait", {}, "b")), "done")
    agent = Agent(
        model=model,
        tools=[tool(name="gated", needs_approval=True)(gated), named("wait", wait)],
    )
    async with agent.session() as session:
        with anyio.fail_after(5):
            result = await session.prompt("go")

    assert [one.is_error for one in result.items[1].tool_results] == [False, False]


# cancelling


async def test_cancelling_a_stream_keeps_what_came_and_closes_the_response() -> None:
    model = ScriptedModel(Reply.of("Hello", hangs=True, usage=USED), "again")
    agent = Agent(model=model)
    async with agent.session() as session, anyio.create_task_group() as group:

        async def stop() -> None:
            await until(lambda: session.view.answer and session.view.answer.usage == USED)
            session.cancel()

        group.start_soon(stop)
        with anyio.fail_after(5):
            result = await session.prompt("go")

        assert (result.end, result.text) == (TurnEnd.CANCELLED, "Hello")
        assert result.usage.tokens.input == 7
        assert session.transcript[-1].interrupted
        assert model.open_responses == 0
        assert (await session.prompt("more")).text == "again"


async def test_cancelling_tools_answers_their_calls_and_leaves_nothing_running() -> None:
    ended: list[str] = []

    async def hang() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("hang")
        return "never"

    model = ScriptedModel(
        Reply.of(call("hang", {}, "a"), call("quick", {}, "b"), call("hang", {}, "c"))
    )
    agent = Agent(model=model, tools=[named("hang", hang), named("quick", ok)])
    async with agent.session() as session, anyio.create_task_group() as group:

        async def stop() -> None:
            await until(lambda: session.view.pending_calls == ("a", "c"))
            session.cancel()

        group.start_soon(stop)
        with anyio.fail_after(5):
            result = await session.prompt("go")
        assert ended == ["hang", "hang"]

    a, b, c = result.items[1].tool_results
    assert (a.failure, c.failure) == (ToolFailure.INTERRUPTED, ToolFailure.INTERRUPTED)
    assert b.output == TextOutput("ok")
    assert result.end is TurnEnd.CANCELLED


async def test_a_session_can_be_cancelled_from_another_thread() -> None:
    agent = Agent(model=ScriptedModel(Reply.of("Hel", hangs=True)))
    async with agent.session() as session, anyio.create_task_group() as group:

        async def stop() -> None:
            await until(lambda: session.view.answer)
            await anyio.to_thread.run_sync(session.cancel)

        group.start_soon(stop)
        with anyio.fail_after(5):
            assert (await session.prompt("go")).end is TurnEnd.CANCELLED


async def test_a_sync_tool_sees_that_it_was_cancelled_and_is_not_waited_for() -> None:
    saw = anyio.Event()
    began = anyio.Event()

    def watch(context: ToolContext) -> str:
        anyio.from_thread.run_sync(began.set)
        while not context.cancelled:
            time.sleep(0.005)
        anyio.from_thread.run_sync(saw.set)
        return "late"

    agent = Agent(model=ScriptedModel(call("watch")), tools=[named("watch", watch)])
    async with agent.session() as session, anyio.create_task_group() as group:

        async def stop() -> None:
            await began.wait()
            session.cancel()

        group.start_soon(stop)
        with anyio.fail_after(5):
            assert (await session.prompt("go")).end is TurnEnd.CANCELLED
            await saw.wait()
        assert is_whole(session.transcript)


async def test_a_sync_tool_that_does_not_look_holds_nobody_up() -> None:
    began, release = threading.Event(), threading.Event()

    def stubborn() -> str:
        began.set()
        release.wait(20)
        return "late"

    agent = Agent(model=ScriptedModel(call("stubborn")), tools=[named("stubborn", stubborn)])
    async with agent.session() as session, anyio.create_task_group() as group:

        async def stop() -> None:
            await until(began.is_set)
            session.cancel()

        group.start_soon(stop)
        try:
            result = await session.prompt("go")
            assert not release.is_set()
            assert result.end is TurnEnd.CANCELLED
        finally:
            release.set()


async def test_cancelling_a_back_off_returns_at_once() -> None:
    agent = Agent(model=ScriptedModel(fail(retry_after_s=50.0), "never"))
    async with agent.session() as session, anyio.create_task_group() as group:

        async def stop() -> None:
            await until(lambda: session.view.phase == "backoff")
            session.cancel()

        group.start_soon(stop)
        with anyio.fail_after(5):
            assert (await session.prompt("go")).end is TurnEnd.CANCELLED


@pytest.mark.parametrize("kind", ["model", "one tool", "two tools"])
async def test_k04_a_deadline_from_outside_cancels_the_run_and_leaves_it_whole(kind: str) -> None:
    async def hang() -> str:
        await anyio.sleep_forever()
        return "never"

    first = {
        "model": Reply.of("Hel", hangs=True),
        "one tool": Reply.of(call("hang")),
        "two tools": Reply.of(call("hang", {}, "a"), call("hang", {}, "b")),
    }[kind]
    model = ScriptedModel(first, "fine")
    async with Agent(model=model, tools=[named("hang", hang)]).session() as session:
        with anyio.move_on_after(0.05) as scope:
            await session.prompt("go")

        assert scope.cancelled_caught
        assert session.view.phase == "idle"
        assert is_whole(session.transcript)
        assert model.open_responses == 0
        assert (await session.prompt("again")).text == "fine"


async def test_x09_cancelling_at_any_await_of_a_run_leaves_a_whole_transcript() -> None:
    async def step() -> str:
        await anyio.lowlevel.checkpoint()
        return "ok"

    async def run(stop_at: int | None) -> tuple[int, TurnEnd]:
        model = ScriptedModel(
            Reply.of("one", call("step", {}, "a"), call("step", {}, "b")),
            fail(),
            call("step", {}, "c"),
            "done",
        )
        agent = Agent(
            model=model, tools=[named("step", step)], clock=ManualClock(), jitter=lambda: 1.0
        )
        awaits = 0
        async with agent.session() as session, anyio.create_task_group() as group:

            async def stop() -> None:
                nonlocal awaits
                while stop_at is None or awaits < stop_at:
                    await anyio.lowlevel.checkpoint()
                    awaits += 1
                session.cancel()

            group.start_soon(stop)
            with anyio.fail_after(10):
                result = await session.prompt("go")
            group.cancel_scope.cancel()
            assert is_whole(session.transcript)
            assert session.view.phase == "idle"
            assert model.open_responses == 0
        return awaits, result.end

    total, end = await run(None)
    assert end is TurnEnd.COMPLETED
    assert total > 10

    ends = [(await run(at))[1] for at in range(total)]
    assert ends.count(TurnEnd.CANCELLED) > total // 2


# leaving early


INTERRUPTED = """
import os, signal, sys, anyio
from agentkit_loop import Agent
from agentkit_loop.testing import Reply, ScriptedModel, call
from agentkit_tools_core import tool

# A child of nohup, or of a background job of a shell, inherits that SIGINT is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

@tool
async def wait() -> None:
    await anyio.sleep(20)

@tool
def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)

calls = Reply.of(call("wait", {}, "c1"), call("interrupt", {}, "c2"))
agent = Agent(model=ScriptedModel(calls), tools=[wait, interrupt])
try:
    anyio.run(agent.run, "go", backend=sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself a Ctrl-C there")
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_interrupt_while_tools_run_side_by_side_reaches_the_host_as_itself(backend: str) -> None:
    python = [sys.executable, "-c", INTERRUPTED, backend]
    ran = subprocess.run(python, capture_output=True, text=True, timeout=15, check=False)

    assert ran.stdout == "interrupted\n", ran.stderr


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


# misbehaviour


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


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # trio cannot express it
async def test_a_tool_that_waits_for_something_cancelled_gets_an_error_result() -> None:
    async def odd() -> str:
        raise anyio.get_cancelled_exc_class()

    model = ScriptedModel(Reply.of(call("odd", {}, "a"), call("quick", {}, "b")), "done")
    agent = Agent(model=model, tools=[named("odd", odd), named("quick", ok)])
    with anyio.fail_after(5):
        result = await agent.run("go")

    odd_result, quick = result.items[1].tool_results
    assert odd_result.failure is ToolFailure.INTERRUPTED
    assert not quick.is_error


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


async def test_u08_a_driver_asks_no_more_than_the_limit_allows() -> None:
    model = ScriptedModel(*[call("work")] * 10)
    config = LoopConfig(limits=Limits(max_model_calls=3))
    result = await Agent(model=model, tools=[named("work", ok)], config=config).run("go")

    assert (result.end, result.limit) == (TurnEnd.LIMIT, "max_model_calls")
    assert len(model.requests) == 3


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


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # trio cannot express it
@pytest.mark.parametrize("beside", [[], ["c2"]], ids=["alone", "beside another"])
async def test_a_tool_that_awaits_what_is_cancelled_is_an_error_and_not_the_end_of_the_run(
    beside: list[str], anyio_backend: str
) -> None:
    @tool
    async def wait() -> str:
        """Wait for a task that somebody else cancels."""
        task = asyncio.ensure_future(asyncio.sleep(60))
        asyncio.get_running_loop().call_soon(task.cancel)
        await task
        return "never"

    @tool
    async def nod() -> str:
        """Nod."""
        return "yes"

    calls = [call("wait", call_id="c1"), *(call("nod", call_id=one) for one in beside)]
    agent = Agent(model=ScriptedModel(Reply.of(*calls), say("done")), tools=[wait, nod])
    with anyio.fail_after(5):
        result = await agent.run("go")

    assert result.text == "done"
    failures = [one.failure for one in result.items[1].tool_results]
    assert failures == [ToolFailure.INTERRUPTED, *(None for _ in beside)]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # it is asyncio's own way
async def test_a_host_that_cancels_its_task_by_asyncios_own_means_is_heard(
    anyio_backend: str,
) -> None:
    begun = asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait for ever."""
        begun.set()
        await asyncio.sleep(60)
        return "never"

    model = ScriptedModel(call("wait"), say("done"))
    task = asyncio.ensure_future(Agent(model=model, tools=[wait]).run("go"))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(model.requests) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX's")
async def test_x07_a_tool_that_runs_a_command_is_let_end_all_of_it_before_the_run_goes_on() -> None:
    """A shell's own children live on when it is killed; their whole group has to go."""
    group = anyio.Event()
    groups: list[int] = []

    @tool
    async def shell() -> str:
        """Run a command that never ends, and a child of it that ignores a polite end."""
        command = "trap '' TERM; (trap '' TERM; sleep 300) & echo begun; sleep 300"
        async with await anyio.open_process(
            ["sh", "-c", command], stdin=subprocess.DEVNULL, start_new_session=True
        ) as process:
            try:
                assert process.stdout is not None
                await process.stdout.receive()
                groups.append(process.pid)
                group.set()
                await process.wait()
            finally:
                os.killpg(process.pid, signal.SIGKILL)
                with anyio.CancelScope(shield=True):
                    await process.wait()
        return "never"

    model = ScriptedModel(call("shell"), say("done"))
    async with Agent(model=model, tools=[shell]).session() as session:
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(session.prompt, "go")
                await group.wait()
                session.cancel()

        (result,) = session.transcript[-1].tool_results
        assert result.failure is ToolFailure.INTERRUPTED
        with anyio.fail_after(5):
            while is_alive(groups[0]):
                await anyio.sleep(0.01)


def is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_call_runs_in_the_context_of_whoever_works_and_not_of_who_approves() -> None:
    who = contextvars.ContextVar("who", default="nobody")
    seen: list[str] = []

    @tool(needs_approval=True)
    async def pay() -> str:
        """Pay."""
        seen.append(who.get())
        return "paid"

    @tool
    async def slow() -> str:
        """Take a while."""
        await anyio.sleep(0.03)
        return "slow"

    both = Reply.of(call("pay"), call("slow", {}, "c2"), call("slow", {}, "c3"))
    async with Agent(model=ScriptedModel(both, "ok"), tools=[pay, slow]).session() as session:

        async def approve() -> None:
            who.set("person")
            while not session.pending_approvals:
                await anyio.sleep(0.001)
            session.approve(session.pending_approvals[0].id)

        async with anyio.create_task_group() as group:
            group.start_soon(approve)
            who.set("host")
            await session.prompt("go")

    assert seen == ["host"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("calls", [1, 2])
async def test_a_hook_that_waits_for_what_is_cancelled_does_not_pass_for_a_cancelled_host(
    calls: int,
) -> None:
    class Waits(Hook):
        async def before_tool(self, request: ToolInvocation, facts: ToolFacts, /) -> None:
            task = asyncio.ensure_future(asyncio.sleep(10))
            task.cancel()
            await task

    reply = Reply.of(*(call("quick", {}, f"c{at}") for at in range(calls)))
    agent = Agent(
        model=ScriptedModel(reply, "ok"), tools=[named("quick", lambda: "")], hooks=[Waits()]
    )
    async with agent.session() as session:
        with pytest.raises(RuntimeError, match="cancelled from within"):
            await session.prompt("go")
        assert is_whole(session.transcript)
        assert session.view.turn_id is None
