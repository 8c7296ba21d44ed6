"""Recovery: what becomes of each effect when the process that performed it is gone."""

import pytest

from agentkit_core import FailureKind, Item, RetryPolicy, ToolFailure
from agentkit_loop import LoopConfig, LostTool, TurnEnd
from agentkit_loop.events import ApprovalRequired, ModelCallFinished
from agentkit_loop.kernel import (
    EffectLost,
    HookPoints,
    MutatorsDone,
    Phase,
    Prepare,
    Prepared,
    RunMutators,
    StartTimer,
    StartTool,
    TimerKind,
)
from support.rig import Rig
from support.rig_queries import in_background, runs


def test_mutators_that_were_lost_are_asked_again_and_told_of_once() -> None:
    rig = Rig(hooks=HookPoints(mutators=True)).ask().forget()
    late = rig.out(RunMutators).id

    rig.crash().give(MutatorsDone(late, items=(Item.user("late"),))).mutated(Item.user("new"))

    assert rig.trace.startswith("run_started !run_mutators diagnostic =rewrite mutation_finished")
    assert rig.state.transcript[0].text == "new"


def test_a_request_that_was_lost_is_prepared_again() -> None:
    rig = Rig(prepares=False).ask().forget().crash()

    assert rig.trace == "run_started !prepare"
    assert rig.turn.attempt == 1


def test_a_model_call_that_was_lost_is_another_attempt_with_a_request_of_its_own() -> None:
    rig = Rig(prepares=False).ask()
    rig.give(Prepared(rig.out(Prepare).id)).forget().crash()

    assert rig.trace == "run_started model_call_finished attempt_superseded !prepare"
    assert rig.turn.attempt == 2


def test_a_check_that_was_lost_is_made_again() -> None:
    rig = Rig().ask().answer("a").forget().crash()

    assert rig.trace == "run_started !preflight:a"
    assert rig.allow("a").done("a").state.phase is Phase.CALLING


@pytest.mark.parametrize("why", [TimerKind.TIMEOUT, TimerKind.DETACH])
def test_the_timer_of_a_call_that_was_lost_keeps_its_time(why: TimerKind) -> None:
    rig = Rig().ask().answer("a").allow("a", timeout_s=3.0, detach_after_s=2.0)
    before = {one.why: one.at for one in rig.state.out.values() if isinstance(one, StartTimer)}
    rig.now = 60_000
    rig.crash()

    after = {one.why: one.at for one in rig.state.out.values() if isinstance(one, StartTimer)}
    assert after == before
    assert rig.ring(why).state.phase is Phase.CALLING


def test_a_wait_that_was_lost_ends_when_it_would_have_and_its_request_is_made_anew() -> None:
    rig = Rig(prepares=False).ask()
    rig.give(Prepared(rig.out(Prepare).id)).fail()
    timer = rig.out(StartTimer)
    assert isinstance(timer, StartTimer)

    again = rig.forget().crash().out(StartTimer)

    assert isinstance(again, StartTimer)
    assert again.at == timer.at
    assert again.id != timer.id
    assert rig.forget().ring().trace == "!prepare"


def test_hooks_that_were_lost_are_asked_again() -> None:
    rig = Rig(hooks=HookPoints(finish=True)).ask().answer().forget().crash()

    assert rig.trace == "run_started !check_finish"
    assert rig.checked().result.end is TurnEnd.COMPLETED


@pytest.mark.parametrize("approve", [True, False])
@pytest.mark.parametrize("aside", [True, False])
def test_someone_is_asked_whether_a_lost_tool_may_run_again(approve: bool, aside: bool) -> None:
    rig = Rig(LoopConfig(lost_tool=LostTool.ASK)).ask().answer("a")
    rig.allow("a", detach_after_s=0 if aside else None, timeout_s=9.0)
    if aside:
        rig.answer()
    rig.begin("a").forget().crash()
    (ask,) = rig.state.pending_approvals
    assert (ask.kind, ask.call.name) == ("tool.lost", "tool_a")
    assert [one.background for one in rig.events if isinstance(one, ApprovalRequired)] == [aside]
    assert "<waiting_for_approval>" in rig.trace

    rig.resolve(ask.id, approve=approve, reason="too dangerous")

    if approve:
        assert rig.out(StartTool, "a")
        # It is lost again, and asked about again.
        rig.begin("a").crash()
        assert [one.kind for one in rig.state.pending_approvals] == ["tool.lost"]
        assert rig.state.pending_approvals[0].id != ask.id
        return
    if aside:
        rig.go_on()
        assert "The outcome of tool_a is unknown" in rig.last.text
    else:
        assert rig.result_of("a").failure is ToolFailure.OUTCOME_UNKNOWN


def test_a_lost_tool_takes_its_timers_with_it_while_it_is_asked_about() -> None:
    rig = Rig(LoopConfig(lost_tool=LostTool.ASK)).ask().answer("a", "b")
    rig.allow("a", timeout_s=9.0, detach_after_s=3.0).allow("b").begin("a")
    rig.lose(StartTool, "a")

    assert list(map(type, rig.state.out.values())) == [StartTool]


def test_a_lost_tool_that_may_be_repeated_keeps_its_answers_and_its_token() -> None:
    rig = Rig().ask().answer("a").allow("a", repeatable=True).stop_to_ask("a", "which", token=7)
    rig.resolve("which").begin("a").crash()

    effect = rig.out(StartTool)
    assert isinstance(effect, StartTool)
    assert effect.resume is not None
    assert (effect.resume.token, effect.granted, effect.started) == (7, ("which",), False)


def test_asks_queues_and_notices_need_nothing_after_a_crash() -> None:
    rig = Rig().ask().answer("a", "b").allow("a", detach_after_s=0).ask_for("b", "w")
    rig.done("a")
    rig.steer("S").say("F")
    before = (rig.state.pending_approvals, rig.state.steer, rig.state.inputs, rig.state.notices)

    rig.forget().crash().go_on()

    assert (
        rig.state.pending_approvals,
        rig.state.steer,
        rig.state.inputs,
        rig.state.notices,
    ) == before
    assert rig.trace == "run_started <waiting_for_approval>"


def test_an_answer_of_whoever_was_lost_comes_too_late() -> None:
    rig = Rig().ask().answer("a").allow("a", repeatable=True).begin("a")
    late = rig.out(StartTool).id
    rig.crash().forget()

    rig.give(EffectLost(late))

    assert rig.trace == "diagnostic"


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
        assert rig.result_of("a").failure is ToolFailure.OUTCOME_UNKNOWN
        assert rig.result_of("a").started
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
    assert effect.resume is not None
    assert effect.resume.token == {"children": [1, 2]}
    assert set(effect.granted) == {"write:x", "send:y"}
    assert rig.trace.count("tool_execution_started:a") == 1


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
