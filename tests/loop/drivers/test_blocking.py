"""The blocking driver: no event loop anywhere, and the same transcripts."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, cast

import anyio
import pytest

from agentkit_core import Item, ModelRequest, SessionId, TextOutput, ToolFailure, Transcript
from agentkit_core.provider import ModelEvent
from agentkit_loop import Agent, LoopConfig, ReporterFailed, TurnEnd, WrongModelForm
from agentkit_loop.events import ContentDelta, Envelope, Event, TurnFinished
from agentkit_loop.testing import ManualClock, Reply, Scripted, ScriptedModel, call, fail, say
from agentkit_tools_core import ToolContext, tool
from agentkit_tools_core.sync import NeedsEventLoop

WHOLE_RUN = """
import sys
for name in ("asyncio", "anyio", "trio", "httpx"):
    sys.modules[name] = None  # importing it raises

from agentkit_loop import Agent
from agentkit_loop.testing import ManualClock, Reply, Scripted, ScriptedModel, call, fail, say
from agentkit_tools_core import tool

@tool
def weather(city: str) -> str:
    "Say what the weather is like."
    return f"sunny in {city}"

model = ScriptedModel(
    fail(), Reply.of("Well.", call("weather", {"city": "Rome"})), say("It is sunny.")
)
agent = Agent(model=model, tools=[weather], clock=ManualClock())
print(agent.run_blocking("How is Rome?").text)
with agent.session_blocking() as session:
    print(len(session.snapshot()) > 10)
"""


def test_a_whole_run_imports_no_event_loop() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WHOLE_RUN], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    assert done.stdout.split("\n")[:2] == ["It is sunny.", "True"]


def test_the_kernel_alone_imports_no_event_loop_clock_or_chance() -> None:
    program = """
import sys
import msgspec  # brings what it brings
gone = "asyncio anyio trio httpx threading socket ssl time random select subprocess".split()
for name in gone:
    sys.modules[name] = None  # importing it raises

from agentkit_core import *
from agentkit_core.provider import *
from agentkit_loop import *
from agentkit_loop.events import *
from agentkit_loop.kernel import *
from agentkit_tools_core.sync import NeedsEventLoop

state, _ = start(SessionId("s"), model="m")
state, _ = step(state, Submit((Item.user("hi"),)), 1)
given, told = Continue(), []
for now in range(2, 100):
    state, effects = step(decode_state(encode_state(state)), given, now)
    told += [type(effect.event).__name__ for effect in effects if isinstance(effect, Emit)]
    if state.phase is Phase.IDLE:
        break
    effect = next(iter(state.out.values()))
    match effect:
        case Prepare():
            given = Prepared(effect.id)
        case CallModel():
            call = ToolCall(ToolCallId("c1"), "look")
            answer = Item.assistant("done") if len(state.transcript) > 1 else Item.assistant(call)
            given = ModelResponded(effect.id, ModelResponse(answer))
        case Preflight():
            given = PreflightAllowed(effect.id)
        case StartTool():
            given = ToolDone(effect.id, ToolResult(call_id=effect.call.id, output=TextOutput("x")))
print(state.transcript[-1].text, told[-1], not any(sys.modules[name] for name in gone))
sys.modules.update(dict.fromkeys(gone, sys))  # what Python itself does when it ends
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.returncode) == ("done TurnFinished True\n", 0), done.stderr


@tool
def double(value: int) -> int:
    """Double a number."""
    if value == 3:
        raise ValueError("not three")
    return value * 2


SCRIPTS: dict[str, list[Scripted]] = {
    "text": [say("hello")],
    "a round": [Reply.of("so", call("double", {"value": 1}, "a")), say("2")],
    "two calls, one fails": [
        Reply.of(call("double", {"value": 3}, "a"), call("double", {"value": 4}, "b")),
        say("done"),
    ],
    "bad arguments": [call("double", {"value": "many"}), say("sorry")],
    "no such tool": [call("triple", {"value": 1}), say("sorry")],
    "empty ids": [Reply.of(call("double", {"value": 1}, ""), call("double", {"value": 2}, ""))],
    "a retry": [Reply.of("Hel", failure=fail()), say("Hello")],
    "a failure": [fail(retryable=False)],
    "a script that is too short": [],
}


@pytest.mark.parametrize("name", SCRIPTS)
async def test_both_drivers_come_to_the_same_transcript_and_result(name: str) -> None:
    def agent(events: list[Event]) -> Agent:
        return Agent(
            model=ScriptedModel(*SCRIPTS[name]),
            tools=[double],
            instructions="Be brief.",
            config=LoopConfig(max_parallel=1),  # else the order of events is the event loop's
            clock=ManualClock(1_000),
            jitter=lambda: 0.5,
            reporters=[lambda envelope: events.append(envelope.event)],
        )

    awaited: list[Event] = []
    blocked: list[Event] = []
    async with agent(awaited).session() as session:
        first = await session.prompt("go")
        transcript = session.transcript
    with agent(blocked).session_blocking() as blocking:
        second = blocking.prompt("go")

        assert blocking.transcript == transcript
    assert second == first
    assert blocked == awaited


def test_k03_importing_the_package_loads_only_what_it_is_made_of() -> None:
    program = """
import sys
for name in ("asyncio", "anyio", "ssl", "socket", "http", "httpx", "sqlite3", "opentelemetry"):
    sys.modules[name] = None  # importing it raises
import msgspec
before = {*sys.modules}
import agentkit_loop
print(*sorted({name.partition(".")[0] for name in {*sys.modules} - before}))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name for name in done.stdout.split() if name not in sys.stdlib_module_names}

    assert loaded == {"agentkit_core", "agentkit_loop", "agentkit_tools_core"}


def test_k01_it_works_inside_a_running_event_loop() -> None:
    async def main() -> str:
        return Agent(model=ScriptedModel(say("hello"))).run_blocking("hi").text

    assert asyncio.run(main()) == "hello"


def test_k02_one_agent_serves_many_loops_and_threads_one_after_another() -> None:
    agent = Agent(model=ScriptedModel(*[say("hello")] * 8))

    assert agent.run_blocking("a").text == "hello"
    assert agent.run_blocking("b").text == "hello"
    assert [asyncio.run(agent.run("c")).text for _ in range(3)] == ["hello"] * 3

    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(anyio.run(agent.run, "d").text))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert found == ["hello"] * 2


def test_waits_are_performed_and_take_no_time_on_a_manual_clock() -> None:
    clock = ManualClock()
    model = ScriptedModel(fail(retry_after_s=3.0), say("hello"))
    result = Agent(model=model, clock=clock, jitter=lambda: 1.0).run_blocking("hi")

    assert result.text == "hello"
    assert sum(clock.slept_s) == pytest.approx(3.0)


def test_vl22_a_tool_that_nobody_can_stop_has_timed_out_all_the_same() -> None:
    clock = ManualClock()

    @tool(timeout_s=1)
    def slow() -> str:
        """Take longer than allowed."""
        clock.advance(5)
        return "late"

    result = Agent(model=ScriptedModel(call("slow"), "ok"), tools=[slow], clock=clock).run_blocking(
        "go"
    )

    (told,) = result.items[1].tool_results
    assert told.failure is ToolFailure.TIMED_OUT
    assert "late" not in told.text
    assert result.text == "ok"


def test_vl12_an_async_tool_is_a_mistake_of_the_host_who_is_told() -> None:
    async def later() -> str:
        return "never"

    model = ScriptedModel(call("later"), say("done"))
    with pytest.raises(NeedsEventLoop, match="'later' is asynchronous"):
        Agent(model=model, tools=[tool(later)]).run_blocking("go")
    assert len(model.requests) == 1


def test_a_model_without_a_blocking_form_is_refused_at_once() -> None:
    class OnlyAsync:
        name = "only-async"

        def open(self, session_id: SessionId, /) -> Any:
            raise AssertionError

    with pytest.raises(WrongModelForm, match="open_blocking"):
        Agent(model=cast("Any", OnlyAsync())).run_blocking("go")


async def test_a_model_without_an_async_form_is_refused_at_once() -> None:
    class OnlyBlocking:
        name = "only-blocking"

        def open_blocking(self, session_id: SessionId, /) -> Any:
            raise AssertionError

    with pytest.raises(WrongModelForm, match="run_blocking"):
        await Agent(model=cast("Any", OnlyBlocking())).run("go")


def test_leaving_a_stream_early_frees_its_response() -> None:
    model = ScriptedModel(say("hello there"), say("fine"))
    agent = Agent(model=model)
    with closing(cast("Any", agent.stream_blocking("go"))) as events:
        for event in events:
            if isinstance(event, ContentDelta):
                break
    assert model.open_responses == 0
    assert agent.run_blocking("go").text == "fine"


def test_leaving_a_sessions_stream_early_cancels_its_turn() -> None:
    model = ScriptedModel(say("hello there"), say("fine"))
    with Agent(model=model).session_blocking() as session:
        with closing(cast("Any", session.stream("go"))) as events:
            for event in events:
                if isinstance(event, ContentDelta):
                    break
        assert session.view.phase == "idle"
        assert model.open_responses == 0
        assert session.prompt("again").text == "fine"


def test_a_stream_hands_over_deltas_as_they_come() -> None:
    events: list[Event] = []
    for event in Agent(model=ScriptedModel(say("hello there"))).stream_blocking("go"):
        events.append(event)
        if isinstance(event, ContentDelta):
            assert not any(isinstance(one, TurnFinished) for one in events)

    assert isinstance(events[-1], TurnFinished)


def test_cancelling_from_another_thread_ends_the_turn_at_the_next_read() -> None:
    reading = threading.Event()
    cancelled = threading.Event()

    class Slow:
        name = "slow"

        def open_blocking(self, session_id: SessionId, /) -> "Slow":
            return self

        def respond(self, request: ModelRequest, /) -> Iterator[Sequence[ModelEvent]]:
            first, *rest = Reply.of("Hello there", piece=3).batches
            yield first
            reading.set()
            assert cancelled.wait(5)
            yield from rest

        def close(self) -> None:
            return None

    with Agent(model=Slow()).session_blocking() as session:

        def stop() -> None:
            assert reading.wait(5)
            session.cancel()
            cancelled.set()

        events: list[Event] = []
        session.subscribe(lambda envelope: events.append(envelope.event))
        thread = threading.Thread(target=stop)
        thread.start()
        result = session.prompt("go")
        thread.join(5)

        assert result.end is TurnEnd.CANCELLED
        assert "there" not in result.text
        assert isinstance(events[-1], TurnFinished)


def test_a_tool_sees_that_its_run_was_cancelled_and_its_late_result_is_dropped() -> None:
    saw: list[bool] = []
    events: list[Event] = []

    def work(context: ToolContext) -> str:
        session.cancel()
        saw.append(context.cancelled)
        return "late"

    agent = Agent(model=ScriptedModel(call("work")), tools=[tool(work)])
    with agent.session_blocking() as session:
        session.subscribe(lambda envelope: events.append(envelope.event))
        assert session.prompt("go").end is TurnEnd.CANCELLED
        assert isinstance(events[-1], TurnFinished)
        (result,) = session.transcript[-1].tool_results

    assert saw == [True]
    assert result.output != TextOutput("late")


class Interrupt(BaseException):
    """Like a KeyboardInterrupt, which a test must not raise."""


@pytest.mark.parametrize("where", ["tool", "model"])
def test_an_interrupt_leaves_the_session_whole_and_usable(where: str) -> None:
    def work() -> str:
        raise Interrupt

    def broken(request: ModelRequest) -> Reply:
        raise Interrupt

    first: Scripted = broken if where == "model" else call("work")
    agent = Agent(model=ScriptedModel(first, say("fine")), tools=[tool(work)])
    with agent.session_blocking() as session:
        with pytest.raises(Interrupt):
            session.prompt("go")
        assert Transcript(session.transcript).open_calls == ()
        assert session.view.phase == "idle"
        assert session.prompt("again").text == "fine"


def test_a_reporter_that_fails_fast_stops_the_turn() -> None:
    def strict(envelope: Envelope) -> None:
        if isinstance(envelope.event, ContentDelta):
            raise ReporterFailed("disk full")

    model = ScriptedModel(say("hello"), say("fine"))
    with Agent(model=model).session_blocking() as session:
        leave = session.subscribe(strict)
        with pytest.raises(ReporterFailed):
            session.prompt("go")
        leave()
        assert model.open_responses == 0
        assert session.view.phase == "idle"
        assert session.prompt("again").text == "fine"


def test_a_history_is_gone_on_with_and_left_alone() -> None:
    history = [Item.user("before"), Item.assistant("ok")]
    model = ScriptedModel(say("hello"))
    result = Agent(model=model, config=LoopConfig()).run_blocking("go", history=history)

    assert [item.text for item in model.requests[0].items] == ["before", "ok", "go"]
    assert [item.text for item in result.items] == ["hello"]
    assert history == [Item.user("before"), Item.assistant("ok")]
