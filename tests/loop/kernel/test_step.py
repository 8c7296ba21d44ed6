"""The kernel's decisions: golden traces, and the faults that a loop can have by itself."""

import pytest

from agentkit_core import (
    Custom,
    FinishReason,
    Item,
    ItemKind,
    ModelResponse,
    Reasoning,
    RetryPolicy,
    SessionId,
    StructuredOutput,
    Text,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolResult,
    Transcript,
    UnansweredToolCall,
    Usage,
)
from agentkit_loop import BusyInput, Execution, Lane, Limits, LoopConfig, QueueMode, TurnEnd
from agentkit_loop.events import (
    AttemptSuperseded,
    Diagnostic,
    InputRejected,
    ModelCallFinished,
    RetryScheduled,
    ToolProgress,
)
from agentkit_loop.kernel import (
    CallModel,
    Close,
    Continue,
    EffectId,
    ModelResponded,
    Phase,
    Preflight,
    PreflightRefused,
    StartTimer,
    StartTool,
    Submit,
    ToolDone,
    ToolProgressed,
    start,
)
from support.answers import model_answer
from support.rig import Rig

STRAIGHT = "turn_started +user model_call_started !call_model"


def reported(tokens: int, output: int) -> Usage:
    return Usage(tokens=TokenUsage(input=tokens, output=output), requests=1, reported_requests=1)


# golden traces


def test_a_turn_without_tools() -> None:
    rig = Rig().say()
    assert rig.trace == "input_queued:next"

    rig.forget().give(Continue()).answer()

    assert (
        rig.trace == f"{STRAIGHT} model_call_finished +assistant turn_finished:completed <finished>"
    )
    assert [item.kind for item in rig.state.transcript] == ["user", "assistant"]


def test_two_tools_side_by_side_and_the_second_is_done_first() -> None:
    rig = Rig().ask().answer("a", "b").allow("a", "b").done("b", "a").answer()

    assert rig.trace == (
        "model_call_finished +assistant tool_call_requested:a tool_call_requested:b "
        "!preflight:a !preflight:b "
        "!start_tool:a tool_execution_started:a !start_tool:b tool_execution_started:b "
        "tool_result_received:b tool_result_received:a +tool "
        "model_call_started !call_model model_call_finished +assistant "
        "turn_finished:completed <finished>"
    )
    assert [one.call_id for one in rig.state.transcript[2].tool_results] == ["a", "b"]
    assert [item.kind for item in rig.result.items] == ["assistant", "tool", "assistant"]


def test_no_tool_of_a_round_begins_before_all_of_its_calls_are_checked() -> None:
    rig = Rig().ask().answer("a", "b").allow("a")
    assert "!start_tool" not in rig.trace

    rig.allow("b")
    assert rig.trace.endswith(
        "!start_tool:a tool_execution_started:a !start_tool:b tool_execution_started:b"
    )


def test_sequential_calls_are_checked_and_run_one_after_another() -> None:
    config = LoopConfig(execution=Execution.SEQUENTIAL)
    rig = Rig(config).ask().answer("a", "b").forget()

    rig.allow("a").done("a").allow("b").done("b")

    assert rig.trace == (
        "!start_tool:a tool_execution_started:a tool_result_received:a !preflight:b "
        "!start_tool:b tool_execution_started:b tool_result_received:b "
        "+tool model_call_started !call_model"
    )


def test_no_more_tools_run_at_a_time_than_allowed() -> None:
    rig = Rig(LoopConfig(max_parallel=2)).ask().answer("a", "b", "c").allow("a", "b", "c")
    assert len([one for one in rig.state.out.values() if isinstance(one, StartTool)]) == 2

    rig.done("b")

    assert rig.out(StartTool, "c")


def test_two_approvals_in_one_call_while_its_sibling_runs() -> None:
    rig = Rig().ask().answer("a", "b").forget()

    rig.ask_for("a", "write", "send").allow("b").done("b")
    rig.resolve("send").resolve("write").done("a")

    assert rig.trace == (
        "approval_required:a approval_required:a <waiting_for_approval> "
        "!start_tool:b tool_execution_started:b tool_result_received:b "
        "approval_resolved:a:approved <waiting_for_approval> "
        "approval_resolved:a:approved !start_tool:a tool_execution_started:a "
        "tool_result_received:a +tool model_call_started !call_model"
    )


def test_a_denied_call_is_never_run_and_its_other_approvals_are_withdrawn() -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write", "send").forget()

    rig.resolve("send", approve=False, reason="not on a Sunday")

    assert rig.trace == (
        "approval_resolved:a:denied approval_resolved:a:withdrawn tool_result_received:a "
        "+tool model_call_started !call_model"
    )
    (result,) = rig.last.tool_results
    assert result.output == TextOutput("not on a Sunday")
    assert result.failure is ToolFailure.PERMISSION_DENIED
    assert not result.started


def test_an_open_approval_is_shown_as_often_as_the_host_wants_to_know() -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write").forget()

    rig.give(Continue()).give(Continue())

    assert rig.trace == "<waiting_for_approval> <waiting_for_approval>"


def test_what_the_approver_changed_is_what_runs_and_the_transcript_keeps_the_original() -> None:
    call = ToolCall(id=ToolCallId("a"), name="write", input={"path": "a"})
    rig = Rig().ask().answer(call).ask_for("a", "write:a", "send").forget()

    rig.resolve("write:a", input={"path": "b"})
    assert rig.trace == ("approval_resolved:a:approved approval_resolved:a:withdrawn !preflight:a")
    # Whoever gave the arguments is not asked about that kind again, but about others.
    rig.forget().ask_for("a", "write:b", "send")
    assert [ask.id for ask in rig.state.pending_approvals] == ["send"]
    rig.resolve("send")

    effect = rig.out(StartTool, "a")
    assert isinstance(effect, StartTool)
    assert effect.call.input == {"path": "b"}
    assert rig.state.transcript[-1].tool_calls[0].input == {"path": "a"}


def test_what_was_granted_for_the_old_arguments_does_not_count_for_new_ones() -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write", "send").resolve("send")

    rig.resolve("write", input={"path": "b"})

    effect = rig.out(Preflight, "a")
    assert isinstance(effect, Preflight)
    assert effect.granted == ("write",)


def test_equal_asks_of_two_calls_are_two_approvals() -> None:
    rig = Rig().ask().answer("a", "b").ask_for("a", "write").ask_for("b", "write")

    rig.resolve("write", call_id="b")

    assert rig.out(StartTool, "b")
    assert [ask.call.id for ask in rig.state.pending_approvals] == ["a"]


def test_a_retry_is_visible_and_what_was_shown_of_the_first_attempt_is_superseded() -> None:
    rig = Rig().ask().fail(Text(text="Hel")).ring().answer(text="Hello")

    assert rig.trace == (
        "model_call_finished attempt_superseded retry_scheduled !timer "
        "model_call_started !call_model model_call_finished +assistant "
        "turn_finished:completed <finished>"
    )
    assert rig.result.text == "Hello"


def test_the_host_gets_the_word_after_a_round_if_it_wants_it() -> None:
    rig = Rig(LoopConfig(yield_after_round=True)).ask().answer("a").allow("a").forget()

    rig.done("a").say("wait", Lane.STEER).give(Continue())

    assert rig.trace == (
        "tool_result_received:a +tool <after_round> input_queued:steer "
        "+user model_call_started !call_model"
    )


def test_closing_ends_the_turn_and_then_the_session() -> None:
    rig = Rig().ask().answer("a").allow("a").forget().give(Close())

    assert rig.trace == (
        "!abort tool_result_received:a +tool turn_finished:cancelled <finished> "
        "run_finished <closed>"
    )
    rig.forget().say()
    assert rig.trace == "diagnostic"


# beginning and input


def test_a_history_is_told_and_stored_but_not_answered() -> None:
    state, effects = start(SessionId("s"), model="m", history=[Item.user("old")])

    assert [type(one).__name__ for one in effects] == ["Emit", "Persist", "Emit"]
    assert [item.text for item in state.transcript] == ["old"]
    rig = Rig(history=(Item.user("old"),)).give(Continue())
    assert rig.trace == "<awaiting_input>"


def test_r01_a_history_that_breaks_a_rule_is_refused_before_anything_is_sent() -> None:
    call = ToolCall(id=ToolCallId("t1"), name="read")

    with pytest.raises(UnansweredToolCall):
        start(SessionId("s"), model="m", history=[Item.assistant(call), Item.user("go on")])


def test_items_of_models_and_tools_cannot_be_submitted() -> None:
    result = ToolResult(call_id=ToolCallId("x"), output=TextOutput("r"))
    for item in (Item.assistant("I said"), Item.tool(result)):
        rig = Rig().give(Submit((Item.user("a"), item)))

        assert any(isinstance(one, InputRejected) for one in rig.events)
        assert rig.state.inputs == ()


def test_nothing_submitted_is_nothing_to_do() -> None:
    rig = Rig().give(Submit(())).give(Continue())

    assert rig.trace == "<awaiting_input>"


def test_what_asks_for_no_answer_gets_none_and_the_turn_is_still_paired() -> None:
    rig = Rig().give(Submit((Item.context("notes"),))).forget().give(Continue())

    assert rig.trace == "turn_started +context turn_finished:completed <finished>"


@pytest.mark.parametrize(
    ("busy_input", "told"),
    [
        (BusyInput.QUEUE, "input_queued:next"),
        (BusyInput.STEER, "input_queued:steer"),
        (BusyInput.REJECT, "input_rejected"),
    ],
)
def test_what_becomes_of_input_while_a_turn_runs_is_a_choice(
    busy_input: BusyInput, told: str
) -> None:
    assert Rig(LoopConfig(busy_input=busy_input)).ask().say("more").trace == told


def test_l11_steering_waits_for_the_round_and_follow_ups_for_the_next_turn() -> None:
    rig = Rig().ask("go").answer("a").allow("a")
    rig.say("S1", Lane.STEER).say("F1").say("S2", Lane.STEER).done("a").answer()
    # S3 comes after the model's last word, and before anyone continues.
    rig.say("S3", Lane.STEER).give(Continue()).answer()

    texts = [item.text for item in rig.state.transcript if item.kind is ItemKind.USER]
    assert texts == ["go", "S1", "S2", "F1", "S3"]
    kinds = [item.kind.value for item in rig.state.transcript]
    assert kinds == [
        "user", "assistant", "tool", "user", "user", "assistant", "user", "user", "assistant",
    ]  # fmt: skip


def test_steering_is_answered_in_the_same_turn_when_the_model_was_about_to_end_it() -> None:
    rig = Rig().ask().say("wait", Lane.STEER).forget().answer()

    assert rig.trace == ("model_call_finished +assistant +user model_call_started !call_model")


def test_one_at_a_time_lets_one_submission_in_at_each_safe_point() -> None:
    rig = Rig(LoopConfig(queue_mode=QueueMode.ONE)).ask()
    rig.say("S1", Lane.STEER).say("S2", Lane.STEER).answer(text="first").answer(text="second")

    assert [item.text for item in rig.state.transcript] == ["hi", "first", "S1", "second", "S2"]


def test_steering_that_found_no_safe_point_is_the_next_turns_first_input() -> None:
    rig = Rig().ask().say("later").say("S", Lane.STEER).cancel().give(Continue())

    assert [item.text for item in rig.state.transcript] == ["hi", "S", "later"]


# calls


def test_t10_a_call_cut_off_by_the_output_limit_is_not_run_even_if_it_can_be_read() -> None:
    whole = ToolCall(id=ToolCallId("a"), name="read", input={"path": "x"})
    cut = ToolCall(id=ToolCallId("b"), name="write", input={"path": "a.txt"})
    rig = Rig().ask().answer(whole, cut, reason=FinishReason.MAX_TOKENS).allow("a").done("a")

    first, second = rig.last.tool_results
    assert not first.is_error
    assert isinstance(second.output, TextOutput)
    assert "cut off by the output limit" in second.output.text
    assert "nothing was executed" in second.output.text
    assert (second.failure, second.started) == (ToolFailure.CUT_OFF, False)
    assert rig.state.phase is Phase.CALLING


@pytest.mark.parametrize("reason", [FinishReason.TOOL_CALL, FinishReason.MAX_TOKENS])
def test_t10_a_call_whose_arguments_cannot_be_read_is_not_run(reason: FinishReason) -> None:
    broken = ToolCall(
        id=ToolCallId("b"), name="write", raw_input='{"path":"a', input_error="not valid JSON: eof"
    )
    rig = Rig().ask().answer(broken, reason=reason)

    (result,) = rig.last.tool_results
    assert isinstance(result.output, TextOutput)
    assert "cut off by the output limit" in result.output.text
    assert "othing was executed" in result.output.text
    assert result.is_error
    assert not result.started
    assert not any(isinstance(one, Preflight | StartTool) for one in rig.effects)


@pytest.mark.parametrize("reason", [FinishReason.COMPLETED, FinishReason.OTHER])
def test_t11_calls_are_run_whatever_the_finish_reason_says(reason: FinishReason) -> None:
    rig = Rig().ask().answer("a", reason=reason).allow("a").done("a")

    assert rig.state.phase is Phase.CALLING
    assert rig.last.kind is ItemKind.TOOL


def test_t11_a_finish_reason_that_speaks_of_calls_without_any_ends_the_turn() -> None:
    rig = Rig().ask().answer(reason=FinishReason.TOOL_CALL)

    assert rig.result.end is TurnEnd.COMPLETED
    assert any(isinstance(one, Diagnostic) for one in rig.events)


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        (FinishReason.COMPLETED, TurnEnd.COMPLETED),
        (FinishReason.MAX_TOKENS, TurnEnd.MAX_TOKENS),
        (FinishReason.BLOCKED, TurnEnd.BLOCKED),
        (FinishReason.OTHER, TurnEnd.COMPLETED),
    ],
)
def test_a_turn_says_why_its_last_answer_ended(reason: FinishReason, end: TurnEnd) -> None:
    assert Rig().ask().answer(reason=reason).result.end is end


def test_an_answer_that_the_provider_paused_is_gone_on_with_at_once() -> None:
    rig = Rig().ask().answer(reason=FinishReason.PAUSED).answer(text="u")

    assert [item.kind.value for item in rig.state.transcript] == ["user", "assistant", "assistant"]
    assert rig.result.end is TurnEnd.COMPLETED


def test_l04_an_answer_with_text_and_a_call_is_not_final() -> None:
    rig = Rig().ask().answer("a", text="Checking...").allow("a").done("a").forget().answer()

    assert rig.result.end is TurnEnd.COMPLETED
    assert rig.result.model_calls == 2


def test_l14_calls_that_the_provider_ran_itself_are_not_run_here() -> None:
    search = Custom(kind="anthropic_messages.server_tool_use", value={"name": "web_search"})
    item = Item(
        ItemKind.ASSISTANT, (search, Text(text="found")), finish_reason=FinishReason.TOOL_CALL
    )
    rig = Rig().ask()
    rig.give(ModelResponded(rig.out(CallModel).id, ModelResponse(item)))

    assert rig.result.end is TurnEnd.COMPLETED
    assert rig.last.parts[0] == search


def test_empty_and_repeated_call_ids_are_replaced_and_never_used_again() -> None:
    rig = Rig().ask()
    empty = ToolCall(id=ToolCallId(""), name="read")
    rig.answer(empty, empty, "a")
    ids = [call.id for call in rig.last.tool_calls]
    assert len(set(ids)) == 3
    assert "" not in ids
    assert ids[2] == "a"
    rig.cancel()

    rig.say().give(Continue()).answer("a", ids[0])

    again = [call.id for call in rig.last.tool_calls]
    assert not set(again) & set(ids)


def test_ids_of_a_history_are_not_used_again() -> None:
    call = ToolCall(id=ToolCallId("a"), name="read")
    result = ToolResult(call_id=call.id, output=TextOutput("r"))
    rig = Rig(history=(Item.user("old"), Item.assistant(call), Item.tool(result)))

    (again,) = rig.ask().answer("a").last.tool_calls

    assert again.id != "a"


def test_a_tool_can_end_the_turn_after_its_round_and_every_result_is_kept() -> None:
    rig = Rig().ask().answer("a", "b").allow("a", "b").done("b", stop=True)
    assert "turn_finished" not in rig.trace

    rig.done("a")

    assert rig.result.end is TurnEnd.COMPLETED
    assert len(rig.last.tool_results) == 2


def test_a_tools_own_model_calls_count_for_the_turn() -> None:
    rig = Rig().ask().answer("a", usage=reported(10, 1)).allow("a")
    result = ToolResult(
        call_id=ToolCallId("a"), output=StructuredOutput({"ok": True}), usage=reported(100, 7)
    )
    rig.give(ToolDone(rig.out(StartTool).id, result)).answer(usage=reported(20, 2))

    assert rig.result.usage.tokens == TokenUsage(input=130, output=10)
    assert rig.result.usage.requests == 3


def test_progress_is_told_while_the_tool_runs_and_never_after() -> None:
    rig = Rig().ask().answer("a").allow("a").forget()
    effect_id = rig.out(StartTool).id

    rig.give(ToolProgressed(effect_id, "half"))
    assert rig.trace == "tool_progress:a"
    rig.done("a").forget().give(ToolProgressed(effect_id, "late"))
    assert rig.trace == ""
    assert not any(isinstance(one, ToolProgress) for one in rig.events)


def test_a_refused_call_has_its_result_without_having_been_started() -> None:
    rig = Rig().ask().answer("a", "b")
    refusal = ToolResult(
        call_id=ToolCallId("b"), output=TextOutput("no such tool"), is_error=True, started=False
    )
    rig.give(PreflightRefused(rig.out(Preflight, "b").id, refusal)).allow("a").done("a")

    assert "tool_execution_started:b" not in rig.trace
    assert [one.is_error for one in rig.last.tool_results] == [False, True]


# failures, limits


def test_a_failure_for_good_ends_the_turn_with_the_partial_answer_in_its_result_only() -> None:
    rig = Rig().ask().fail(Text(text="Hel"), retryable=False)

    assert rig.result.end is TurnEnd.ERROR
    assert rig.result.failure is not None
    assert rig.result.partial is not None
    assert rig.result.partial.text == "Hel"
    assert [item.kind.value for item in rig.state.transcript] == ["user"]
    assert not any(isinstance(one, AttemptSuperseded | RetryScheduled) for one in rig.events)


def test_what_came_of_a_failed_answer_can_be_kept_without_its_calls() -> None:
    call = ToolCall(id=ToolCallId("a"), name="read", input_error="broken off")
    rig = Rig(LoopConfig(keep_failed=True)).ask()
    rig.fail(Reasoning(summary="hm"), Text(text="Hel"), call, retryable=False)

    assert rig.last.parts == (Text(text="Hel"),)
    assert Transcript(rig.state.transcript).open_calls == ()


def test_a_model_is_asked_as_often_as_the_policy_says_and_no_more() -> None:
    rig = Rig(LoopConfig(retry=RetryPolicy(max_attempts=3))).ask()
    rig.fail().ring().fail().ring().fail()

    assert rig.result.end is TurnEnd.ERROR
    finished = [one for one in rig.events if isinstance(one, ModelCallFinished)]
    assert [one.attempt for one in finished] == [1, 2, 3]


def test_a_turn_that_failed_can_be_driven_again_without_new_input() -> None:
    rig = Rig().ask().fail(retryable=False).forget().give(Continue())
    assert rig.trace == "<awaiting_input>"

    rig.forget().give(Continue(redrive=True)).answer()

    assert rig.trace.startswith("turn_started model_call_started !call_model")
    assert [item.kind.value for item in rig.state.transcript] == ["user", "assistant"]


def test_x03_before_anything_was_shown_a_retry_supersedes_nothing() -> None:
    rig = Rig().ask().fail().ring().answer()

    assert not any(isinstance(one, AttemptSuperseded) for one in rig.events)
    assert sum(isinstance(one, RetryScheduled) for one in rig.events) == 1


def test_u06_failed_attempts_count_for_what_the_turn_used() -> None:
    rig = Rig().ask().fail(Text(text="x"), usage=reported(500, 0)).ring()
    rig.answer(usage=reported(500, 20))

    usage = rig.result.usage
    assert usage.tokens == TokenUsage(input=1000, output=20)
    assert usage.requests == 2
    assert rig.result.model_calls == 1


def test_u06_an_attempt_that_reported_nothing_is_unknown_and_not_zero() -> None:
    rig = Rig().ask().fail().ring().answer(usage=reported(500, 20))

    assert rig.result.usage.requests == 2
    assert rig.result.usage.reported_requests == 1
    assert not rig.result.usage.exact


@pytest.mark.parametrize("most", [1, 3])
def test_u08_no_request_is_made_beyond_the_limit(most: int) -> None:
    rig = Rig(LoopConfig(limits=Limits(max_model_calls=most))).ask()
    while rig.state.phase is not Phase.IDLE:
        (call_id,) = [call.id for call in rig.answer("a").last.tool_calls]
        rig.allow(call_id).done(call_id)

    assert sum(isinstance(one, ModelCallFinished) for one in rig.events) == most


def test_l06_a_turn_that_reached_a_limit_keeps_everything_and_can_go_on() -> None:
    rig = Rig(LoopConfig(limits=Limits(max_model_calls=2))).ask()
    rig.answer("a", usage=reported(1, 1)).allow("a").done("a")
    rig.answer("b", usage=reported(1, 1)).allow("b").done("b")

    result = rig.result
    assert (result.end, result.limit) == (TurnEnd.LIMIT, "max_model_calls")
    assert (result.model_calls, result.usage.tokens.input) == (2, 2)
    assert [item.kind.value for item in result.items] == ["assistant", "tool"] * 2
    assert rig.trace.count("turn_finished") == 1

    rig.forget().give(Continue(redrive=True)).answer(text="done")
    assert rig.result.text == "done"
    assert not any(isinstance(one, StartTool) for one in rig.effects)


# cancelling


def test_cancelling_a_streamed_answer_keeps_its_text_and_its_usage() -> None:
    partial = model_answer(text="Hel", usage=reported(9, 2))
    rig = Rig().ask().cancel(partial)

    assert rig.trace == ("!abort model_call_finished +assistant turn_finished:cancelled <finished>")
    assert rig.last.text == "Hel"
    assert rig.last.interrupted
    assert rig.last.finish_reason is FinishReason.CANCELLED
    assert rig.result.usage.tokens == TokenUsage(input=9, output=2)


def test_cancelling_before_anything_came_leaves_no_empty_answer() -> None:
    rig = Rig().ask().cancel()

    assert [item.kind.value for item in rig.state.transcript] == ["user"]
    assert rig.result.usage.requests == 1


def test_cancelling_answers_the_calls_that_had_come_whole() -> None:
    rig = Rig().ask().cancel(model_answer("a"))

    assert Transcript(rig.state.transcript).open_calls == ()
    (result,) = rig.last.tool_results
    assert not result.started


def test_cancelling_a_wait_ends_it() -> None:
    rig = Rig().ask().fail()
    assert rig.out(StartTimer)

    rig.forget().cancel()

    assert rig.trace == "!abort turn_finished:cancelled <finished>"
    assert rig.state.out == {}


def test_x09_after_a_cancel_every_call_has_one_result_and_finished_ones_keep_theirs() -> None:
    config = LoopConfig(max_parallel=2)
    rig = Rig(config).ask().answer("A", "B", "C", "D").allow("A", "B", "C").ask_for("D", "write")
    rig.done("A", text="real").forget()
    running = rig.out(StartTool, "B").id

    rig.cancel()

    a, b, c, d = rig.last.tool_results
    assert a.output == TextOutput("real")
    assert (b.failure, b.started) == (ToolFailure.INTERRUPTED, True)
    assert (c.failure, c.started) == (ToolFailure.INTERRUPTED, True)
    assert (d.failure, d.started) == (ToolFailure.INTERRUPTED, False)
    assert "approval_resolved:D:withdrawn" in rig.trace
    assert rig.trace.endswith("+tool turn_finished:cancelled <finished>")

    late = ToolResult(call_id=ToolCallId("B"), output=TextOutput("late"))
    rig.give(ToolDone(running, late)).say("go on").give(Continue())
    assert rig.state.phase is Phase.CALLING
    assert Transcript(rig.state.transcript).open_calls == ()


def test_a_call_that_was_never_started_says_so_after_a_cancel() -> None:
    rig = Rig(LoopConfig(max_parallel=1)).ask().answer("A", "B").allow("A", "B").cancel()

    assert [one.started for one in rig.last.tool_results] == [True, False]


def test_approving_after_a_cancel_is_a_diagnostic_and_approving_before_it_starts_the_call() -> None:
    rig = Rig().ask().answer("a").ask_for("a", "write").cancel().forget().resolve("write")
    assert rig.trace == "diagnostic"

    rig = Rig().ask().answer("a").ask_for("a", "write").resolve("write").forget().cancel()
    assert rig.trace.startswith("!abort tool_result_received:a")


def test_a_late_answer_changes_nothing() -> None:
    rig = Rig().ask()
    effect_id = rig.out(CallModel).id
    rig.answer().forget()
    before = rig.state.transcript

    rig.give(ModelResponded(effect_id, model_answer(text="again")))
    rig.give(ModelResponded(EffectId("e99"), model_answer(text="whose?")))

    assert rig.trace == "diagnostic diagnostic"
    assert rig.state.transcript == before


def test_an_answer_of_the_wrong_kind_changes_nothing() -> None:
    rig = Rig().ask().answer("a").forget()
    effect_id = rig.out(Preflight).id
    result = ToolResult(call_id=ToolCallId("a"), output=TextOutput("r"))

    rig.give(ToolDone(effect_id, result))

    assert rig.trace == "diagnostic"
    assert rig.out(Preflight).id == effect_id


def test_the_clock_never_goes_back_and_stamps_what_has_no_time() -> None:
    rig = Rig()
    rig.now = 100
    rig.ask()
    rig.now = 3
    rig.answer()

    assert rig.state.clock == 101
    assert [item.created_at for item in rig.state.transcript] == [101, 101]


def test_a_wait_is_set_on_the_kernels_clock() -> None:
    rig = Rig(LoopConfig(retry=RetryPolicy(first_wait_s=2.0))).ask().fail()

    effect = rig.out(StartTimer)
    assert isinstance(effect, StartTimer)
    assert effect.at == rig.state.clock + 2000
