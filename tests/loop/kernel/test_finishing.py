"""Hooks before a turn ends: they may keep it going, refuse an answer or end the turn."""

import pytest

from agentkit_core import FinishReason, Item
from agentkit_loop import Limits, LoopConfig, TurnEnd
from agentkit_loop.events import Diagnostic
from agentkit_loop.kernel import (
    CallModel,
    HookPoints,
    ModelResponded,
    Phase,
    Preflight,
    Prepare,
    Prepared,
)
from support.answers import model_answer
from support.rig import Rig


def test_a_hook_may_end_the_turn_instead_of_asking_the_model() -> None:
    rig = Rig(prepares=False).ask()
    rig.give(Prepared(rig.out(Prepare).id, stop=True))

    assert rig.result.end is TurnEnd.COMPLETED
    assert rig.result.model_calls == 0
    assert rig.kinds == "user"


def test_hooks_that_have_more_to_say_keep_the_turn_going_and_speak_after_steering() -> None:
    rig = Rig(hooks=HookPoints(finish=True)).ask().answer().steer("S")
    rig.checked(Item.user("more"), Item.assistant("not this"))

    assert [item.text for item in rig.state.transcript] == ["hi", "t", "S", "more"]
    assert "diagnostic" in rig.trace
    assert rig.answer().checked().result.model_calls == 2


@pytest.mark.parametrize("reason", [FinishReason.MAX_TOKENS, FinishReason.BLOCKED])
def test_hooks_are_asked_only_of_a_turn_that_completes(reason: FinishReason) -> None:
    rig = Rig(hooks=HookPoints(finish=True)).ask().answer(reason=reason)

    assert rig.state.phase is Phase.IDLE


def test_where_a_tool_ends_the_turn_no_hook_is_asked_for_more() -> None:
    rig = Rig(hooks=HookPoints(finish=True)).ask().answer("a").steer()
    rig.allow("a").done("a", stop=True)

    assert rig.result.end is TurnEnd.COMPLETED
    assert len(rig.state.inputs) == 1, "what steered a turn that is over is the next one's input"


def test_cancelling_while_hooks_are_asked_keeps_the_answer() -> None:
    rig = Rig(hooks=HookPoints(finish=True)).ask().answer().forget().cancel()

    assert rig.trace == "!abort turn_finished:cancelled <finished>"
    assert rig.kinds == "user assistant"


def test_case_37_an_answer_that_will_not_do_stays_and_the_model_is_told_why() -> None:
    rig = Rig(LoopConfig(limits=Limits(max_model_calls=2))).ask()
    for _ in range(2):
        correction = (Item.user("that is no JSON"),)
        rig.give(ModelResponded(rig.out(CallModel).id, model_answer(text="{"), correction))

    assert rig.kinds == "user assistant user assistant user"
    assert (rig.result.end, rig.result.limit) == (TurnEnd.LIMIT, "max_model_calls")


def test_case_37_an_answer_with_calls_is_taken_whatever_the_hook_says() -> None:
    rig = Rig().ask()

    rig.give(ModelResponded(rig.out(CallModel).id, model_answer("a"), (Item.user("no"),)))

    assert rig.out(Preflight, "a")
    assert any(isinstance(one, Diagnostic) for one in rig.events)


def test_case_37_hooks_cannot_speak_as_the_model() -> None:
    rig = Rig().ask()

    rig.give(ModelResponded(rig.out(CallModel).id, model_answer(), (Item.assistant("yes"),)))

    assert rig.kinds == "user assistant"
    assert rig.result.end is TurnEnd.COMPLETED
