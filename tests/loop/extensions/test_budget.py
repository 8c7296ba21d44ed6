"""Budgets: what calls that are under way have spent counts, and nothing else does."""

import anyio

from agentkit_core import TokenUsage, ToolCall, Usage
from agentkit_loop import Agent, Limits, LoopConfig, TurnBudget, TurnEnd
from agentkit_loop.testing import ManualClock, Reply, ScriptedModel, call, say
from agentkit_tools_core import ToolContext, tool

SEEN: list[str | None] = []


@tool
async def spend(context: ToolContext) -> None:
    """Spend 100 tokens, and never end."""
    share = context.get(TurnBudget)
    share.charge(Usage(TokenUsage(input=100), requests=1, reported_requests=1))
    SEEN.append(share.limit_reached())
    await anyio.sleep_forever()


@tool
def look(context: ToolContext) -> None:
    """See whether anything is left."""
    SEEN.append(context.get(TurnBudget).limit_reached())


def asking(one: ToolCall) -> Reply:
    return Reply.of(one, usage=Usage(TokenUsage(input=1), requests=1, reported_requests=1))


async def test_a_call_that_was_cut_short_is_no_burden_of_the_next_turn() -> None:
    SEEN.clear()
    model = ScriptedModel(asking(call("spend")), asking(call("look", {}, "c2")), say("ok"))
    config = LoopConfig(limits=Limits(max_tokens=50))
    async with Agent(model=model, tools=[spend, look], config=config).session() as session:
        with anyio.move_on_after(0.02):
            await session.prompt("go")
        await session.prompt("and now?")

    assert SEEN == ["max_tokens", None]


async def test_time_passes_for_a_call_while_nothing_happens() -> None:
    SEEN.clear()
    clock = ManualClock()

    @tool
    def wait(context: ToolContext) -> None:
        """Let time pass."""
        clock.advance(5)
        SEEN.append(context.get(TurnBudget).limit_reached())

    config = LoopConfig(limits=Limits(max_duration_s=4))
    model = ScriptedModel(asking(call("wait")))
    await Agent(model=model, tools=[wait], config=config, clock=clock).run("go")

    assert SEEN == ["max_duration_s"]


async def test_what_a_call_spent_before_its_time_was_up_is_gone_for_the_rest_of_the_turn() -> None:
    SEEN.clear()

    @tool(timeout_s=0.02)
    async def slow(context: ToolContext) -> None:
        """Spend 100 tokens, and take too long."""
        context.get(TurnBudget).charge(
            Usage(TokenUsage(input=100), requests=1, reported_requests=1)
        )
        await anyio.sleep_forever()

    model = ScriptedModel(asking(call("slow")), asking(call("look", {}, "c2")), say("ok"))
    config = LoopConfig(limits=Limits(max_tokens=50))
    result = await Agent(model=model, tools=[slow, look], config=config).run("go")

    assert (result.end, result.limit) == (TurnEnd.LIMIT, "max_tokens")
    assert result.usage.tokens.input == 101
    assert SEEN == [], "the model was not asked again"
