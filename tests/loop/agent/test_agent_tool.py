"""Agents as tools: their work counts, their asks reach the host, they end with the outer turn."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from agentkit_core import (
    FailureKind,
    ModelRequest,
    SessionId,
    TokenUsage,
    ToolAnnotations,
    ToolFailure,
    ToolResult,
    Usage,
)
from agentkit_loop import (
    Agent,
    BackgroundDone,
    Finished,
    GrantScope,
    Limits,
    LoopConfig,
    TurnEnd,
    WaitingForApproval,
)
from agentkit_loop.events import ContentDelta, Event, ToolProgress
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call, fail, say
from agentkit_tools_core import tool
from agentkit_tools_core.sync import NeedsEventLoop
from support.traces import event_trace

RAN: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


@tool(needs_approval=True)
def pay(amount: int) -> str:
    """Pay."""
    RAN.append(f"pay {amount}")
    return f"paid {amount}"


@tool
def look() -> str:
    """Look."""
    RAN.append("look")
    return "seen"


def outer(*script: Any, inner: Agent, blocking: bool = False, **more: Any) -> Agent:
    tools = [inner.as_tool("clerk", "Does paperwork.", blocking=blocking)]
    return Agent(model=ScriptedModel(*script), tools=tools, **more)


def task(text: str = "do it", call_id: str = "c1") -> Any:
    return call("clerk", {"task": text}, call_id)


def result_of(result: Any) -> ToolResult:
    one: ToolResult = result.items[1].tool_results[0]
    return one


async def test_the_inner_answer_is_the_result_and_its_usage_counts_once() -> None:
    inner = Agent(model=ScriptedModel(call("look"), say("filed", input=7, output=3)), tools=[look])
    result = await outer(task(), say("ok", input=10, output=5), inner=inner).run("go")

    assert result_of(result).output.text == "filed"
    assert result.text == "ok"
    assert result.usage.tokens == TokenUsage(input=17, output=8)
    assert RAN == ["look"]


def test_a_sync_one_works_without_an_event_loop_and_an_async_one_says_that_it_cannot() -> None:
    inner = Agent(model=ScriptedModel("filed", "filed"))
    done = outer(task(), "ok", inner=inner, blocking=True).run_blocking("go")

    assert result_of(done).output.text == "filed"
    with pytest.raises(NeedsEventLoop, match="blocking=True"):
        outer(task(), "ok", inner=inner).run_blocking("go")


async def test_a_sync_one_works_beside_an_event_loop_too() -> None:
    inner = Agent(model=ScriptedModel("filed"))
    result = await outer(task(), "ok", inner=inner, blocking=True).run("go")

    assert result_of(result).output.text == "filed"


@pytest.mark.parametrize("approve", [True, False])
async def test_what_the_inner_agent_needs_approved_reaches_the_host(approve: bool) -> None:
    model = ScriptedModel(Reply.of(call("look"), call("pay", {"amount": 5}, "c2")), "filed")
    inner = Agent(model=model, tools=[look, pay])
    async with outer(task(), "ok", inner=inner).session() as session:
        session.submit("go")
        step = await session.next()
        assert isinstance(step, WaitingForApproval)
        (ask,) = step.requests
        assert ask.call.id == "c1"
        assert "pay" in ask.summary
        assert RAN == ["look"]

        if approve:
            session.approve(ask.id)
        else:
            session.deny(ask.id, reason="too much")
        step = await session.next()

        assert isinstance(step, Finished)
        assert step.result.text == "ok"
    assert (["look", "pay 5"] if approve else ["look"]) == RAN
    told = model.requests[-1].items[-1].tool_results[1]
    assert told.is_error is not approve


async def test_the_ask_can_be_answered_in_another_process() -> None:
    def agents() -> Agent:
        model = ScriptedModel(
            *([call("pay", {"amount": 5}, "c2")] if not RAN and first else []), "filed"
        )
        return outer(*([task()] if first else []), "ok", inner=Agent(model=model, tools=[pay]))

    first, store = True, MemoryStore()
    async with agents().session(session_id="s", store=store) as session:  # type: ignore[arg-type]
        session.submit("go")
        await session.next()
    first = False
    async with agents().session(session_id="s", store=store) as session:  # type: ignore[arg-type]
        (ask,) = session.pending_approvals
        session.approve(ask.id)
        step = await session.next()

    assert isinstance(step, Finished)
    assert step.result.text == "ok"
    assert RAN == ["pay 5"]


async def test_an_inner_agent_with_an_on_approval_of_its_own_asks_nobody_else() -> None:
    model = ScriptedModel(call("pay", {"amount": 5}, "c2"), "filed")
    inner = Agent(model=model, tools=[pay], on_approval=lambda _: True)
    result = await outer(task(), "ok", inner=inner).run("go")

    assert result.text == "ok"
    assert RAN == ["pay 5"]


@pytest.mark.parametrize(
    ("script", "config", "why"),
    [
        ([fail(FailureKind.AUTH, retryable=False)], LoopConfig(), "scripted failure"),
        ([call("look")] * 3, LoopConfig(limits=Limits(max_model_calls=1)), "max_model_calls"),
    ],
)
async def test_an_inner_agent_that_fails_gives_an_error_and_the_outer_goes_on(
    script: list[Any], config: LoopConfig, why: str
) -> None:
    inner = Agent(model=ScriptedModel(*script), tools=[look], config=config)
    result = await outer(task(), "ok", inner=inner).run("go")

    assert result.text == "ok"
    assert result_of(result).is_error
    assert why in result_of(result).output.text


async def test_b14_cancelling_the_outer_turn_ends_the_inner_one() -> None:
    model = ScriptedModel(Reply.of("Hel", hangs=True))
    async with outer(task(), "never", inner=Agent(model=model)).session() as session:
        async with anyio.create_task_group() as group:

            async def stop() -> None:
                while not model.open_responses:
                    await anyio.sleep(0)
                session.cancel()

            group.start_soon(stop)
            result = await session.prompt("go")

        assert result.end is TurnEnd.CANCELLED
        assert model.open_responses == 0


async def test_progress_of_the_inner_agent_is_told() -> None:
    events: list[Event] = []
    inner = Agent(model=ScriptedModel(call("look"), "filed"), tools=[look])
    agent = outer(task(), "ok", inner=inner, reporters=[lambda one: events.append(one.event)])
    await agent.run("go")

    (progress,) = [event for event in events if isinstance(event, ToolProgress)]
    assert progress.message == "clerk runs look"


async def test_b14_the_outer_run_tells_of_an_inner_one_its_progress_alone() -> None:
    told: list[Event] = []
    inside: list[Event] = []
    inner = Agent(
        model=ScriptedModel(call("look"), "filed"),
        tools=[look],
        reporters=[lambda one: inside.append(one.event)],
    )
    agent = outer(task(), "ok", inner=inner, reporters=[lambda one: told.append(one.event)])
    await agent.run("go")

    golden = (
        (Path(__file__).parents[1] / "kernel" / "traces" / "B14_inner_agent.txt")
        .read_text()
        .splitlines()
    )
    assert event_trace(one for one in told if not isinstance(one, ContentDelta)) == golden[-1]
    assert "tool_execution_started:c1" in event_trace(inside)


async def test_u08_inner_agents_share_the_outer_budget() -> None:
    # Two at once, of which each would go on for ever; every answer costs 400.
    def spend() -> Reply:
        usage = Usage(TokenUsage(input=300, output=100), requests=1, reported_requests=1)
        return Reply.of(call("look"), usage=usage)

    greedy = ScriptedModel(*[spend() for _ in range(50)])
    inner = Agent(model=greedy, tools=[look])
    nothing = Usage(TokenUsage(input=0, output=0), requests=1, reported_requests=1)
    both = Reply.of(task(), task("do it too", "c2"), usage=nothing)
    limits = Limits(max_tokens=2000)
    result = await outer(both, "never", inner=inner, config=LoopConfig(limits=limits)).run("go")

    assert result.end is TurnEnd.LIMIT
    # 5 answers reach 2000; one more may have been under way in the other child.
    assert 5 <= len(greedy.requests) <= 6
    assert result.usage.tokens.total == len(greedy.requests) * 400


async def test_max_requests_counts_those_of_inner_agents() -> None:
    inner = Agent(model=ScriptedModel(call("look"), "filed"), tools=[look])
    agent = outer(task(), "never", inner=inner, config=LoopConfig(limits=Limits(max_requests=3)))
    result = await agent.run("go")

    assert result.end is TurnEnd.LIMIT
    assert result.limit == "max_requests"
    assert result.usage.requests == 3


def test_a_task_has_to_say_something() -> None:
    inner = Agent(model=ScriptedModel())
    result = outer(task(" "), "ok", inner=inner, blocking=True).run_blocking("go")

    assert result_of(result).is_error
    assert not result_of(result).started


def paying(amount: int, call_id: str) -> Reply:
    """An answer of 60 tokens that asks for approval."""
    used = Usage(TokenUsage(input=60), requests=1, reported_requests=1)
    return Reply.of(call("pay", {"amount": amount}, call_id), usage=used)


def asking(*tasks: Any) -> Reply:
    """An answer of no tokens that hands out tasks."""
    used = Usage(TokenUsage(input=0, output=0), requests=1, reported_requests=1)
    return Reply.of(*tasks, usage=used)


async def test_what_it_used_before_it_asked_counts_when_it_goes_on() -> None:
    greedy = ScriptedModel(paying(1, "p1"), paying(2, "p2"), "never")
    inner = Agent(model=greedy, tools=[pay])
    config = LoopConfig(limits=Limits(max_tokens=100))
    agent = outer(asking(task()), inner=inner, config=config, on_approval=lambda _: True)
    result = await agent.run("go")

    assert RAN == ["pay 1", "pay 2"]
    assert len(greedy.requests) == 2
    assert result.end is TurnEnd.LIMIT
    assert result.usage.tokens.total == 120


async def test_what_it_used_counts_once_where_an_agent_in_between_answers_what_it_asks() -> None:
    inner = Agent(model=ScriptedModel(paying(1, "p1"), say("paid", input=20)), tools=[pay])
    between = outer(asking(task()), say("filed"), inner=inner, on_approval=lambda _: True)
    config = LoopConfig(limits=Limits(max_tokens=110))
    agent = outer(asking(task()), say("ok"), inner=between, config=config)
    result = await agent.run("go")

    assert result.text == "ok"
    assert RAN == ["pay 1"]
    assert result.usage.tokens.total == 60 + 25 + 15 + 15


async def test_calls_that_it_has_in_the_background_are_waited_for_where_it_goes_on_with_them() -> (
    None
):
    @tool(detach_after_s=0)
    async def job() -> str:
        """Do a long job."""
        await anyio.sleep(0.02)
        return "done"

    model = ScriptedModel(call("job"), say("meanwhile"), say("done with it"))
    config = LoopConfig(background_done=BackgroundDone.CONTINUE)
    inner = Agent(model=model, tools=[job], config=config)
    result = await outer(task(), say("ok"), inner=inner).run("go")

    assert result_of(result).output.text == "done with it"
    assert result.usage.requests == 5
    assert result.usage.tokens.total == 3 * 15


def two_storeys_of_clerks() -> Agent:
    """Pays by itself, and has two clerks who each have two pay; models know what was said alone."""

    def last(request: ModelRequest) -> Any:
        return request.items[-1].tool_results

    def paid(request: ModelRequest) -> Any:
        results = last(request)
        return say("; ".join(one.output.text for one in results)) if results else None

    def junior(request: ModelRequest) -> Any:
        return paid(request) or call("pay", {"amount": int(request.items[-1].text)}, "p")

    def senior(request: ModelRequest) -> Any:
        number = request.items[-1].text
        return paid(request) or Reply.of(task(f"{number}1", "a"), task(f"{number}2", "b"))

    def head(request: ModelRequest) -> Any:
        own = call("pay", {"amount": 9}, "z")
        return paid(request) or Reply.of(task("1", "x"), task("2", "y"), own)

    juniors = Agent(model=ScriptedModel(*[junior] * 9), tools=[pay])
    seniors = outer(*[senior] * 9, inner=juniors)
    tools: list[Any] = [seniors.as_tool("clerk", "Does paperwork."), pay]
    return Agent(model=ScriptedModel(*[head] * 9), tools=tools)


async def test_three_deep_and_side_by_side_all_ask_and_each_answer_may_come_elsewhere() -> None:
    store, name = MemoryStore(), SessionId("s")
    open_asks = []
    for attempt in range(6):
        async with two_storeys_of_clerks().session(store=store, session_id=name) as session:
            if not attempt:
                session.submit("go")
            step = await session.next()
            if isinstance(step, WaitingForApproval):
                open_asks.append(len(step.requests))
                session.approve(step.requests[0].id, call_id=step.requests[0].call.id)
                await session.flush()

    assert open_asks == [5, 4, 3, 2, 1]
    assert isinstance(step, Finished)
    assert step.result.text == "paid 11; paid 12; paid 21; paid 22; paid 9"
    assert sorted(RAN) == ["pay 11", "pay 12", "pay 21", "pay 22", "pay 9"]
    assert step.result.usage.requests == 2 + 2 * 2 + 4 * 2


async def test_a_yes_for_the_session_is_one_for_this_agent_and_not_for_another() -> None:
    def clerk() -> Agent:
        return Agent(model=ScriptedModel(call("pay", {"amount": 1}, "p"), "filed"), tools=[pay])

    tools = [clerk().as_tool("clerk", "Pays."), clerk().as_tool("thief", "Pays as well.")]
    thief = call("thief", {"task": "pay"}, "c2")
    agent = Agent(model=ScriptedModel(task(), thief, "ok"), tools=tools)
    async with agent.session() as session:
        session.submit("go")
        step = await session.next()
        assert isinstance(step, WaitingForApproval)
        session.approve(step.requests[0].id, scope=GrantScope.SESSION)
        step = await session.next()

        assert isinstance(step, WaitingForApproval)
        assert step.requests[0].call.name == "thief"
        assert RAN == ["pay 1"]


def test_a_sync_one_begins_no_more_calls_once_its_result_is_not_wanted_any_more() -> None:
    @tool
    def stop() -> str:
        """Stop the outer turn."""
        session.cancel()
        return "stopped"

    both = Reply.of(call("stop", {}, "s"), call("look", {}, "l"))
    inner = Agent(model=ScriptedModel(both, "never"), tools=[stop, look])
    with outer(task(), inner=inner, blocking=True).session_blocking() as session:
        result = session.prompt("go")

    assert result.end is TurnEnd.CANCELLED
    assert RAN == []


async def test_u06_what_an_inner_agent_used_counts_though_its_call_was_stopped() -> None:
    @tool
    async def hang() -> str:
        """Hang."""
        await anyio.sleep_forever()
        return "never"

    usage = Usage(TokenUsage(input=300, output=100), requests=1, reported_requests=1)
    inner = Agent(model=ScriptedModel(Reply.of(call("hang"), usage=usage)), tools=[hang])
    patient = inner.as_tool("clerk", "Work.", annotations=ToolAnnotations(timeout_s=0.05))
    model = ScriptedModel(task(), say("ok", input=1, output=1))
    result = await Agent(model=model, tools=[patient]).run("go")

    assert result.text == "ok"
    assert result_of(result).failure is ToolFailure.TIMED_OUT
    assert result_of(result).usage == usage
    assert result.usage.tokens.total == 402
