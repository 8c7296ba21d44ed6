"""Each model call counts once, whatever became of it."""

from __future__ import annotations

import time
from decimal import Decimal
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentkit_core import (
    CostUsage,
    FailureKind,
    FinishReason,
    Provenance,
    ProviderFailure,
    SessionId,
    TextOutput,
    TokenUsage,
    ToolCallId,
    ToolResult,
    TurnId,
    Usage,
)
from agentkit_core.provider import AppendText, PartId
from agentkit_loop import TurnEnd, TurnResult
from agentkit_loop.events import (
    AttemptSuperseded,
    ContentDelta,
    Event,
    ModelCallFinished,
    ModelCallStarted,
    RunStarted,
    ToolResultReceived,
    TurnFinished,
)
from agentkit_reporting import UsageReporter, UsageSummary
from support.runs import SESSION, enveloped


def used(input: int, output: int, cost: dict[str, Decimal] | None = None) -> Usage:  # noqa: A002
    return Usage(
        TokenUsage(input=input, output=output),
        CostUsage(cost or {}),
        requests=1,
        reported_requests=1,
        priced_requests=1 if cost else 0,
    )


def call(usage: Usage, *, model: str = "m", attempt: int = 1) -> list[Event]:
    return [
        ModelCallStarted(1, attempt, model),
        ContentDelta((AppendText(PartId("a"), "x"),)),
        ModelCallFinished(
            call=1, attempt=attempt, finish_reason=FinishReason.COMPLETED, usage=usage
        ),
    ]


def summary_of(events: list[Event]) -> UsageSummary:
    reporter = UsageReporter()
    for envelope in enveloped(events):
        reporter(envelope)
    return reporter.summary()


def test_r03_a_call_counts_once_though_the_turn_sums_it_up_again() -> None:
    usage = used(3, 2)
    turn = TurnFinished(TurnResult(turn_id=TurnId("turn-1"), end=TurnEnd.COMPLETED, usage=usage))

    assert summary_of([*call(usage), turn]).total == usage


def test_r03_superseded_attempts_cost_as_well() -> None:
    result = summary_of(
        [*call(used(10, 1)), AttemptSuperseded(1, 1), *call(used(10, 5), attempt=2)]
    )

    assert result.total.tokens == TokenUsage(input=20, output=6)
    assert result.total.requests == 2


def test_r03_usage_is_kept_per_turn_and_per_model() -> None:
    reporter = UsageReporter()
    for turn, model, usage in [
        ("turn-1", "small", used(1, 1)),
        ("turn-1", "large", used(2, 2)),
        ("turn-2", "small", used(4, 4)),
    ]:
        for envelope in enveloped(call(usage, model=model), turn_id=TurnId(turn)):
            reporter(envelope)
    result = reporter.summary()

    assert {turn: usage.tokens.input for (_, turn), usage in result.turns.items()} == {
        "turn-1": 3,
        "turn-2": 4,
    }
    assert {model: usage.tokens.input for model, usage in result.models.items()} == {
        "small": 5,
        "large": 2,
    }


def test_sessions_may_share_a_reporter() -> None:
    reporter = UsageReporter()
    ours = enveloped(call(used(1, 1), model="a"))
    theirs = enveloped(call(used(2, 2), model="b"), session_id=SessionId("other"))
    for pair in zip(ours, theirs, strict=True):
        for envelope in pair:
            reporter(envelope)
    result = reporter.summary()

    assert result.models["a"].tokens.input == 1
    assert result.models["b"].tokens.input == 2
    assert set(result.turns) == {(SESSION, "turn-1"), ("other", "turn-1")}


def test_r03_money_is_kept_per_currency() -> None:
    result = summary_of(
        [
            *call(used(1, 1, {"USD": Decimal("0.10")})),
            *call(used(1, 1, {"EUR": Decimal("0.25")})),
            *call(used(1, 1, {"USD": Decimal("0.20")})),
            *call(used(1, 1)),
        ]
    )

    assert result.total.cost.amounts == {"USD": Decimal("0.30"), "EUR": Decimal("0.25")}
    assert (result.total.priced_requests, result.total.requests) == (3, 4)


def test_a_call_without_a_report_makes_the_sum_a_lower_bound() -> None:
    assert summary_of(call(used(1, 1))).exact
    assert not summary_of([*call(used(1, 1)), *call(Usage(requests=1))]).exact


def test_the_models_that_tools_ask_are_kept_apart() -> None:
    result = ToolResult(call_id=ToolCallId("c"), output=TextOutput(""), usage=used(7, 7))
    outcome = summary_of(
        [*call(used(1, 1)), ToolResultReceived(call_id=ToolCallId("c"), name="t", result=result)]
    )

    assert outcome.total == used(1, 1)
    assert outcome.tools == used(7, 7)


def result_of(usage: Usage | None, call_id: str = "c") -> ToolResultReceived:
    result = ToolResult(call_id=ToolCallId(call_id), output=TextOutput(""), usage=usage)
    return ToolResultReceived(call_id=ToolCallId(call_id), name="clerk", result=result)


def test_u06_attempts_that_were_interrupted_count_and_are_marked() -> None:
    failure = ProviderFailure(kind=FailureKind.STREAM_CUT, message="x")
    partly = Usage(TokenUsage(input=9), requests=1)
    events: list[Event] = [
        ModelCallFinished(
            call=1, attempt=1, finish_reason=FinishReason.ERROR, usage=partly, failure=failure
        ),
        ModelCallFinished(call=1, attempt=2, finish_reason=FinishReason.CANCELLED, usage=partly),
        *call(used(9, 1), attempt=3),
    ]
    outcome = summary_of(events)

    assert outcome.interrupted == partly + partly
    assert outcome.total == partly + partly + used(9, 1)
    assert not outcome.interrupted.exact
    assert outcome.sessions == {SESSION: outcome.total}


def test_u01_an_inner_agent_that_is_reported_itself_counts_once() -> None:
    reporter = UsageReporter()
    inner, inmost = SessionId("inner"), SessionId("inmost")
    own = used(100, 10, {"USD": Decimal("0.5")})

    def give(session_id: SessionId, *events: Event) -> None:
        for envelope in enveloped(events, session_id=session_id):
            reporter(envelope)

    give(SESSION, *call(used(1, 1)))
    give(inner, RunStarted(parent_session_id=SESSION, parent_call_id=ToolCallId("c")))
    give(inner, *call(used(20, 2)))
    give(inmost, RunStarted(parent_session_id=inner, parent_call_id=ToolCallId("d")))
    give(inmost, *call(used(3, 3)))
    give(inner, result_of(used(3, 3), "d"))
    assert reporter.summary().tools == Usage()
    # The tool has called a model by itself as well.
    give(SESSION, result_of(used(20, 2) + used(3, 3) + own))
    outcome = reporter.summary()

    assert outcome.total == used(1, 1) + used(20, 2) + used(3, 3)
    assert outcome.tools == own
    assert outcome.by_tool == {"clerk": own}
    assert outcome.with_tools == outcome.total + own
    # Another call of the same tool, whose agent is not reported here.
    give(SESSION, result_of(used(5, 5)), result_of(None))
    assert reporter.summary().by_tool == {"clerk": own + used(5, 5)}


def test_u01_an_event_that_is_reported_again_counts_once() -> None:
    reporter = UsageReporter()
    envelopes = [replace(each, number=each.seq) for each in enveloped(call(used(1, 1)))]
    for envelope in (*envelopes, *envelopes):
        reporter(envelope)

    assert reporter.summary().total == used(1, 1)


def test_a_call_whose_start_was_missed_is_named_by_who_answered() -> None:
    provenance = Provenance("p", "openai_chat", "asked")
    end = ModelCallFinished(
        call=1,
        attempt=1,
        finish_reason=FinishReason.COMPLETED,
        usage=used(1, 1),
        provenance=provenance,
    )

    assert list(summary_of([end]).models) == ["asked"]


def test_a_summary_does_not_change_later() -> None:
    reporter = UsageReporter()
    before = reporter.summary()
    for envelope in enveloped(call(used(1, 1))):
        reporter(envelope)

    assert before == UsageSummary()


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 99), st.integers(0, 99))))
def test_r03_turns_and_models_both_add_up_to_the_total(
    calls: list[tuple[str, int, int]],
) -> None:
    result = summary_of([value for m, i, o in calls for value in call(used(i, o), model=m)])

    for parts in (result.turns, result.models, result.sessions):
        assert sum(parts.values(), Usage()) == result.total
    assert result.total.tokens.input == (sum(i for _, i, _ in calls) if calls else None)


def test_sessions_on_several_threads_are_summed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    reporter, add = UsageReporter(), Usage.__add__
    (*_, finished) = enveloped(call(used(1, 1)))

    def add_slowly(one: Usage, other: Usage) -> Usage:
        time.sleep(0)  # another thread runs now
        return add(one, other)

    def run(session: int) -> None:
        for number in range(1, 51):
            reporter(replace(finished, session_id=SessionId(str(session)), number=number))

    monkeypatch.setattr(Usage, "__add__", add_slowly)
    threads = [Thread(target=run, args=(session,)) for session in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert reporter.summary().total.requests == 200
