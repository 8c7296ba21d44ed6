"""Turns: the answers of the model, the input of the host, and how a turn ends."""

import pytest

from agentkit_core import (
    FailureKind,
    FinishReason,
    Item,
    ModelResponse,
    ProviderFailure,
    SessionId,
    Text,
    ToolCall,
    ToolCallId,
    UnansweredToolCall,
    repair,
)
from agentkit_loop import BusyInput, Limits, LoopConfig, TurnEnd
from agentkit_loop.events import AttemptSuperseded, Diagnostic, InputRejected, ToolCatalogChanged
from agentkit_loop.kernel import (
    CallModel,
    Cancel,
    Continue,
    ModelFailed,
    ModelResponded,
    Phase,
    Prepare,
    Prepared,
    StartTimer,
    StartTool,
    Submit,
    start,
)
from support.answers import model_answer
from support.rig import Rig
from support.rig_queries import in_background


def test_case_10_calls_of_an_answer_that_failed_are_never_run() -> None:
    call = ToolCall(id=ToolCallId("a"), name="read")
    rig = Rig().ask().fail(Text(text="I'll read"), call)

    assert any(isinstance(one, AttemptSuperseded) for one in rig.events)
    assert "tool_call_requested" not in rig.trace
    rig.ring().answer("a").allow("a").done("a").answer()
    assert rig.kinds == "user assistant tool assistant"


def test_case_13_a_finish_reason_that_promises_calls_is_not_believed() -> None:
    rig = Rig().ask().answer(reason=FinishReason.TOOL_CALL)

    assert rig.result.end is TurnEnd.COMPLETED
    assert any(isinstance(one, Diagnostic) for one in rig.events)


def test_case_14_an_answer_that_was_paused_is_gone_on_with_and_counts() -> None:
    rig = Rig(LoopConfig(limits=Limits(max_model_calls=2))).ask()
    rig.answer(reason=FinishReason.PAUSED).answer(reason=FinishReason.PAUSED)

    assert rig.kinds == "user assistant assistant"
    assert (rig.result.end, rig.result.limit) == (TurnEnd.LIMIT, "max_model_calls")
    # It is driveable for that one call only.
    assert rig.forget().go_on(redrive=True).trace == "<awaiting_input>"


def test_case_15_a_limit_after_a_round_leaves_its_results_in_the_transcript() -> None:
    rig = Rig(LoopConfig(limits=Limits(max_model_calls=1))).ask().answer("a").allow("a").done("a")

    assert rig.result.end is TurnEnd.LIMIT
    assert rig.kinds == "user assistant tool"
    assert rig.go_on(redrive=True).state.phase is Phase.CALLING


def test_case_20_a_catalogue_that_changed_is_told_before_the_model_is_asked() -> None:
    rig = Rig(prepares=False).ask()
    rig.give(Prepared(rig.out(Prepare).id, tools={"read": "1", "write": "1"})).answer("a").refuse(
        "a"
    )
    assert not any(isinstance(one, ToolCatalogChanged) for one in rig.events)

    rig.forget().give(Prepared(rig.out(Prepare).id, tools={"read": "2", "send": "1"}))

    assert rig.events[0] == ToolCatalogChanged(("send",), ("write",), ("read",))
    assert rig.trace == "tool_catalog_changed model_call_started !call_model"


def test_case_31_a_second_answer_is_late() -> None:
    rig = Rig().ask()
    effect_id = rig.out(CallModel).id

    rig.answer().forget().give(ModelResponded(effect_id, model_answer(text="again")))

    assert rig.trace == "diagnostic"
    assert rig.kinds == "user assistant"


def test_what_is_kept_of_a_failed_answer_is_only_ever_the_models_own() -> None:
    rig = Rig(LoopConfig(keep_failed=True)).ask()
    failure = ProviderFailure(kind=FailureKind.SERVER, message="down")
    odd = ModelResponse(Item.user("I am no answer"), failure)

    rig.give(ModelFailed(rig.out(CallModel).id, odd))

    assert rig.kinds == "user"
    assert rig.result.end is TurnEnd.ERROR


def test_case_22_steering_after_the_last_answer_is_ordinary_input() -> None:
    rig = Rig().ask().answer().steer("S")

    assert [item.text for batch in rig.state.inputs for item in batch] == ["S"]
    assert rig.go_on().answer().result.turn_id == "turn-2"


def test_case_23_input_while_paused_waits_for_the_next_turn_unless_it_steers() -> None:
    rig = Rig(LoopConfig(yield_after_round=True)).ask().answer("a").allow("a").done("a")
    rig.say("F").steer("S").go_on()

    assert rig.last.text == "S"
    assert [item.text for batch in rig.state.inputs for item in batch] == ["F"]

    config = LoopConfig(yield_after_round=True, busy_input=BusyInput.STEER)
    rig = Rig(config).ask().answer("a").allow("a").done("a").say("F").go_on()
    assert rig.last.text == "F"


def test_case_24_an_empty_submission_does_nothing_and_items_of_models_are_refused() -> None:
    rig = Rig().give(Submit(())).go_on()
    assert rig.trace == "<awaiting_input>"

    rig.forget().give(Submit((Item.user("a"), Item.assistant("I said"))))
    assert isinstance(rig.events[0], InputRejected)
    assert rig.state.inputs == ()


def test_case_25_a_history_with_open_calls_is_refused_and_a_repaired_one_is_not() -> None:
    broken = [Item.user("hi"), Item.assistant(ToolCall(id=ToolCallId("a"), name="read"))]
    with pytest.raises(UnansweredToolCall):
        start(SessionId("s"), model="m", history=broken)

    rig = Rig(history=tuple(repair(broken))).ask()

    assert rig.kinds == "user assistant tool user"


def test_case_26_a_history_that_ends_with_a_user_is_not_answered_by_itself() -> None:
    # The notes have no way to ask for it; here the host may say so: `Continue(redrive=True)`.
    rig = Rig(history=(Item.user("old"),)).go_on()
    assert rig.trace == "<awaiting_input>"

    assert rig.go_on(redrive=True).state.phase is Phase.CALLING


def test_case_27_a_tool_ends_the_turn_after_its_round_and_steering_is_the_next_input() -> None:
    rig = Rig().ask().answer("a", "b").allow("a", "b").done("b", stop=True).steer("S").done("a")

    assert rig.result.end is TurnEnd.COMPLETED
    assert [one.call_id for one in rig.last.tool_results] == ["a", "b"]
    assert [item.text for batch in rig.state.inputs for item in batch] == ["S"]


def test_case_28_cancelling_while_only_the_background_works_changes_nothing() -> None:
    rig = in_background().answer().forget().cancel()

    assert rig.trace == "diagnostic"
    assert rig.out(StartTool, "a")


def test_case_30_a_clock_that_goes_back_is_not_believed() -> None:
    rig = Rig()
    rig.now = 1_000
    rig.ask()
    rig.now = 10
    rig.answer("a").allow("a", timeout_s=1.0)

    timer = rig.out(StartTimer)
    assert isinstance(timer, StartTimer)
    assert timer.at == rig.state.clock + 1_000 == 2_001


def test_case_39_interrupting_and_redirecting_is_two_turns_and_the_answer_so_far_is_kept() -> None:
    rig = Rig().ask().forget()

    rig.give(Cancel(model_answer(text="Hel"))).say("no, this").give(Continue()).answer()

    assert rig.trace.count("turn_finished") == 2
    texts = [item.text for item in rig.state.transcript]
    assert texts == ["hi", "Hel", "no, this", "t"]
