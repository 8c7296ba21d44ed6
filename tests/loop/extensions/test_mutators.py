"""Mutators: one transaction before each model call, all or nothing."""

from collections.abc import Sequence

import anyio
import pytest

from agentkit_core import Item
from agentkit_loop import Agent, LoopConfig, Mutation, MutatorFailure, TurnEnd
from agentkit_loop.events import Event, MutationFinished, MutationOutcome, TranscriptRewritten
from agentkit_loop.testing import ScriptedModel, call
from agentkit_tools_core import tool

HISTORY = [Item.user("one"), Item.assistant("two")]


@tool
def look() -> str:
    """Look."""
    return "seen"


def keep_last(items: tuple[Item, ...], mutation: Mutation) -> Sequence[Item]:
    return items[-1:]


async def keep_all(items: tuple[Item, ...], mutation: Mutation) -> Sequence[Item]:
    await anyio.sleep(0)
    return list(items)


async def test_what_mutators_make_is_the_transcript_and_is_told_once() -> None:
    events: list[Event] = []
    agent = Agent(
        model=ScriptedModel("ok"),
        mutators=[keep_all, keep_last],
        reporters=[lambda envelope: events.append(envelope.event)],
    )
    async with agent.session(history=HISTORY) as session:
        await session.prompt("three")
        assert [item.text for item in session.transcript] == ["three", "ok"]

    (finished,) = [event for event in events if isinstance(event, MutationFinished)]
    assert finished.outcome is MutationOutcome.COMMITTED
    assert finished.mutators == ("keep_last",)
    assert sum(isinstance(event, TranscriptRewritten) for event in events) == 1


async def test_they_run_before_each_call_and_know_why() -> None:
    points: list[str] = []

    def watch(items: tuple[Item, ...], mutation: Mutation) -> None:
        points.append(f"{mutation.point} {mutation.facts.model_calls}")

    model = ScriptedModel(call("look"), "ok")
    await Agent(model=model, tools=[look], mutators=[watch]).run("go")

    assert points == ["turn_start 0", "after_round 1"]


@pytest.mark.parametrize("policy", MutatorFailure)
async def test_a_mutator_that_fails_changes_nothing(policy: MutatorFailure) -> None:
    def broken(items: tuple[Item, ...], mutation: Mutation) -> Sequence[Item]:
        raise RuntimeError("no")

    config = LoopConfig(on_mutator_error=policy)
    agent = Agent(model=ScriptedModel("ok"), mutators=[keep_last, broken], config=config)
    async with agent.session(history=HISTORY) as session:
        result = await session.prompt("three")

        assert [item.text for item in session.transcript][:3] == ["one", "two", "three"]
    if policy is MutatorFailure.SKIP:
        assert result.text == "ok"
    else:
        assert result.end is TurnEnd.ERROR
        assert result.error is not None
        assert "mutator broken failed: RuntimeError: no" in result.error


async def test_a_transcript_that_breaks_a_rule_is_rolled_back() -> None:
    def cut(items: tuple[Item, ...], mutation: Mutation) -> Sequence[Item]:
        return [item for item in items if item.kind != "tool"]

    model = ScriptedModel(call("look"), "never")
    agent = Agent(model=model, tools=[look], mutators=[cut])
    async with agent.session() as session:
        result = await session.prompt("go")

        assert result.end is TurnEnd.ERROR
        assert [item.kind.value for item in session.transcript] == ["user", "assistant", "tool"]


async def test_the_result_of_a_turn_has_what_was_rewritten_meanwhile() -> None:
    def forget(items: tuple[Item, ...], mutation: Mutation) -> Sequence[Item] | None:
        return [Item.user("summary")] if mutation.facts.model_calls else None

    model = ScriptedModel(call("look"), "ok")
    result = await Agent(model=model, tools=[look], mutators=[forget]).run("go")

    assert [item.kind.value for item in result.items] == ["assistant", "tool", "assistant"]


def test_without_an_event_loop_an_async_mutator_fails_the_turn_and_says_why() -> None:
    result = Agent(model=ScriptedModel("ok"), mutators=[keep_all]).run_blocking("go")

    assert result.end is TurnEnd.ERROR
    assert Agent(model=ScriptedModel("ok"), mutators=[keep_last]).run_blocking("go").text == "ok"
