"""Cancelling by the host, a deadline or a signal: what came is kept, and nothing runs on."""

import asyncio
import subprocess
import sys
import threading
import time

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest

from agentkit_core import (
    TextOutput,
    ToolFailure,
)
from agentkit_loop import (
    Agent,
    TurnEnd,
)
from agentkit_loop.testing import ManualClock, Reply, ScriptedModel, call, fail, say
from agentkit_tools_core import ToolContext, tool
from support.sessions import USED, is_whole, named, ok, until


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
    loop = anyio.lowlevel.current_token()

    def watch(context: ToolContext) -> str:
        anyio.from_thread.run_sync(began.set, token=loop)
        while not context.cancelled:
            time.sleep(0.005)
        anyio.from_thread.run_sync(saw.set, token=loop)
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
