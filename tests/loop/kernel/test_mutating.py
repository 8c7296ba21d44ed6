"""Mutators: what they may change, and what becomes of a mutation that fails or is cancelled."""

import pytest

from agentkit_core import FinishReason, Item, TextOutput, ToolCallId, ToolResult
from agentkit_loop import LoopConfig, MutatorFailure, TurnEnd
from agentkit_loop.kernel import HookPoints, Phase, RunMutators
from support.rig import Rig


def test_case_06_cancelling_takes_nothing_of_what_a_mutator_makes() -> None:
    rig = Rig(hooks=HookPoints(mutators=True)).ask()
    late = rig.out(RunMutators).id

    rig.forget().cancel()

    assert rig.trace == "!abort mutation_finished:rolled_back turn_finished:cancelled <finished>"
    assert late not in rig.state.out
    assert rig.kinds == "user"
    rig.go_on(redrive=True).mutated().answer()
    assert rig.kinds == "user assistant"


def test_case_07_a_turn_whose_only_input_a_mutator_took_away_ends_and_is_paired() -> None:
    old = (Item.user("old"), Item.assistant("answer"))
    rig = Rig(history=old, hooks=HookPoints(mutators=True, finish=True)).ask("new").forget()

    rig.mutated(*old)

    assert rig.trace == ("=rewrite mutation_finished:committed turn_finished:completed <finished>")
    assert rig.result.model_calls == 0


@pytest.mark.parametrize("policy", MutatorFailure)
@pytest.mark.parametrize("broken", ["error", "orphan", "open"])
def test_a_mutation_that_fails_changes_nothing(policy: MutatorFailure, broken: str) -> None:
    rig = (
        Rig(LoopConfig(on_mutator_error=policy), hooks=HookPoints(mutators=True))
        .ask()
        .mutated()
        .answer("a")
    )
    rig.allow("a").done("a").forget()
    kept = rig.state.transcript
    orphan = Item.tool(ToolResult(call_id=ToolCallId("zz"), output=TextOutput("r")))
    match broken:
        case "error":
            rig.mutated(error="it failed")
        case "orphan":
            rig.mutated(Item.user("x"), orphan)
        case _:
            rig.mutated(*kept[:2])

    assert rig.state.transcript == kept
    skips = policy is MutatorFailure.SKIP
    assert rig.state.phase is (Phase.CALLING if skips else Phase.IDLE)
    if not skips:
        assert rig.result.end is TurnEnd.ERROR
        assert rig.result.error


def test_case_14_mutators_may_take_away_the_answer_that_was_paused() -> None:
    rig = Rig(hooks=HookPoints(mutators=True)).ask().mutated().answer(reason=FinishReason.PAUSED)

    rig.mutated(Item.user("hi"), Item.assistant("cut short"))

    assert rig.result.end is TurnEnd.COMPLETED
    assert rig.result.model_calls == 1
