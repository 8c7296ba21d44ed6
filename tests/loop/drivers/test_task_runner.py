"""Calls that run concurrently: order, contexts, siblings that fail, approvals meanwhile."""

import asyncio
import contextvars
import os
import signal
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
    Execution,
    Hook,
    LoopConfig,
    TurnEnd,
)
from agentkit_loop.events import (
    Event,
    ToolProgress,
    ToolResultReceived,
)
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import ToolContext, ToolFacts, ToolInvocation, tool
from support.sessions import is_whole, named, ok, recorded


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
