"""Tasks of a turn: events of tools reach a stream while they run, and answers are fed together."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from agentkit_core import ToolCallId
from agentkit_loop import Agent, TurnEnd
from agentkit_loop.drivers import _engine
from agentkit_loop.events import (
    Event,
    ToolProgress,
    ToolResultReceived,
    TurnFinished,
)
from agentkit_loop.kernel import Input
from agentkit_loop.kernel._step import step_all
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import FunctionTool, ToolContext, tool


@tool
async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@tool(name="add", inline=True)
def add_at_once(a: int, b: int) -> str:
    """Add two numbers, without waiting."""
    return str(a + b)


def calls(name: str, count: int) -> Reply:
    return Reply.of(*[call(name, {}, f"c{at}") for at in range(count)])


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("count", [1, 2])
async def test_vl17_a_stream_has_the_progress_of_a_tool_while_it_runs(
    count: int, stored: bool
) -> None:
    heard: dict[str, anyio.Event] = {f"c{at}": anyio.Event() for at in range(count)}

    @tool
    async def work(context: ToolContext) -> str:
        """Work, and tell how far."""
        context.progress("half")
        with anyio.move_on_after(5):
            await heard[context.request.call_id].wait()
            return "heard in time"
        return "heard by nobody"

    store = MemoryStore() if stored else None
    agent = Agent(model=ScriptedModel(calls("work", count), say("x")), tools=[work])
    async with agent.session(store=store) as session:
        async for event in session.stream("go"):
            if isinstance(event, ToolProgress):
                heard[event.call_id].set()
            if isinstance(event, TurnFinished):
                results = event.result.items[1].tool_results
    assert [result.text for result in results] == ["heard in time"] * count


async def test_vl17_a_stream_has_the_result_of_a_tool_while_others_run() -> None:
    first_is_over = anyio.Event()

    @tool
    async def quick() -> str:
        """Return at once."""
        return "quick"

    @tool
    async def slow() -> str:
        """Wait for the other one."""
        with anyio.fail_after(5):
            await first_is_over.wait()
        return "slow"

    model = ScriptedModel(Reply.of(call("slow", {}, "c1"), call("quick", {}, "c2")), say("x"))
    results: list[ToolCallId] = []
    async for event in Agent(model=model, tools=[quick, slow]).stream("go"):
        if isinstance(event, ToolResultReceived):
            results.append(event.call_id)
            first_is_over.set()
    assert results == ["c2", "c1"]


@pytest.mark.parametrize("count", [1, 3])
async def test_vl17_tools_go_on_while_the_reader_of_a_stream_does_something_else(
    count: int,
) -> None:
    over: list[str] = []

    @tool
    async def work(context: ToolContext) -> str:
        """Work, and tell that it has begun."""
        context.progress("begun")
        await anyio.lowlevel.checkpoint()
        over.append("over")
        return "done"

    model = ScriptedModel(calls("work", count), say("x"))
    async for event in Agent(model=model, tools=[work]).stream("go"):
        if isinstance(event, ToolProgress):
            with anyio.fail_after(5):
                while len(over) < count:
                    await anyio.lowlevel.checkpoint()
        if isinstance(event, TurnFinished):
            assert event.result.end is TurnEnd.COMPLETED
    assert len(over) == count


@pytest.mark.parametrize("swallows", [False, True])
@pytest.mark.parametrize("count", [1, 3])
async def test_leaving_a_stream_while_tools_run_waits_for_their_end(
    count: int, swallows: bool
) -> None:
    ended: list[str] = []

    @tool
    async def hang(context: ToolContext) -> str:
        """Hang."""
        context.progress("begun")
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            ended.append("ended")
            if not swallows:
                raise
        return "swallowed"

    model = ScriptedModel(calls("hang", count), "fine")
    async with Agent(model=model, tools=[hang]).session() as session:
        async with aclosing(session.stream("go")) as events:
            async for event in events:
                if isinstance(event, ToolProgress):
                    break
        assert len(ended) == count
        results = session.transcript[-1].tool_results
        assert [result.is_error for result in results] == [True] * count
        assert (await session.prompt("go on")).text == "fine"


@pytest.mark.parametrize("adder", [add, add_at_once], ids=["async", "inline"])
@pytest.mark.parametrize("how", ["run", "stream"])
async def test_what_tools_return_together_is_fed_in_one_step(
    how: str, adder: FunctionTool[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[int] = []

    def counted(state: Any, inputs: Sequence[Input], now: int) -> Any:
        steps.append(len(inputs))
        return step_all(state, inputs, now)

    monkeypatch.setattr(_engine, "step_all", counted)

    async def work(count: int) -> int:
        made = [call("add", {"a": at, "b": 1}, f"c{at}") for at in range(count)]
        agent = Agent(model=ScriptedModel(Reply.of(*made), say("x")), tools=[adder])
        steps.clear()
        seen: list[Event] = []
        if how == "run":
            await agent.run("go")
        else:
            seen += [event async for event in agent.stream("go")]
        return len(steps)

    assert await work(200) == await work(8) <= 8


async def test_the_calls_before_one_that_breaks_the_run_have_their_results() -> None:
    @tool(inline=True)
    def leave() -> str:
        """Leave the program."""
        raise SystemExit(3)

    made = (call("add", {"a": 1, "b": 1}, "c1"), call("leave", {}, "c2"))
    agent = Agent(model=ScriptedModel(Reply.of(*made)), tools=[add_at_once, leave])
    async with agent.session() as session:
        with pytest.raises(SystemExit):
            await session.prompt("go")
        first, second = session.transcript[-1].tool_results

    assert (first.text, first.is_error) == ("2", False)
    assert second.is_error
