"""The time limit of a tool counts wherever and by whomever the tool is called."""

from __future__ import annotations

import time
from typing import Any

import anyio
import pytest

from agentkit_core import ToolFailure, ToolResult
from agentkit_loop import Agent
from agentkit_loop.testing import ManualClock, Reply, ScriptedModel, call, say
from agentkit_tools_core import Tool, ToolContext, tool

LONG_S = 0.4
ENDED: list[str] = []


@tool(timeout_s=0.05)
async def waits() -> str:
    """Wait for long."""
    await anyio.sleep(LONG_S)
    ENDED.append("waits")
    return "LATE"


@tool(timeout_s=0.05)
async def stubborn() -> str:
    """Catch that it is stopped."""
    try:
        await anyio.sleep(LONG_S)
    except BaseException:
        time.sleep(0.1)
    return "LATE"


@tool(timeout_s=0.05)
def sleeps() -> str:
    """Keep a thread."""
    time.sleep(LONG_S)
    return "LATE"


@tool(timeout_s=0.05, inline=True)
def sleeps_inline() -> str:
    """Keep the thread of the event loop."""
    time.sleep(LONG_S)
    return "LATE"


@tool
async def outer(name: str, context: ToolContext) -> str:
    """Call another tool."""
    result = await context.call(name)
    return f"{result.text} {result.failure}"


@tool
def blocking_outer(name: str, context: ToolContext) -> str:
    """Call another tool."""
    result = context.call_blocking(name)
    return f"{result.text} {result.failure}"


TOOLS: list[Tool] = [waits, stubborn, sleeps, sleeps_inline, outer, blocking_outer]
SYNC = ["sleeps", "sleeps_inline"]
ALL = ["waits", "stubborn", *SYNC]


def agent_of(*script: Any, tools: list[Tool] = TOOLS) -> Agent:
    return Agent(model=ScriptedModel(*script, say("x")), tools=tools)


def result_of(turn: Any) -> ToolResult:
    result: ToolResult = turn.items[1].tool_results[0]
    return result


@pytest.mark.parametrize("name", ALL)
async def test_vl22_a_call_of_the_model_times_out(name: str) -> None:
    result = result_of(await agent_of(call(name)).run("go"))

    assert (result.failure, "LATE" in result.text) == (ToolFailure.TIMED_OUT, False)


@pytest.mark.parametrize("name", ALL)
async def test_vl22_a_child_call_times_out(name: str) -> None:
    text = result_of(await agent_of(call("outer", {"name": name})).run("go")).text

    assert ToolFailure.TIMED_OUT.value in text
    assert "LATE" not in text


@pytest.mark.parametrize("name", ["waits", "sleeps"])
async def test_vl22_a_child_call_that_can_be_stopped_is_stopped(name: str) -> None:
    ENDED.clear()
    with anyio.fail_after(LONG_S * 0.9):
        await agent_of(call("outer", {"name": name})).run("go")
    assert ENDED == []


@pytest.mark.parametrize("name", SYNC)
async def test_vl22_a_child_of_a_sync_tool_times_out(name: str) -> None:
    text = result_of(await agent_of(call("blocking_outer", {"name": name})).run("go")).text

    assert ToolFailure.TIMED_OUT.value in text
    assert "LATE" not in text


@pytest.mark.parametrize("name", SYNC)
@pytest.mark.parametrize("nested", [False, True])
def test_vl22_a_call_without_an_event_loop_times_out(name: str, nested: bool) -> None:
    what = call("blocking_outer", {"name": name}) if nested else call(name)

    text = result_of(agent_of(what).run_blocking("go"))

    assert "LATE" not in text.text
    assert "timed" in text.text


@pytest.mark.parametrize("blocking", [False, True])
async def test_vl22_the_tools_of_an_inner_agent_time_out(blocking: bool) -> None:
    told: list[str] = []

    def read(request: Any) -> Reply:
        told.append(request.items[-1].tool_results[0].text)
        return say("read")

    inner = Agent(model=ScriptedModel(call("sleeps"), read), tools=[sleeps])
    tools: list[Tool] = [inner.as_tool("inner", "Works.", blocking=blocking)]

    await agent_of(call("inner", {"task": "go"}), tools=tools).run("go")

    assert len(told) == 1
    assert "LATE" not in told[0]


def test_vl22_time_that_a_person_takes_does_not_count() -> None:
    clock = ManualClock()

    @tool(timeout_s=1)
    def asks(context: ToolContext) -> str:
        """Ask."""
        return str(context.ask("Well?"))

    agent = Agent(model=ScriptedModel(call("asks"), say("x")), tools=[asks], clock=clock)
    with agent.session_blocking() as session:
        session.submit("go")
        session.next()
        clock.advance(100)
        session.approve(session.pending_approvals[0].id, answer="fine")
        session.next()
        assert session.transcript[2].tool_results[0].text == "fine"


async def test_vl22_a_background_call_that_asks_and_goes_on_has_a_limit_again() -> None:
    @tool(timeout_s=0.05, detach_after_s=0)
    async def act(context: ToolContext) -> str:
        """Ask, then take long."""
        context.ask("Well?")
        await anyio.sleep(20)
        return "LATE"

    model = ScriptedModel(call("act"), *["x"] * 5)
    async with Agent(model=model, tools=[act]).session() as session:
        await session.prompt("go")
        with anyio.fail_after(5):
            while not session.pending_approvals:
                await session.wait_background()
            session.approve(session.pending_approvals[0].id, answer="fine")
            while session.view.background_calls:
                await session.wait_background()
        await session.prompt("And?")

    notices = [item.text for item in session.transcript if item.kind == "notification"]
    assert len(notices) == 1
    assert "0.05 s" in notices[0]
