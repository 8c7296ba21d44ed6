"""Background calls: they outlive the round, and a notice tells the model of their end."""

import pytest

from agentkit_core import (
    File,
    FilesOutput,
    Item,
    ItemKind,
    Media,
    Modality,
    PartsOutput,
    StructuredOutput,
    Text,
    TextOutput,
    TokenUsage,
    ToolCallId,
    ToolResult,
    Uri,
    Usage,
)
from agentkit_loop import (
    AwaitingInput,
    BackgroundDone,
    GrantScope,
    LoopConfig,
    TurnEnd,
    WaitingForApproval,
)
from agentkit_loop.events import ToolResultReceived
from agentkit_loop.kernel import CancelCall, Close, HookPoints, Phase, Reset, StartTool, ToolDone
from support.rig import Rig
from support.rig_queries import idle_beside_background, in_background, yields


def test_case_05_a_background_call_asks_without_holding_up_the_turn() -> None:
    rig = in_background().forget().stop_to_ask("a", "which")

    (step,) = yields(rig)
    assert isinstance(step, WaitingForApproval)
    assert step.background == ("a",)
    assert len(step.requests) == 1
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


def test_case_08_a_background_call_may_lose_its_pair_to_a_mutator() -> None:
    rig = Rig(hooks=HookPoints(mutators=True)).ask().mutated().answer("a")
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
    config = LoopConfig(background_done=BackgroundDone.CONTINUE)
    rig = in_background(config=config, hooks=HookPoints(finish=True)).answer().done("a")
    assert rig.state.phase is Phase.FINISHING

    assert rig.checked().state.phase is Phase.CALLING
    assert rig.last.kind is ItemKind.NOTIFICATION


def test_closing_withdraws_background_asks_and_ends_their_calls() -> None:
    rig = Rig().ask().answer("a", "b").allow("a", "b", detach_after_s=0).answer()
    rig.stop_to_ask("a", "which").forget().give(Close())

    assert rig.trace == (
        "approval_resolved:a:withdrawn tool_result_received:a "
        "!abort tool_result_received:b run_finished <closed>"
    )
    assert (rig.state.background, rig.state.out, rig.state.pending_approvals) == ({}, {}, ())


def test_one_background_call_may_be_cancelled_and_the_model_is_told() -> None:
    rig = idle_beside_background().forget().give(CancelCall(ToolCallId("a")))

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
    rig = idle_beside_background().stop_to_ask("a", "which").forget().give(Reset())

    assert "approval_resolved:a:withdrawn tool_result_received:a" in rig.trace
    assert rig.state.notices == ()
    assert rig.state.background == {}


def test_ids_of_calls_are_not_used_again_after_their_pair_was_taken_out() -> None:
    rig = Rig(hooks=HookPoints(mutators=True)).ask().mutated().answer("a").allow("a").done("a")
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
        rig = idle_beside_background()
        result = ToolResult(call_id=ToolCallId("a"), output=output)
        rig.give(ToolDone(rig.out(StartTool).id, result)).go_on()

        head, *rest = rig.last.parts
        assert isinstance(head, Text)
        assert head.text == f"Background call a of tool_a is done:{text}"
        assert tuple(rest) == more
