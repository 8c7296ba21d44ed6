"""Threads of sync tools: one that was given up holds up nothing, up to the end of the process."""

import contextvars
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest

from agentkit_core import SessionId, ToolFailure
from agentkit_loop import Agent, Session, SessionClosed, TurnEnd
from agentkit_loop.drivers._tool_threads import run_in_tool_thread
from agentkit_loop.events import Diagnostic, Envelope
from agentkit_loop.stores import FileStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import FunctionTool, ToolContext, tool

BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])
MANY = 45
"""More than the threads that may run at the same time."""


@pytest.fixture
def freed() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def hanging(freed: threading.Event, **options: Any) -> FunctionTool[..., Any]:
    @tool(**options)
    def hang(context: ToolContext) -> str:
        """Hang."""
        freed.wait(20)
        return "late"

    return hang


@tool
def quick() -> str:
    """Be quick."""
    return "quick"


def many_calls(name: str = "hang") -> Reply:
    return Reply.of(*[call(name, {}, f"c{at}") for at in range(MANY)])


async def can_be_quick() -> bool:
    with anyio.move_on_after(5):
        turn = await Agent(model=ScriptedModel(call("quick"), say("x")), tools=[quick]).run("go")
        return turn.items[1].tool_results[0].text == "quick"
    return False


async def stop_soon(session: Session, how: str) -> None:
    await anyio.sleep(0.1)
    if how == "cancel":
        session.cancel()
    else:
        await session.close()


@pytest.mark.parametrize("how", ["timeout", "background", "child", "cancel", "deadline", "close"])
async def test_vl15_other_tools_get_a_thread_however_the_hanging_ones_were_given_up(
    how: str, freed: threading.Event
) -> None:
    hang = hanging(
        freed,
        timeout_s=0.02 if how in ("timeout", "child") else None,
        detach_after_s=0 if how == "background" else None,
    )

    @tool
    async def outer(context: ToolContext) -> str:
        """Call the tool that hangs."""
        return (await context.call("hang")).text

    name = "outer" if how == "child" else "hang"
    agent = Agent(model=ScriptedModel(many_calls(name), say("x")), tools=[hang, outer])
    with anyio.fail_after(10):
        async with agent.session() as session, anyio.create_task_group() as group:
            if how == "deadline":
                group.cancel_scope.deadline = anyio.current_time() + 0.1
            elif how in ("cancel", "close"):
                group.start_soon(stop_soon, session, how)
            with suppress(SessionClosed):
                await session.prompt("go")
            if how == "background":  # the calls go on: nobody has given them up
                assert await can_be_quick()
        assert await can_be_quick()

        assert await can_be_quick()


async def test_vl15_a_store_gets_its_thread_while_tools_hang(
    tmp_path: Path, freed: threading.Event
) -> None:
    model = ScriptedModel(many_calls(), say("x"))
    agent = Agent(model=model, tools=[hanging(freed, timeout_s=0.05)])

    with anyio.fail_after(10):
        async with agent.session(session_id=SessionId("s"), store=FileStore(tmp_path)) as session:
            turn = await session.prompt("go")

    assert {result.failure for result in turn.items[1].tool_results} == {ToolFailure.TIMED_OUT}


@BACKENDS
def test_vl15_the_process_ends(backend: str) -> None:
    code = f"""
import threading
import anyio
from agentkit_loop import Agent
from agentkit_loop.testing import ScriptedModel, call, say
from agentkit_tools_core import tool

async def main():
    for options in {{"timeout_s": 0.02}}, {{"detach_after_s": 0}}, {{}}:
        @tool(**options)
        def hang() -> str:
            "Hang."
            threading.Event().wait(60)

        with anyio.move_on_after(None if options else 0.05):
            await Agent(model=ScriptedModel(call("hang"), say("x")), tools=[hang]).run("go")
    print("over", flush=True)

anyio.run(main, backend={backend!r})
"""
    done = subprocess.run(
        [sys.executable, "-c", code], timeout=30, capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr, done.returncode) == ("over\n", "", 0)


@pytest.mark.parametrize("late", ["value", "error", "exit"])
async def test_vl15_what_comes_late_is_dropped_and_told_once(
    late: str, freed: threading.Event
) -> None:
    ended = anyio.Event()
    loop = anyio.lowlevel.current_token()
    told: list[Envelope] = []

    @tool(timeout_s=0.2)  # the thread has to begin within it, on a busy machine too
    def hang() -> str:
        """Hang."""
        freed.wait(20)
        anyio.from_thread.run_sync(ended.set, token=loop)
        if late == "value":
            return "late"
        raise RuntimeError("late") if late == "error" else SystemExit(3)

    model = ScriptedModel(Reply.of(call("hang", {}, "c1"), call("quick", {}, "c2")), say("x"))
    agent = Agent(model=model, tools=[hang, quick], reporters=[told.append])
    async with agent.session() as session:
        turn = await session.prompt("go")
        freed.set()
        with anyio.fail_after(5):
            await ended.wait()
        await anyio.sleep(0.01)
        assert (await session.prompt("more")).end is TurnEnd.ERROR  # the script is at its end

    results = turn.items[1].tool_results
    assert [result.failure for result in results] == [ToolFailure.TIMED_OUT, None]
    diagnostics = [told_of.event for told_of in told if isinstance(told_of.event, Diagnostic)]
    (diagnostic,) = diagnostics
    assert "'c1' of hang" in diagnostic.message


async def test_vl15_a_tool_that_runs_an_inner_agent_of_its_own_is_given_up_too(
    freed: threading.Event,
) -> None:
    inner = Agent(model=ScriptedModel(call("hang"), say("x")), tools=[hanging(freed)])
    outer = Agent(
        model=ScriptedModel(many_calls("inner"), say("x")),
        tools=[inner.as_tool("inner", "Works.", blocking=True)],
    )

    with anyio.fail_after(10), anyio.move_on_after(0.1):
        await outer.run("go")

    assert await can_be_quick()


async def run_now(function: Any) -> Any:
    return await run_in_tool_thread(function, is_limited=True, on_given_up=lambda: None)


async def test_a_function_in_a_thread_sees_a_copy_of_the_context() -> None:
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("outer")

    def read_and_write() -> str:
        seen = variable.get()
        variable.set("inner")
        return seen

    assert await run_now(read_and_write) == "outer"
    assert variable.get() == "outer"


@BACKENDS
async def test_a_function_in_a_thread_can_run_an_event_loop(backend: str) -> None:
    async def double(number: int) -> int:
        await anyio.sleep(0)
        return 2 * number

    assert await run_now(partial(anyio.run, double, 4, backend=backend)) == 8


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(2), KeyboardInterrupt()])
async def test_what_a_function_raises_in_a_thread_is_raised(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        await run_now(fail)
    assert raised.value is error


async def test_no_more_functions_run_at_the_same_time_than_anyio_allows() -> None:
    lock, running, most = threading.Lock(), 0, 0

    def count() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.001)
        with lock:
            running -= 1

    async with anyio.create_task_group() as group:
        for _ in range(100):
            group.start_soon(run_now, count)

    allowed = anyio.to_thread.current_default_thread_limiter().total_tokens
    assert 1 <= most <= allowed


async def test_a_function_does_not_begin_in_a_task_that_is_cancelled() -> None:
    began: list[bool] = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        await run_now(lambda: began.append(True))

    assert scope.cancelled_caught
    assert not began
