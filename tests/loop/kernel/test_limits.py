"""Tricky cases of limits: what a turn may spend, and what it keeps when it may spend no more."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from agentkit_core import (
    CostUsage,
    FinishReason,
    Item,
    ModelOptions,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolChoiceMode,
    ToolFailure,
    ToolResult,
    Usage,
)
from agentkit_loop import Limits, LoopConfig, TurnEnd
from agentkit_loop.events import ModelCallStarted
from agentkit_loop.kernel import (
    CallModel,
    CancelCall,
    Close,
    ModelResponded,
    Phase,
    Preflight,
    StartTool,
    ToolDone,
    ToolSpent,
    model_request,
)
from support.answers import model_answer
from support.rig import Rig


def spent(tokens: int | None = None, *, usd: str | None = None, eur: str | None = None) -> Usage:
    """What one request used."""
    amounts = {code: Decimal(one) for code, one in (("USD", usd), ("EUR", eur)) if one is not None}
    return Usage(
        tokens=TokenUsage(input=tokens),
        cost=CostUsage(amounts),
        requests=1,
        reported_requests=int(tokens is not None),
        priced_requests=int(bool(amounts)),
    )


def limited(**limits: object) -> Rig:
    return Rig(LoopConfig(limits=Limits(**limits))).ask()  # type: ignore[arg-type]


def round_of(rig: Rig, usage: Usage | None = None, *, tool: Usage | None = None) -> Rig:
    """One answer with one call, and its result."""
    (call,) = rig.answer("a", usage=usage).last.tool_calls
    if rig.state.phase is Phase.ROUND:
        rig.allow(call.id).done(call.id, usage=tool)
    return rig


def test_a_turn_may_have_so_many_answers() -> None:
    rig = limited(max_model_calls=2)
    round_of(rig)
    assert rig.state.phase is Phase.CALLING

    assert round_of(rig).result.limit == "max_model_calls"


def test_attempts_that_failed_are_no_answers_but_requests() -> None:
    rig = limited(max_model_calls=2, max_requests=3).fail().ring()
    round_of(rig)
    assert rig.state.phase is Phase.CALLING

    assert round_of(rig).result.limit == "max_model_calls"

    rig = limited(max_requests=2).fail().ring()
    assert round_of(rig).result.limit == "max_requests"


def test_the_requests_of_tools_count_as_well() -> None:
    rig = limited(max_requests=3)

    assert round_of(rig, tool=spent(1) + spent(1)).result.limit == "max_requests"


def test_tokens_are_those_of_prompts_and_answers_and_of_tools() -> None:
    rig = limited(max_tokens=100)
    round_of(rig, spent(60), tool=spent(39))
    assert rig.state.phase is Phase.CALLING

    assert round_of(rig, spent(1)).result.limit == "max_tokens"


@pytest.mark.parametrize("usage", [None, spent(), Usage(requests=2, reported_requests=1)])
def test_an_answer_whose_tokens_nobody_reports_ends_a_turn_that_counts_them(
    usage: Usage | None,
) -> None:
    assert round_of(limited(max_tokens=100), usage).result.limit == "unknown_tokens"
    assert round_of(limited(), usage).state.phase is Phase.CALLING


def test_tokens_that_a_tool_does_not_report_are_unknown_too() -> None:
    rig = limited(max_tokens=100)

    assert round_of(rig, spent(1), tool=spent()).result.limit == "unknown_tokens"


def test_a_failed_attempt_that_reported_nothing_ends_no_turn_by_itself() -> None:
    rig = limited(max_tokens=100).fail().ring()

    assert round_of(rig, spent(1)).state.phase is Phase.CALLING


def test_what_a_background_call_used_and_does_not_report_is_unknown_as_well() -> None:
    rig = Rig(LoopConfig(limits=Limits(max_tokens=100))).ask().answer("a", "b", usage=spent(1))
    rig.allow("a", "b", detach_after_s=0).done("a", usage=spent())
    assert rig.answer("c", usage=spent(1)).refuse("c").result.limit == "unknown_tokens"

    # Of what came while no turn ran, the next one knows no more.
    rig.done("b", usage=spent()).go_on()
    assert rig.result.turn_id == "turn-2"
    assert (rig.result.limit, rig.result.model_calls) == ("unknown_tokens", 0)


def test_money_is_counted_by_currency() -> None:
    most = {"USD": Decimal("0.50"), "EUR": Decimal(1)}
    rig = limited(max_cost=most)
    round_of(rig, spent(usd="0.49"), tool=spent(eur="0.99"))
    assert rig.state.phase is Phase.CALLING

    assert round_of(rig, spent(usd="0.01")).result.limit == "max_cost"


@pytest.mark.parametrize("usage", [None, spent(10), spent(eur="0.01")])
def test_an_answer_without_a_price_or_with_one_in_another_currency_is_not_free(
    usage: Usage | None,
) -> None:
    rig = limited(max_cost={"USD": Decimal("0.50")})

    assert round_of(rig, usage).result.limit == "unknown_cost"


def test_a_known_price_that_is_too_much_is_said_before_an_unknown_one() -> None:
    rig = limited(max_cost={"USD": Decimal("0.50")})

    assert round_of(rig, spent(usd="0.60"), tool=spent(1)).result.limit == "max_cost"


def test_a_turn_may_take_so_long_waiting_for_people_included() -> None:
    rig = limited(max_duration_s=10.0).answer("a").ask_for("a", "write")
    rig.now = 9_000
    rig.resolve("write").done("a")
    assert rig.state.phase is Phase.CALLING

    rig.answer("b").allow("b")
    rig.now = 20_000
    assert rig.done("b").result.limit == "max_duration_s"


def test_the_clock_of_a_limit_begins_anew_with_each_turn() -> None:
    rig = limited(max_duration_s=10.0)
    rig.now = 20_000

    assert rig.answer().ask().state.phase is Phase.CALLING


# tool calls


def test_calls_beyond_the_limit_are_not_executed_and_the_model_is_asked_without_tools() -> None:
    rig = limited(max_tool_calls=2).answer("a", "b", "c")
    assert rig.out(Preflight, "a")
    rig.allow("a", "b").done("a", "b")

    assert [one.failure for one in rig.last.tool_results] == [None, None, ToolFailure.SKIPPED]
    assert not rig.result_of("c").started
    assert model_request(rig.state, ()).options.tool_choice is ToolChoiceMode.NONE
    assert rig.answer().result.end is TurnEnd.COMPLETED


def test_a_model_that_calls_tools_all_the_same_ends_the_turn_with_every_call_answered() -> None:
    rig = limited(max_tool_calls=1).answer("a").allow("a").done("a").answer("b")

    assert (rig.result.end, rig.result.limit) == (TurnEnd.LIMIT, "max_tool_calls")
    assert rig.result_of("b").failure is ToolFailure.SKIPPED
    assert rig.result.tool_calls == 2


def test_a_model_that_does_without_tools_may_be_told_more_in_the_same_turn() -> None:
    rig = limited(max_tool_calls=1).answer("a").allow("a").done("a")

    assert rig.steer().answer().state.phase is Phase.CALLING
    assert model_request(rig.state, ()).options.tool_choice is ToolChoiceMode.NONE
    rig.answer(reason=FinishReason.PAUSED)
    correction = (Item.user("shorter"),)
    rig.give(ModelResponded(rig.out(CallModel).id, model_answer(), correction))
    assert rig.answer().result.end is TurnEnd.COMPLETED

    assert rig.result.model_calls == 5


def test_the_next_turn_has_its_tools_again() -> None:
    rig = limited(max_tool_calls=1).answer("a").allow("a").done("a").answer().ask()

    assert model_request(rig.state, ()).options.tool_choice is None
    assert rig.answer("b").out(Preflight, "b")


def test_an_attempt_that_is_made_again_is_made_without_tools_again() -> None:
    rig = limited(max_tool_calls=1).answer("a").allow("a").done("a").fail().ring()
    assert model_request(rig.state, ()).options.tool_choice is ToolChoiceMode.NONE

    rig.crash()
    assert model_request(rig.state, ()).options.tool_choice is ToolChoiceMode.NONE


def test_no_tool_calls_at_all_is_a_limit_as_well() -> None:
    rig = limited(max_tool_calls=0)

    assert model_request(rig.state, ()).options.tool_choice is ToolChoiceMode.NONE
    assert rig.answer("a").result.limit == "max_tool_calls"


def test_a_choice_that_forces_a_call_applies_to_the_first_model_call_only() -> None:
    options = ModelOptions(tool_choice=ToolChoiceMode.REQUIRED)
    rig = Rig(options=options).ask()
    assert model_request(rig.state, ()).options.tool_choice is ToolChoiceMode.REQUIRED

    round_of(rig)
    assert model_request(rig.state, ()).options.tool_choice is None


# the guard against a model that repeats itself


def fails(rig: Rig, text: str = "no such file", **arguments: str) -> Rig:
    """One round of one call that fails."""
    call = ToolCall(id=ToolCallId(""), name="read", input=dict(arguments))
    (made,) = rig.answer(call).last.tool_calls
    rig.allow(made.id)
    result = ToolResult(call_id=made.id, output=TextOutput(text), is_error=True)
    return rig.give(ToolDone(rig.out(StartTool).id, result))


def test_calls_in_a_row_that_fail_in_the_very_same_way_end_the_turn() -> None:
    rig = Rig(LoopConfig(max_identical_failures=3)).ask()
    fails(rig, path="a")
    fails(rig, path="a")
    assert rig.state.phase is Phase.CALLING

    result = fails(rig, path="a").result
    assert (result.end, result.limit) == (TurnEnd.LIMIT, "max_identical_failures")
    assert rig.last.tool_results[0].is_error


def test_another_argument_another_error_or_a_success_begins_the_count_anew() -> None:
    rig = Rig(LoopConfig(max_identical_failures=2)).ask()
    fails(rig, path="a")
    fails(rig, path="b")
    fails(rig, "busy", path="b")
    round_of(rig)
    fails(rig, "busy", path="b")
    assert rig.state.phase is Phase.CALLING

    assert fails(rig, "busy", path="b").result.limit == "max_identical_failures"


def test_calls_of_one_round_count_in_call_order() -> None:
    rig = Rig(LoopConfig(max_identical_failures=2)).ask()
    same = [ToolCall(id=ToolCallId(one), name="read") for one in "ab"]
    rig.answer(*same).refuse("b").refuse("a")

    assert rig.result.limit == "max_identical_failures"
    assert rig.kinds == "user assistant tool"


def test_a_new_turn_begins_the_count_anew() -> None:
    rig = Rig(LoopConfig(max_identical_failures=2)).ask()
    fails(rig, path="a")
    rig.answer().ask()

    assert fails(rig, path="a").state.phase is Phase.CALLING


def test_a_tool_that_ends_the_turn_completes_it_whatever_the_guard_says() -> None:
    rig = Rig(LoopConfig(max_identical_failures=2)).ask()
    same = [ToolCall(id=ToolCallId(one), name="read") for one in "ab"]
    rig.answer(*same).refuse("b").refuse("a", stop=True)

    assert rig.result.end is TurnEnd.COMPLETED


def test_model_calls_are_told_with_their_number_and_attempt() -> None:
    rig = Rig().ask()
    rig.forget().fail().ring()
    round_of(rig)

    started = [one for one in rig.events if isinstance(one, ModelCallStarted)]
    assert [(one.call, one.attempt) for one in started] == [(1, 2), (2, 1)]


SPENT = Usage(TokenUsage(input=30, output=10), requests=1, reported_requests=1)


@pytest.mark.parametrize(
    "ends_it",
    [
        lambda rig: rig.cancel(),
        lambda rig: rig.give(CancelCall(ToolCallId("a"))),
        lambda rig: rig.ring(),
        lambda rig: rig.begin("a").lose(StartTool),
        lambda rig: rig.give(Close()),
    ],
)
def test_u06_what_a_call_has_used_counts_though_it_never_ends_well(
    ends_it: Callable[[Rig], Rig],
) -> None:
    rig = Rig().ask().answer("a").allow("a", timeout_s=5.0)
    before = rig.state.turn.usage if rig.state.turn is not None else Usage()
    rig.give(ToolSpent(rig.out(StartTool).id, SPENT)).give(ToolSpent(rig.out(StartTool).id, SPENT))
    assert rig.state.turn is not None
    assert rig.state.turn.usage == before, "it counts once, and that is when the call is over"

    ends_it(rig)

    (result,) = rig.state.transcript[-1].tool_results
    assert result.usage == SPENT + SPENT


def test_u06_what_a_tool_says_in_the_end_counts_instead_of_what_it_said_on_the_way() -> None:
    rig = Rig().ask().answer("a").allow("a")
    rig.give(ToolSpent(rig.out(StartTool).id, SPENT))
    whole = ToolResult(call_id=ToolCallId("a"), output=TextOutput("r"), usage=SPENT)
    before = rig.state.turn.usage if rig.state.turn is not None else Usage()

    rig.give(ToolDone(rig.out(StartTool).id, whole))

    assert rig.state.turn is not None
    assert rig.state.turn.usage == before + SPENT
