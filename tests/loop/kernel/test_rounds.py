"""Rounds: which calls run side by side, which wait, and how one ends early."""

import math

import pytest

from agentkit_core import FinishReason, TextOutput, ToolCall, ToolCallId, ToolFailure, ToolResult
from agentkit_loop import Execution, LoopConfig
from agentkit_loop.events import Diagnostic, ToolResultReceived
from agentkit_loop.kernel import CancelCall, Phase, StartTimer, StartTool, TimerKind, ToolDone
from support.rig import Rig
from support.rig_queries import failure_of, running


def test_an_exclusive_call_runs_beside_nothing_and_nothing_overtakes_it() -> None:
    rig = Rig().ask().answer("a", "x", "b", "y")
    rig.allow("a").allow("x", exclusive=True).allow("b").allow("y", exclusive=True)

    order = []
    while rig.state.phase is Phase.ROUND:
        order.append(running(rig))
        rig.done(running(rig)[0])

    assert order == [["a"], ["x"], ["b"], ["y"]]


def test_t02_calls_that_only_read_run_side_by_side_and_any_other_alone() -> None:
    config = LoopConfig(execution=Execution.READS_PARALLEL)
    rig = Rig(config).ask().answer("r1", "r2", "w", "r3", "r4")
    rig.allow("r1", "r2", read_only=True).ask_for("w", "write").allow("r3", "r4", read_only=True)
    assert running(rig) == ["r1", "r2", "r3", "r4"], "what waits for a person holds up nobody"

    assert running(rig.resolve("write").done("r1", "r2", "r3")) == ["r4"]
    assert running(rig.done("r4")) == ["w"]

    rig.done("w").answer("w1", "w2", "r5").allow("w1", "w2").allow("r5", read_only=True)
    assert running(rig) == ["w1"]
    assert running(rig.done("w1")) == ["w2"]
    assert running(rig.done("w2")) == ["r5"]


def test_calls_before_an_exclusive_one_run_side_by_side_and_it_waits_for_all_of_them() -> None:
    rig = Rig().ask().answer("a", "b", "x").allow("a", "b").allow("x", exclusive=True)
    assert running(rig) == ["a", "b"]

    assert running(rig.done("b")) == ["a"]
    assert running(rig.done("a")) == ["x"]


def test_an_exclusive_call_that_waits_for_a_person_holds_up_nobody() -> None:
    rig = Rig().ask().answer("x", "a").ask_for("x", "write", exclusive=True).allow("a")
    assert running(rig) == ["a"]

    assert running(rig.resolve("write")) == ["a"]
    assert running(rig.done("a")) == ["x"]


def test_a_call_that_is_approved_while_an_exclusive_one_runs_waits_for_it() -> None:
    rig = Rig().ask().answer("x", "a").allow("x", exclusive=True).ask_for("a", "write")

    assert running(rig.resolve("write")) == ["x"]
    assert running(rig.done("x")) == ["a"]


def test_a_slot_that_an_immediate_detach_frees_is_used_in_the_same_pass() -> None:
    rig = Rig(LoopConfig(max_parallel=1)).ask().answer("a", "b", "c")
    rig.allow("a", "b", detach_after_s=0).allow("c")

    assert running(rig) == ["a", "b", "c"]
    assert list(rig.state.background) == ["a", "b"]


def test_when_all_calls_of_a_round_detach_at_once_the_model_is_asked_at_once() -> None:
    config = LoopConfig(execution=Execution.SEQUENTIAL)
    rig = Rig(config).ask().answer("a", "b").allow("a", detach_after_s=0)
    rig.allow("b", detach_after_s=0)

    assert rig.state.phase is Phase.CALLING
    assert [one.call_id for one in rig.last.tool_results] == ["a", "b"]
    assert not any(one.is_error for one in rig.last.tool_results)


def test_a_call_that_is_checked_again_holds_up_those_that_have_not_begun() -> None:
    rig = Rig(LoopConfig(max_parallel=1)).ask().answer("a", "b", "c")
    rig.allow("a").ask_for("b", "write").allow("c").resolve("write", input={"path": "y"})

    assert running(rig.done("a")) == []
    assert running(rig.allow("b")) == ["b"]


def test_one_call_may_be_cancelled_and_the_round_goes_on() -> None:
    rig = Rig().ask().answer("a", "b", "c").allow("a", "b").ask_for("c", "write").forget()

    rig.give(CancelCall(ToolCallId("a"))).give(CancelCall(ToolCallId("c")))

    assert rig.trace == (
        "!abort tool_result_received:a approval_resolved:c:withdrawn tool_result_received:c"
    )
    rig.done("b")
    assert failure_of(rig, "a") == (
        ToolFailure.INTERRUPTED,
        True,
    )
    assert failure_of(rig, "c") == (
        ToolFailure.INTERRUPTED,
        False,
    )
    assert not rig.result_of("b").is_error


@pytest.mark.parametrize("call_id", ["a", "nobody"])
def test_cancelling_a_call_that_is_not_under_way_changes_nothing(call_id: str) -> None:
    rig = Rig().ask().answer("a", "b").allow("a", "b").done("a").forget()

    rig.give(CancelCall(ToolCallId(call_id)))

    assert rig.trace == "diagnostic"


def test_a_call_that_runs_too_long_is_stopped_and_the_model_is_told() -> None:
    rig = Rig().ask().answer("a").allow("a", timeout_s=1.5, detach_after_s=9.0).forget()

    rig.ring(TimerKind.TIMEOUT)

    assert rig.trace.startswith("!abort !abort tool_result_received:a +tool")
    assert rig.result_of("a").failure is ToolFailure.TIMED_OUT
    assert rig.result_of("a").output == TextOutput(
        "tool_a was stopped after 1.5 s; it may have had an effect."
    )


def test_a_call_that_is_done_takes_its_timers_with_it() -> None:
    rig = Rig().ask().answer("a", "b").allow("a", timeout_s=1.5, detach_after_s=9.0).allow("b")

    rig.forget().done("a")

    assert rig.trace == "!abort !abort tool_result_received:a"
    assert running(rig) == ["b"]
    assert len(rig.state.out) == 1


def test_a_call_that_detached_may_still_run_only_so_long() -> None:
    rig = Rig().ask().answer("a").allow("a", timeout_s=5.0, detach_after_s=1.0)
    rig.ring(TimerKind.DETACH).answer().ring(TimerKind.TIMEOUT).go_on()

    assert rig.state.background == {}
    assert "tool_a was stopped after 5 s" in rig.last.text


@pytest.mark.parametrize("endless", [math.inf, math.nan])
def test_an_endless_time_is_no_time_at_all(endless: float) -> None:
    rig = Rig().ask().answer("a").allow("a", timeout_s=endless, detach_after_s=endless)

    assert not any(isinstance(one, StartTimer) for one in rig.effects)


def test_what_a_hook_changed_before_a_call_is_what_runs() -> None:
    rig = Rig().ask().answer("a").allow("a", input={"path": "/safe"})

    effect = rig.out(StartTool)
    assert isinstance(effect, StartTool)
    assert effect.call.input == {"path": "/safe"}
    assert rig.last.tool_calls[0].input == {}


def test_a_result_that_names_another_call_is_given_to_the_call_that_ran() -> None:
    rig = Rig().ask().answer("a")
    rig.allow("a")

    stray = ToolResult(call_id=ToolCallId("b"), output=TextOutput("r"))
    rig.give(ToolDone(rig.out(StartTool).id, stray))

    assert rig.result_of("a").output == TextOutput("r")
    assert any(isinstance(one, Diagnostic) for one in rig.events)


def test_case_12_a_call_that_cannot_run_is_answered_and_the_model_may_do_better() -> None:
    rig = Rig().ask().answer("a").refuse("a", "no tool is called tool_a")

    assert rig.result_of("a").output == TextOutput("no tool is called tool_a")
    assert not rig.result_of("a").started
    assert rig.state.phase is Phase.CALLING


def test_case_11_events_items_and_results_speak_of_the_same_repaired_ids() -> None:
    rig = Rig().ask().answer(*(ToolCall(id=ToolCallId(""), name="read") for _ in range(2)))
    ids = [call.id for call in rig.last.tool_calls]
    rig.allow(*ids).done(*ids)

    assert len(set(ids)) == 2
    told = [one.call_id for one in rig.events if isinstance(one, ToolResultReceived)]
    assert told == [one.call_id for one in rig.last.tool_results] == ids


def test_case_13_of_an_answer_that_was_cut_the_last_call_is_answered_as_cut_off() -> None:
    # Even if it can be read: what was meant is not known. The notes would run it then.
    rig = Rig().ask().answer("a", "b", reason=FinishReason.MAX_TOKENS).allow("a").done("a")

    assert not rig.result_of("a").is_error
    assert rig.result_of("b").failure is ToolFailure.CUT_OFF
