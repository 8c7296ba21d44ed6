"""Tricky cases of calls: when they run, what they wait for, and what goes on in the background."""

import math

import pytest

from agentkit_core import (
    ApprovalKind,
    File,
    FilesOutput,
    Item,
    Media,
    Modality,
    PartsOutput,
    StructuredOutput,
    Text,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolResult,
    Uri,
    Usage,
)
from agentkit_loop import (
    ApprovalResolved,
    CancelCall,
    Close,
    Diagnostic,
    Execution,
    GrantScope,
    LoopConfig,
    Phase,
    Preflight,
    PreflightAsked,
    Reset,
    StartTimer,
    StartTool,
    TimerKind,
    ToolAsked,
    ToolDone,
    ToolResultReceived,
)
from support.rig import Rig


def running(rig: Rig) -> list[str]:
    return [str(one.call_id) for one in rig.state.out.values() if isinstance(one, StartTool)]


def in_background(call_id: str = "a", config: LoopConfig | None = None) -> Rig:
    """A rig whose model has been told that a call goes on, and has ended the turn."""
    return Rig(config).ask().answer(call_id).allow(call_id, detach_after_s=0).answer()


def resolutions(rig: Rig) -> list[tuple[str, str]]:
    return [
        (one.call_id, one.outcome.value) for one in rig.events if isinstance(one, ApprovalResolved)
    ]


# side by side, or not


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
    assert (rig.told("a").failure, rig.told("a").started) == (ToolFailure.INTERRUPTED, True)
    assert (rig.told("c").failure, rig.told("c").started) == (ToolFailure.INTERRUPTED, False)
    assert not rig.told("b").is_error


@pytest.mark.parametrize("call_id", ["a", "nobody"])
def test_cancelling_a_call_that_is_not_under_way_changes_nothing(call_id: str) -> None:
    rig = Rig().ask().answer("a", "b").allow("a", "b").done("a").forget()

    rig.give(CancelCall(ToolCallId(call_id)))

    assert rig.trace == "diagnostic"


def test_a_call_that_runs_too_long_is_stopped_and_the_model_is_told() -> None:
    rig = Rig().ask().answer("a").allow("a", timeout_s=1.5, detach_after_s=9.0).forget()

    rig.ring(TimerKind.TIMEOUT)

    assert rig.trace.startswith("!abort !abort tool_result_received:a +tool")
    assert rig.told("a").failure is ToolFailure.TIMED_OUT
    assert rig.told("a").output == TextOutput(
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
    assert effect.input == {"path": "/safe"}
    assert rig.last.tool_calls[0].input == {}


def test_a_result_that_names_another_call_is_given_to_the_call_that_ran() -> None:
    rig = Rig().ask().answer("a")
    rig.allow("a")

    stray = ToolResult(call_id=ToolCallId("b"), output=TextOutput("r"))
    rig.give(ToolDone(rig.out(StartTool).id, stray))

    assert rig.told("a").output == TextOutput("r")
    assert any(isinstance(one, Diagnostic) for one in rig.events)


# asks


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
    assert [ask.call_id for ask in rig.state.asks] == ["b"]
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
    (ask,) = rig.state.asks
    assert ask.want is want

    rig.resolve("which", answer={"city": "Rome"}, scope=GrantScope.SESSION)

    effect = rig.out(StartTool)
    assert isinstance(effect, StartTool)
    assert effect.answers == {"which": {"city": "Rome"}}
    assert rig.state.grants == ()


def test_a_question_is_asked_again_of_the_next_call_though_it_was_answered_once() -> None:
    rig = Rig().ask().answer("a", "b").allow("a", "b")
    rig.stop_to_ask("a", "which", want=ApprovalKind.QUESTION).resolve("which", answer=1)
    rig.stop_to_ask("b", "which", want=ApprovalKind.QUESTION)

    assert [ask.call_id for ask in rig.state.asks] == ["b"]


def test_a_tool_that_asks_for_what_it_was_answered_goes_on_at_once() -> None:
    rig = Rig().ask().answer("a").allow("a").stop_to_ask("a", "which", want=ApprovalKind.QUESTION)
    rig.resolve("which", answer=1).forget()

    rig.stop_to_ask("a", "which", want=ApprovalKind.QUESTION)

    assert rig.trace == "!start_tool:a"


@pytest.mark.parametrize("takes_denials", [False, True])
def test_a_tool_that_takes_denials_is_told_of_them_and_any_other_call_is_over(
    takes_denials: bool,
) -> None:
    config = LoopConfig(deny_ends_turn=True)
    rig = Rig(config).ask().answer("a").allow("a")
    rig.stop_to_ask("a", "child:x", "child:y", takes_denials=takes_denials)

    rig.resolve("child:x", approve=False, reason="no")

    if not takes_denials:
        assert rig.told("a").failure is ToolFailure.PERMISSION_DENIED
        assert rig.told("a").started
        return
    assert running(rig) == []
    effect = rig.resolve("child:y").out(StartTool)
    assert isinstance(effect, StartTool)
    assert (effect.denied, effect.granted) == ({"child:x": "no"}, ("child:y",))
    assert rig.done("a").state.phase is Phase.CALLING


def test_an_ask_with_nothing_to_ask_lets_the_call_run() -> None:
    rig = Rig().ask().answer("a")
    rig.give(PreflightAsked(rig.out(Preflight).id, ()))
    assert running(rig) == ["a"]

    rig.forget().give(ToolAsked(rig.out(StartTool).id, ()))
    assert rig.trace == "!start_tool:a"


def test_arguments_given_by_an_approver_are_checked_anew_and_vouched_for_by_kind() -> None:
    call = ToolCall(id=ToolCallId("a"), name="write", input={"path": "x"})
    rig = Rig().ask().answer(call).ask_for("a", "write:x", "send:x").resolve("send:x")
    rig.resolve("write:x", input={"path": "y"})
    check = rig.out(Preflight)
    assert isinstance(check, Preflight)
    # The yes to `send:x` was for the old arguments.
    assert (check.input, check.granted) == ({"path": "y"}, ("write:x",))

    rig.ask_for("a", "write:y", "send:y")
    assert [ask.id for ask in rig.state.asks] == ["send:y"]
    rig.resolve("send:y", input={"path": "z"}).ask_for("a", "write:z", "send:z")

    effect = rig.out(StartTool)
    assert isinstance(effect, StartTool)
    assert effect.input == {"path": "z"}
    assert {"write:z", "send:z"} <= set(effect.granted)


def test_what_was_vouched_for_before_a_call_ran_is_asked_when_the_tool_asks_itself() -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write:x").resolve("write:x", input={"path": "y"})
    rig.allow("a").stop_to_ask("a", "write:z")

    assert [ask.id for ask in rig.state.asks] == ["write:z"]


def test_a_tool_that_asks_in_the_middle_cannot_be_given_other_arguments() -> None:
    rig = Rig().ask().answer("a").allow("a").stop_to_ask("a", "write").forget()

    rig.resolve("write", input={"path": "y"})

    assert rig.trace == "approval_resolved:a:approved !start_tool:a"
    effect = rig.out(StartTool)
    assert isinstance(effect, StartTool)
    assert effect.input == {}


def test_an_answer_to_an_ask_that_nobody_has_is_told_and_changes_nothing() -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write").forget()

    rig.resolve("send").resolve("write", call_id="b")

    assert rig.trace == "diagnostic diagnostic"
    assert len(rig.state.asks) == 1


# in the background


def test_closing_withdraws_background_asks_and_ends_their_calls() -> None:
    rig = Rig().ask().answer("a", "b").allow("a", "b", detach_after_s=0).answer()
    rig.stop_to_ask("a", "which").forget().give(Close())

    assert rig.trace == (
        "approval_resolved:a:withdrawn tool_result_received:a "
        "!abort tool_result_received:b run_finished <closed>"
    )
    assert (rig.state.background, rig.state.out, rig.state.asks) == ({}, {}, ())


def test_one_background_call_may_be_cancelled_and_the_model_is_told() -> None:
    rig = in_background().forget().give(CancelCall(ToolCallId("a")))

    assert rig.trace == "!abort tool_result_received:a <awaiting_input>"
    assert rig.go_on().last.text == (
        "Background call a of tool_a failed:\ntool_a was cancelled; it may have had an effect."
    )


def test_a_background_call_that_asks_for_what_is_granted_goes_on_at_once() -> None:
    rig = Rig().ask().answer("a", "b").ask_for("a", "write", detach_after_s=0)
    rig.allow("b").resolve("write", scope=GrantScope.SESSION).done("b").answer()

    rig.forget().stop_to_ask("a", "write")

    assert rig.trace == "!start_tool:a"


def test_what_a_background_call_used_is_the_running_turns_or_else_the_next_ones() -> None:
    def spent(tokens: int) -> Usage:
        return Usage(tokens=TokenUsage(input=tokens), requests=1, reported_requests=1)

    rig = Rig().ask().answer("a", "b", usage=spent(1)).allow("a", "b", detach_after_s=0)
    rig.done("a", usage=spent(10)).answer(usage=spent(1))
    assert rig.result.usage == Usage(tokens=TokenUsage(input=12), requests=3, reported_requests=3)

    rig.done("b", usage=spent(100)).go_on().answer(usage=spent(1))
    assert rig.result.usage.tokens == TokenUsage(input=101)


def test_tools_that_a_result_adds_are_offered_also_if_it_comes_from_the_background() -> None:
    rig = Rig().ask().answer("a", "b").allow("a", detach_after_s=0).allow("b")
    rig.done("b", added_tools=("read", "write")).done("a", added_tools=("write", "send"))

    assert rig.state.added_tools == ("read", "write", "send")


def test_a_tool_in_the_background_cannot_end_a_turn() -> None:
    rig = Rig().ask().answer("a").allow("a", detach_after_s=0).done("a", stop=True)

    assert rig.state.phase is Phase.CALLING


def test_notices_and_steering_go_in_together_notices_first() -> None:
    rig = Rig().ask().answer("a", "b").allow("a", detach_after_s=0).allow("b")
    rig.steer("S").done("a").done("b")

    assert rig.kinds == "user assistant tool notification user"


def test_forgetting_the_conversation_ends_background_calls_without_telling_the_model() -> None:
    rig = in_background().stop_to_ask("a", "which").forget().give(Reset())

    assert "approval_resolved:a:withdrawn tool_result_received:a" in rig.trace
    assert rig.state.notices == ()
    assert rig.state.background == {}


def test_ids_of_calls_are_not_used_again_after_their_pair_was_taken_out() -> None:
    rig = Rig(LoopConfig(mutate=True)).ask().mutated().answer("a").allow("a").done("a")
    rig.mutated(Item.user("summary"))
    assert rig.kinds == "user"

    rig.answer("a")

    (call,) = rig.last.tool_calls
    assert call.id != "a"
    rig.allow(call.id).done(call.id)
    told = [one.call_id for one in rig.events if isinstance(one, ToolResultReceived)]
    assert told == ["a", call.id]


def test_ids_are_not_used_again_after_the_conversation_was_forgotten() -> None:
    rig = Rig().ask().answer("a").allow("a").done("a").answer().give(Reset())

    (call,) = rig.ask().answer("a").last.tool_calls

    assert call.id != "a"


def test_a_notification_has_the_text_of_its_result_and_the_other_parts_beside_it() -> None:
    picture = Media(modality=Modality.IMAGE, mime_type="image/png", data=Uri("https://x.test/a"))
    file = File(name="a.txt", data=Uri("https://x.test/b"))
    outputs = (
        (PartsOutput((Text(text="look"), picture)), "\nlook", (picture,)),
        (FilesOutput((file,)), "", (file,)),
        (StructuredOutput({"ok": True}), '\n{"ok":true}', ()),
        (TextOutput(""), "", ()),
    )
    for output, text, more in outputs:
        rig = in_background()
        result = ToolResult(call_id=ToolCallId("a"), output=output)
        rig.give(ToolDone(rig.out(StartTool).id, result)).go_on()

        head, *rest = rig.last.parts
        assert isinstance(head, Text)
        assert head.text == f"Background call a of tool_a is done:{text}"
        assert tuple(rest) == more
