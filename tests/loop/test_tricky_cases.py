"""The tricky cases of the notes on behaviour that concern the kernel, by their numbers.

What only a whole session can show (17, 18, 29, 34, 36, 38) is in `test_tricky_sessions.py`.
"""

import json

import pytest

from agentkit_core import (
    FailureKind,
    FinishReason,
    Item,
    ItemKind,
    SessionId,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolFailure,
    UnansweredToolCall,
    repair,
)
from agentkit_loop import (
    AttemptSuperseded,
    AwaitingInput,
    BackgroundDone,
    BusyInput,
    CallModel,
    Cancel,
    Continue,
    Diagnostic,
    InputRejected,
    Limits,
    LoopConfig,
    LostTool,
    ModelCallFinished,
    ModelResponded,
    Phase,
    Preflight,
    Prepare,
    Prepared,
    RetryPolicy,
    RunMutators,
    StartTimer,
    StartTool,
    SteerPolicy,
    Submit,
    TimerKind,
    ToolCatalogChanged,
    ToolResultReceived,
    TurnEnd,
    WaitingForApproval,
    Yield,
    start,
)
from agentkit_loop.persistence._snapshot import encode_head
from support.rig import Rig, answered


def yields(rig: Rig) -> list[object]:
    return [effect.step for effect in rig.effects if isinstance(effect, Yield)]


def runs(rig: Rig, call_id: str) -> int:
    """How often a call was asked to run."""
    return sum(isinstance(one, StartTool) and one.call_id == call_id for one in rig.effects)


def in_background(call_id: str = "a", config: LoopConfig | None = None) -> Rig:
    """A rig whose model has been told that a call goes on, and is asked again."""
    return Rig(config).ask().answer(call_id).allow(call_id, detach_after_s=0)


# approvals


def test_case_01_of_approve_and_cancel_the_first_to_come_decides() -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write").resolve("write").cancel()
    assert runs(rig, "a") == 1
    assert rig.told("a").failure is ToolFailure.INTERRUPTED

    rig = Rig().ask().answer("a").ask_for("a", "write").cancel().forget().resolve("write")
    assert rig.trace == "diagnostic"
    assert "no approval 'write' is open" in str(rig.events[0])


def test_case_02_a_round_waits_for_its_approval_when_all_siblings_are_done() -> None:
    rig = Rig().ask().answer("a", "b").ask_for("a", "write").allow("b").done("b").forget()
    assert rig.state.phase is Phase.ROUND

    rig.go_on()

    (step,) = yields(rig)
    assert isinstance(step, WaitingForApproval)
    assert [ask.call_id for ask in step.asks] == ["a"]


@pytest.mark.parametrize("order", [("write", "send"), ("send", "write")])
def test_case_03_one_no_is_enough_in_whatever_order_the_answers_come(
    order: tuple[str, str],
) -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write", "send").forget()
    yes, no = order

    rig.resolve(yes).resolve(no, approve=False)

    assert runs(rig, "a") == 0
    assert rig.told("a").failure is ToolFailure.PERMISSION_DENIED


def test_case_04_the_time_a_call_waits_for_a_person_does_not_count() -> None:
    rig = Rig().ask().answer("a").allow("a", timeout_s=5.0, detach_after_s=1.0)
    assert len([one for one in rig.state.out.values() if isinstance(one, StartTimer)]) == 2

    rig.stop_to_ask("a", "which")
    assert rig.state.out == {}
    rig.now = 60_000
    rig.resolve("which")

    waits = {one.why: one.at for one in rig.state.out.values() if isinstance(one, StartTimer)}
    assert waits == {
        TimerKind.TIMEOUT: rig.state.clock + 5_000,
        TimerKind.DETACH: rig.state.clock + 1_000,
    }


def test_case_05_a_background_call_asks_without_holding_up_the_turn() -> None:
    rig = in_background().forget().stop_to_ask("a", "which")

    (step,) = yields(rig)
    assert isinstance(step, WaitingForApproval)
    assert [ask.background for ask in step.asks] == [True]
    assert rig.answer().result.end is TurnEnd.COMPLETED
    rig.resolve("which", approve=False, reason="not now")

    assert rig.state.background == {}
    (notice,) = rig.state.notices
    assert notice.text == "Background call a of tool_a failed:\nnot now"
    assert yields(rig)[-1] == AwaitingInput(1)


def test_case_05_a_background_call_that_asks_in_idle_is_shown_when_the_host_goes_on() -> None:
    rig = in_background().answer().stop_to_ask("a", "which").forget().go_on()

    (step,) = yields(rig)
    assert isinstance(step, WaitingForApproval)
    rig.resolve("which")
    assert rig.out(StartTool, "a")


def test_case_21_steering_skips_a_call_that_waits_for_a_person_and_withdraws_its_ask() -> None:
    config = LoopConfig(steer_policy=SteerPolicy.SKIP_UNSTARTED)
    rig = Rig(config).ask().answer("a", "b", "c").ask_for("a", "write").allow("b", "c")
    rig.stop_to_ask("c", "which").forget().steer()

    assert rig.trace == (
        "input_queued:steer approval_resolved:a:withdrawn tool_result_received:a "
        "approval_resolved:c:withdrawn tool_result_received:c"
    )
    rig.done("b")
    assert (rig.told("a").failure, rig.told("a").started) == (ToolFailure.SKIPPED, False)
    # What asks in the middle of its run has been started, and may have had an effect.
    assert (rig.told("c").failure, rig.told("c").started) == (ToolFailure.INTERRUPTED, True)
    assert not rig.told("b").is_error
    assert rig.last.text == "wait"


def test_case_21_a_cancelled_call_that_asked_in_the_middle_says_that_it_was_started() -> None:
    rig = Rig().ask().answer("a").allow("a").stop_to_ask("a", "which").cancel()

    assert (rig.told("a").failure, rig.told("a").started) == (ToolFailure.INTERRUPTED, True)


def test_case_33_the_same_call_twice_is_two_calls_and_two_approvals() -> None:
    same = [ToolCall(id=ToolCallId(one), name="write", input={"path": "x"}) for one in "ab"]
    rig = Rig().ask().answer(*same).ask_for("a", "write:x").ask_for("b", "write:x")

    rig.resolve("write:x")

    assert (runs(rig, "a"), runs(rig, "b")) == (1, 0)
    assert [(ask.call_id, ask.id) for ask in rig.state.asks] == [("b", "write:x")]


@pytest.mark.parametrize("ends", [False, True])
def test_case_35_a_denial_ends_the_turn_only_where_that_is_wanted(ends: bool) -> None:
    rig = Rig(LoopConfig(deny_ends_turn=ends)).ask().answer("a", "b").ask_for("a", "write")
    rig.allow("b").resolve("write", approve=False)
    assert rig.state.phase is Phase.ROUND

    assert rig.done("b").state.phase is (Phase.IDLE if ends else Phase.CALLING)
    assert [one.is_error for one in rig.last.tool_results] == [True, False]


# mutators


def test_case_06_cancelling_takes_nothing_of_what_a_mutator_makes() -> None:
    rig = Rig(LoopConfig(mutate=True)).ask()
    late = rig.out(RunMutators).id

    rig.forget().cancel()

    assert rig.trace == "!abort mutation_finished:rolled_back turn_finished:cancelled <finished>"
    assert late not in rig.state.out
    assert rig.kinds == "user"
    rig.go_on(redrive=True).mutated().answer()
    assert rig.kinds == "user assistant"


def test_case_07_a_turn_whose_only_input_a_mutator_took_away_ends_and_is_paired() -> None:
    old = (Item.user("old"), Item.assistant("answer"))
    rig = Rig(LoopConfig(mutate=True, check_finish=True), old).ask("new").forget()

    rig.mutated(*old)

    assert rig.trace == ("=rewrite mutation_finished:committed turn_finished:completed <finished>")
    assert rig.result.model_calls == 0


def test_case_08_a_background_call_may_lose_its_pair_to_a_mutator() -> None:
    rig = Rig(LoopConfig(mutate=True)).ask().mutated().answer("a")
    rig.allow("a", detach_after_s=0)
    rig.mutated(Item.user("summary")).answer().done("a", text="42").go_on()

    notice = rig.last
    assert notice.kind is ItemKind.NOTIFICATION
    assert notice.text == "Background call a of tool_a is done:\n42"
    assert notice.metadata == {"agentkit.call_id": "a", "agentkit.is_error": False}


@pytest.mark.parametrize("policy", BackgroundDone)
def test_case_09_a_call_that_is_done_while_the_model_answers_waits_for_a_safe_point(
    policy: BackgroundDone,
) -> None:
    rig = in_background(config=LoopConfig(background_done=policy)).done("a")
    assert rig.state.phase is Phase.CALLING
    assert rig.last.kind is ItemKind.TOOL

    goes_on = policy is BackgroundDone.CONTINUE
    assert rig.answer().state.phase is (Phase.CALLING if goes_on else Phase.IDLE)
    if not goes_on:
        rig.go_on()
    assert rig.kinds.endswith("assistant notification")


def test_case_09_a_notice_comes_after_a_round_and_never_inside_it() -> None:
    rig = in_background().answer("b").allow("b").done("a")
    assert rig.last.kind is ItemKind.ASSISTANT

    rig.done("b")

    assert rig.kinds == "user assistant tool assistant tool notification"


def test_case_09_a_notice_that_comes_while_hooks_are_asked_keeps_the_turn_going_if_it_may() -> None:
    config = LoopConfig(check_finish=True, background_done=BackgroundDone.CONTINUE)
    rig = in_background(config=config).answer().done("a")
    assert rig.state.phase is Phase.FINISHING

    assert rig.checked().state.phase is Phase.CALLING
    assert rig.last.kind is ItemKind.NOTIFICATION


# answers of the model


def test_case_10_calls_of_an_answer_that_failed_are_never_run() -> None:
    call = ToolCall(id=ToolCallId("a"), name="read")
    rig = Rig().ask().fail(Text(text="I'll read"), call)

    assert any(isinstance(one, AttemptSuperseded) for one in rig.events)
    assert "tool_call_requested" not in rig.trace
    rig.ring().answer("a").allow("a").done("a").answer()
    assert rig.kinds == "user assistant tool assistant"


def test_case_11_events_items_and_results_speak_of_the_same_repaired_ids() -> None:
    rig = Rig().ask().answer(*(ToolCall(id=ToolCallId(""), name="read") for _ in range(2)))
    ids = [call.id for call in rig.last.tool_calls]
    rig.allow(*ids).done(*ids)

    assert len(set(ids)) == 2
    told = [one.call_id for one in rig.events if isinstance(one, ToolResultReceived)]
    assert told == [one.call_id for one in rig.last.tool_results] == ids


def test_case_12_a_call_that_cannot_run_is_answered_and_the_model_may_do_better() -> None:
    rig = Rig().ask().answer("a").refuse("a", "no tool is called tool_a")

    assert rig.told("a").output == TextOutput("no tool is called tool_a")
    assert not rig.told("a").started
    assert rig.state.phase is Phase.CALLING


def test_case_13_a_finish_reason_that_promises_calls_is_not_believed() -> None:
    rig = Rig().ask().answer(reason=FinishReason.TOOL_CALL)

    assert rig.result.end is TurnEnd.COMPLETED
    assert any(isinstance(one, Diagnostic) for one in rig.events)


def test_case_13_of_an_answer_that_was_cut_the_last_call_is_answered_as_cut_off() -> None:
    # Even if it can be read: what was meant is not known. The notes would run it then.
    rig = Rig().ask().answer("a", "b", reason=FinishReason.MAX_TOKENS).allow("a").done("a")

    assert not rig.told("a").is_error
    assert rig.told("b").failure is ToolFailure.CUT_OFF


def test_case_14_an_answer_that_was_paused_is_gone_on_with_and_counts() -> None:
    rig = Rig(LoopConfig(limits=Limits(max_model_calls=2))).ask()
    rig.answer(reason=FinishReason.PAUSED).answer(reason=FinishReason.PAUSED)

    assert rig.kinds == "user assistant assistant"
    assert (rig.result.end, rig.result.limit) == (TurnEnd.LIMIT, "max_model_calls")
    # It is driveable for that one call only.
    assert rig.forget().go_on(redrive=True).trace == "<awaiting_input>"


def test_case_14_mutators_may_take_away_the_answer_that_was_paused() -> None:
    rig = Rig(LoopConfig(mutate=True)).ask().mutated().answer(reason=FinishReason.PAUSED)

    rig.mutated(Item.user("hi"), Item.assistant("cut short"))

    assert rig.result.end is TurnEnd.COMPLETED
    assert rig.result.model_calls == 1


def test_case_15_a_limit_after_a_round_leaves_its_results_in_the_transcript() -> None:
    rig = Rig(LoopConfig(limits=Limits(max_model_calls=1))).ask().answer("a").allow("a").done("a")

    assert rig.result.end is TurnEnd.LIMIT
    assert rig.kinds == "user assistant tool"
    assert rig.go_on(redrive=True).state.phase is Phase.CALLING


def test_case_31_a_second_answer_is_late() -> None:
    rig = Rig().ask()
    effect_id = rig.out(CallModel).id

    rig.answer().forget().give(ModelResponded(effect_id, answered(text="again")))

    assert rig.trace == "diagnostic"
    assert rig.kinds == "user assistant"


def test_case_37_an_answer_that_will_not_do_stays_and_the_model_is_told_why() -> None:
    rig = Rig(LoopConfig(limits=Limits(max_model_calls=2))).ask()
    for _ in range(2):
        correction = (Item.user("that is no JSON"),)
        rig.give(ModelResponded(rig.out(CallModel).id, answered(text="{"), correction))

    assert rig.kinds == "user assistant user assistant user"
    assert (rig.result.end, rig.result.limit) == (TurnEnd.LIMIT, "max_model_calls")


def test_case_37_an_answer_with_calls_is_taken_whatever_the_hook_says() -> None:
    rig = Rig().ask()

    rig.give(ModelResponded(rig.out(CallModel).id, answered("a"), (Item.user("no"),)))

    assert rig.out(Preflight, "a")
    assert any(isinstance(one, Diagnostic) for one in rig.events)


def test_case_37_hooks_cannot_speak_as_the_model() -> None:
    rig = Rig().ask()

    rig.give(ModelResponded(rig.out(CallModel).id, answered(), (Item.assistant("yes"),)))

    assert rig.kinds == "user assistant"
    assert rig.result.end is TurnEnd.COMPLETED


# saved runs


@pytest.mark.parametrize(
    ("policy", "repeatable", "again"),
    [
        (LostTool.UNKNOWN, False, False),
        (LostTool.UNKNOWN, True, True),
        (LostTool.ASK, True, True),
        (LostTool.NEVER_REPEAT, True, False),
    ],
)
def test_case_16_a_tool_that_ran_when_its_process_died(
    policy: LostTool, repeatable: bool, again: bool
) -> None:
    rig = Rig(LoopConfig(lost_tool=policy)).ask().answer("a").allow("a", repeatable=repeatable)

    rig.begin("a").crash()

    assert runs(rig, "a") == (2 if again else 1)
    if again:
        effect = rig.out(StartTool)
        assert isinstance(effect, StartTool)
        assert not effect.started
        rig.done("a")
        assert rig.trace.count("tool_execution_started:a") == 1
    else:
        assert rig.told("a").failure is ToolFailure.OUTCOME_UNKNOWN
        assert rig.told("a").started
    assert rig.state.phase is Phase.CALLING


def test_case_16_a_tool_that_nobody_had_begun_to_run_is_just_run() -> None:
    rig = Rig().ask().answer("a").allow("a")
    effect = rig.out(StartTool)

    rig.crash()

    assert rig.out(StartTool) == effect
    assert rig.done("a").state.phase is Phase.CALLING


def test_case_16_a_tool_in_the_background_that_was_lost_is_told_in_a_notice() -> None:
    rig = in_background().answer().begin("a").crash().go_on()

    assert rig.last.text.startswith("Background call a of tool_a failed:\nThe outcome of tool_a")


def test_case_19_a_tool_that_stopped_is_given_what_it_left_and_what_was_answered() -> None:
    rig = Rig().ask().answer("a").allow("a")
    rig.stop_to_ask("a", "write:x", "send:y", token={"children": [1, 2]})
    rig.resolve("send:y").resolve("write:x")

    effect = rig.out(StartTool)
    assert isinstance(effect, StartTool)
    assert effect.token == {"children": [1, 2]}
    assert set(effect.granted) == {"write:x", "send:y"}
    assert rig.trace.count("tool_execution_started:a") == 1


def test_case_20_a_catalogue_that_changed_is_told_before_the_model_is_asked() -> None:
    rig = Rig(prepares=False).ask()
    rig.give(Prepared(rig.out(Prepare).id, {"read": "1", "write": "1"})).answer("a").refuse("a")
    assert not any(isinstance(one, ToolCatalogChanged) for one in rig.events)

    rig.forget().give(Prepared(rig.out(Prepare).id, {"read": "2", "send": "1"}))

    assert rig.events[0] == ToolCatalogChanged(("send",), ("write",), ("read",))
    assert rig.trace == "tool_catalog_changed model_call_started !call_model"


def test_case_32_what_is_saved_of_a_step_does_not_grow_with_the_history() -> None:
    def head_of(turns: int) -> bytes:
        rig = Rig(history=(Item.user("hi"), Item.assistant("t")) * turns).ask()
        return encode_head(rig.state, rig.effects, 0)

    assert len(head_of(200)) - len(head_of(2)) < 20
    assert b"transcript" not in json.loads(head_of(2))


def test_case_40_a_model_call_that_keeps_being_lost_is_given_up() -> None:
    rig = Rig(LoopConfig(retry=RetryPolicy(max_attempts=3))).ask()
    for _ in range(3):
        assert rig.state.phase is Phase.CALLING
        rig.crash()

    assert rig.result.end is TurnEnd.ERROR
    assert rig.result.failure is not None
    assert rig.result.failure.kind is FailureKind.CONNECTION
    assert rig.result.usage.requests == 3
    assert [one.attempt for one in rig.events if isinstance(one, ModelCallFinished)] == [1, 2, 3]


# input and ends


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
    assert timer.at == rig.state.clock + 1_000 == 2_003


def test_case_39_interrupting_and_redirecting_is_two_turns_and_the_answer_so_far_is_kept() -> None:
    rig = Rig().ask().forget()

    rig.give(Cancel(answered(text="Hel"))).say("no, this").give(Continue()).answer()

    assert rig.trace.count("turn_finished") == 2
    texts = [item.text for item in rig.state.transcript]
    assert texts == ["hi", "Hel", "no, this", "t"]
