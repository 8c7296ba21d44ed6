"""Approvals: what is asked, for which calls an answer counts, and what a denial ends."""

import pytest

from agentkit_core import (
    ApprovalId,
    ApprovalKind,
    ApprovalRequest,
    JsonValue,
    ToolCall,
    ToolCallId,
    ToolFailure,
)
from agentkit_loop import GrantScope, LoopConfig, SteerPolicy, WaitingForApproval
from agentkit_loop.events import ApprovalRequired
from agentkit_loop.kernel import (
    Phase,
    Preflight,
    PreflightAsked,
    StartTimer,
    StartTool,
    TimerKind,
    ToolAsked,
)
from support.rig import Rig
from support.rig_queries import failure_of, resolutions, running, runs, yields


def test_case_01_of_approve_and_cancel_the_first_to_come_decides() -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write").resolve("write").cancel()
    assert runs(rig, "a") == 1
    assert rig.result_of("a").failure is ToolFailure.INTERRUPTED

    rig = Rig().ask().answer("a").ask_for("a", "write").cancel().forget().resolve("write")
    assert rig.trace == "diagnostic"
    assert "no call waits for approval 'write'" in str(rig.events[0])


def test_case_02_a_round_waits_for_its_approval_when_all_siblings_are_done() -> None:
    rig = Rig().ask().answer("a", "b").ask_for("a", "write").allow("b").done("b").forget()
    assert rig.state.phase is Phase.ROUND

    rig.go_on()

    (step,) = yields(rig)
    assert isinstance(step, WaitingForApproval)
    assert [ask.call.id for ask in step.requests] == ["a"]


@pytest.mark.parametrize("order", [("write", "send"), ("send", "write")])
def test_case_03_one_no_is_enough_in_whatever_order_the_answers_come(
    order: tuple[str, str],
) -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write", "send").forget()
    yes, no = order

    rig.resolve(yes).resolve(no, approve=False)

    assert runs(rig, "a") == 0
    assert rig.result_of("a").failure is ToolFailure.PERMISSION_DENIED


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


def test_case_21_steering_skips_a_call_that_waits_for_a_person_and_withdraws_its_ask() -> None:
    config = LoopConfig(steer_policy=SteerPolicy.SKIP_UNSTARTED)
    rig = Rig(config).ask().answer("a", "b", "c").ask_for("a", "write").allow("b", "c")
    rig.stop_to_ask("c", "which").forget().steer()

    assert rig.trace == (
        "input_queued:steer approval_resolved:a:withdrawn tool_result_received:a "
        "approval_resolved:c:withdrawn tool_result_received:c"
    )
    rig.done("b")
    assert failure_of(rig, "a") == (ToolFailure.SKIPPED, False)
    # What asks in the middle of its run has been started, and may have had an effect.
    assert failure_of(rig, "c") == (
        ToolFailure.INTERRUPTED,
        True,
    )
    assert not rig.result_of("b").is_error
    assert rig.last.text == "wait"


def test_case_21_a_cancelled_call_that_asked_in_the_middle_says_that_it_was_started() -> None:
    rig = Rig().ask().answer("a").allow("a").stop_to_ask("a", "which").cancel()

    assert failure_of(rig, "a") == (
        ToolFailure.INTERRUPTED,
        True,
    )


def test_case_33_the_same_call_twice_is_two_calls_and_two_approvals() -> None:
    same = [ToolCall(id=ToolCallId(one), name="write", input={"path": "x"}) for one in "ab"]
    rig = Rig().ask().answer(*same).ask_for("a", "write:x").ask_for("b", "write:x")

    rig.resolve("write:x")

    assert (runs(rig, "a"), runs(rig, "b")) == (1, 0)
    assert [(ask.call.id, ask.id) for ask in rig.state.pending_approvals] == [("b", "write:x")]


@pytest.mark.parametrize("ends", [False, True])
def test_case_35_a_denial_ends_the_turn_only_where_that_is_wanted(ends: bool) -> None:
    rig = Rig(LoopConfig(deny_ends_turn=ends)).ask().answer("a", "b").ask_for("a", "write")
    rig.allow("b").resolve("write", approve=False)
    assert rig.state.phase is Phase.ROUND

    assert rig.done("b").state.phase is (Phase.IDLE if ends else Phase.CALLING)
    assert [one.is_error for one in rig.last.tool_results] == [True, False]


def test_a_yes_for_the_session_counts_for_siblings_and_for_later_calls() -> None:
    rig = Rig().ask().answer("a", "b", "c").ask_for("a", "write")
    rig.ask_for("b", "write", "send").ask_for("c", "send").forget()

    rig.resolve("write", call_id="b", scope=GrantScope.SESSION)

    assert resolutions(rig) == [("b", "approved"), ("a", "approved")]
    assert running(rig) == ["a"]
    rig.resolve("send", call_id="b").resolve("send", call_id="c").done("a", "b", "c")
    rig.answer("d")
    check = rig.out(Preflight, "d")
    assert isinstance(check, Preflight)
    assert check.granted == ("write",)
    # Even one who asks all the same is not shown to anybody.
    assert running(rig.ask_for("d", "write")) == ["d"]


def test_a_yes_for_the_session_counts_for_background_calls_and_the_round_alike() -> None:
    rig = Rig().ask().answer("a").allow("a", detach_after_s=0).stop_to_ask("a", "write")
    rig.answer("b").ask_for("b", "write")

    rig.resolve("write", call_id="a", scope=GrantScope.SESSION)

    assert running(rig) == ["a", "b"]


def test_a_yes_with_other_arguments_counts_for_no_sibling_whatever_its_scope() -> None:
    rig = Rig().ask().answer("a", "b").ask_for("a", "write:x").ask_for("b", "write:x").forget()

    rig.resolve("write:x", call_id="a", input={"path": "y"}, scope=GrantScope.SESSION)

    assert resolutions(rig) == [("a", "approved")]
    assert [ask.call.id for ask in rig.state.pending_approvals] == ["b"]
    assert rig.state.grants == ()


def test_a_yes_once_counts_for_one_call() -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write").resolve("write").done("a").answer("b")

    check = rig.out(Preflight, "b")
    assert isinstance(check, Preflight)
    assert check.granted == ()


@pytest.mark.parametrize("want", [ApprovalKind.QUESTION, ApprovalKind.AUTH])
def test_questions_and_logins_are_answered_and_the_answer_is_for_that_call_only(
    want: ApprovalKind,
) -> None:
    rig = Rig().ask().answer("a").allow("a").stop_to_ask("a", "which", want=want)
    (ask,) = rig.state.pending_approvals
    assert ask.want is want

    rig.resolve("which", answer={"city": "Rome"}, scope=GrantScope.SESSION)

    effect = rig.out(StartTool)
    assert isinstance(effect, StartTool)
    assert effect.resume is not None
    assert effect.resume.answers == {"which": {"city": "Rome"}}
    assert rig.state.grants == ()


def test_a_question_is_asked_again_of_the_next_call_though_it_was_answered_once() -> None:
    rig = Rig().ask().answer("a", "b").allow("a", "b")
    rig.stop_to_ask("a", "which", want=ApprovalKind.QUESTION).resolve("which", answer=1)
    rig.stop_to_ask("b", "which", want=ApprovalKind.QUESTION)

    assert [ask.call.id for ask in rig.state.pending_approvals] == ["b"]


def test_vl13_a_tool_that_asks_its_question_again_reaches_the_person_again() -> None:
    rig = Rig().ask().answer("a").allow("a").stop_to_ask("a", "which", want=ApprovalKind.QUESTION)
    rig.resolve("which", answer=1).forget()

    rig.stop_to_ask("a", "which", want=ApprovalKind.QUESTION)
    assert [request.id for request in rig.state.pending_approvals] == ["which"]

    rig.forget().resolve("which", answer=2)
    effect = rig.out(StartTool)
    assert isinstance(effect, StartTool)
    assert effect.resume is not None
    assert effect.resume.answers == {"which": 2}


@pytest.mark.parametrize("takes_denials", [False, True])
def test_a_tool_that_takes_denials_is_told_of_them_and_any_other_call_is_over(
    takes_denials: bool,
) -> None:
    config = LoopConfig(deny_ends_turn=True)
    rig = Rig(config).ask().answer("a").allow("a")
    rig.stop_to_ask("a", "child:x", "child:y", takes_denials=takes_denials)

    rig.resolve("child:x", approve=False, reason="no")

    if not takes_denials:
        assert rig.result_of("a").failure is ToolFailure.PERMISSION_DENIED
        assert rig.result_of("a").started
        return
    assert running(rig) == []
    effect = rig.resolve("child:y").out(StartTool)
    assert isinstance(effect, StartTool)
    assert effect.resume is not None
    assert (effect.resume.denied, effect.granted) == ({"child:x": "no"}, ("child:y",))
    assert rig.done("a").state.phase is Phase.CALLING


def test_an_approval_for_the_session_answers_no_question_of_the_same_id() -> None:
    rig = Rig().ask().answer("a").ask_for("a", "which").resolve("which", scope=GrantScope.SESSION)
    assert rig.state.grants == ("which",)

    rig.stop_to_ask("a", "which", want=ApprovalKind.QUESTION)

    assert [request.want for request in rig.state.pending_approvals] == [ApprovalKind.QUESTION]
    assert running(rig) == []


def test_a_request_shows_the_call_that_waits_with_the_arguments_that_it_would_run_with() -> None:
    rig = Rig().ask().answer("a")
    stranger = ToolCall(ToolCallId("stranger"), "other", {"path": "elsewhere"})
    request = ApprovalRequest(
        id=ApprovalId("write"), call=stranger, kind="write", summary="write something"
    )
    safe: dict[str, JsonValue] = {"path": "/safe"}
    rig.give(PreflightAsked(rig.out(Preflight).id, requests=(request,), input=safe))

    (pending,) = rig.state.pending_approvals
    assert (pending.call.id, pending.call.name, pending.call.input) == ("a", "tool_a", safe)
    (told,) = [event.request for event in rig.events if isinstance(event, ApprovalRequired)]
    assert told == pending

    rig.resolve("write").stop_to_ask("a", "send")
    assert rig.state.pending_approvals[0].call.input == safe


def test_an_ask_with_nothing_to_ask_lets_the_call_run() -> None:
    rig = Rig().ask().answer("a")
    rig.give(PreflightAsked(rig.out(Preflight).id, requests=()))
    assert running(rig) == ["a"]

    rig.forget().give(ToolAsked(rig.out(StartTool).id, requests=()))
    assert rig.trace == "!start_tool:a"


def test_arguments_given_by_an_approver_are_checked_anew_and_vouched_for_by_kind() -> None:
    call = ToolCall(id=ToolCallId("a"), name="write", input={"path": "x"})
    rig = Rig().ask().answer(call).ask_for("a", "write:x", "send:x").resolve("send:x")
    rig.resolve("write:x", input={"path": "y"})
    check = rig.out(Preflight)
    assert isinstance(check, Preflight)
    # The yes to `send:x` was for the old arguments.
    assert (check.call.input, check.granted) == ({"path": "y"}, ("write:x",))

    rig.ask_for("a", "write:y", "send:y")
    assert [ask.id for ask in rig.state.pending_approvals] == ["send:y"]
    rig.resolve("send:y", input={"path": "z"}).ask_for("a", "write:z", "send:z")

    effect = rig.out(StartTool)
    assert isinstance(effect, StartTool)
    assert effect.call.input == {"path": "z"}
    assert {"write:z", "send:z"} <= set(effect.granted)


def test_what_was_vouched_for_before_a_call_ran_is_asked_when_the_tool_asks_itself() -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write:x").resolve("write:x", input={"path": "y"})
    rig.allow("a").stop_to_ask("a", "write:z")

    assert [ask.id for ask in rig.state.pending_approvals] == ["write:z"]


def test_a_tool_that_asks_in_the_middle_cannot_be_given_other_arguments() -> None:
    rig = Rig().ask().answer("a").allow("a").stop_to_ask("a", "write").forget()

    rig.resolve("write", input={"path": "y"})

    assert rig.trace == "approval_resolved:a:approved !start_tool:a"
    effect = rig.out(StartTool)
    assert isinstance(effect, StartTool)
    assert effect.call.input == {}


def test_an_answer_to_an_ask_that_nobody_has_is_told_and_changes_nothing() -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write").forget()

    rig.resolve("send").resolve("write", call_id="b")

    assert rig.trace == "diagnostic diagnostic"
    assert len(rig.state.pending_approvals) == 1
