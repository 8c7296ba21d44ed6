"""Each run, turn, model call and tool call is a span that begins once and ends once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    FailureKind,
    FinishReason,
    Provenance,
    ProviderFailure,
    SessionId,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolResult,
    TurnId,
    Usage,
)
from agentkit_core.provider import AppendText, PartId
from agentkit_loop import TurnEnd, TurnResult
from agentkit_loop.events import (
    ApprovalOutcome,
    ApprovalRequired,
    ApprovalResolved,
    ContentDelta,
    Envelope,
    Event,
    ModelCallFinished,
    ModelCallStarted,
    RunFinished,
    RunStarted,
    RunSuspended,
    ToolCallRequested,
    ToolDetached,
    ToolExecutionStarted,
    ToolProgress,
    ToolResultReceived,
    TurnFinished,
    TurnStarted,
)
from agentkit_reporting._open_spans import _MOST_LEFT
from agentkit_reporting.spans import (
    ModelCallSpan,
    RunSpan,
    Span,
    SpanChanges,
    SpanStatus,
    SpanTree,
    ToolCallSpan,
    TurnSpan,
    spans_of,
)
from support.examples import examples
from support.outlines import outline
from support.runs import SESSION, enveloped, walked

CALL = ToolCall(id=ToolCallId("c"), name="look", input={"at": "a"})

seeds = st.integers(0, 2**32)


def result_of(
    *, failure: ToolFailure | None = None, background: bool = False
) -> ToolResultReceived:
    result = ToolResult(
        call_id=CALL.id, output=TextOutput("x"), is_error=failure is not None, failure=failure
    )
    return ToolResultReceived(call_id=CALL.id, name="look", result=result, background=background)


def turn_end(end: TurnEnd = TurnEnd.COMPLETED) -> TurnFinished:
    return TurnFinished(TurnResult(turn_id=TurnId("turn-1"), end=end))


def model_end(
    reason: FinishReason = FinishReason.COMPLETED, failure: FailureKind | None = None
) -> ModelCallFinished:
    return ModelCallFinished(
        call=1,
        attempt=1,
        finish_reason=reason,
        usage=Usage(requests=1),
        provenance=Provenance("maker", "openai_chat", "answering"),
        failure=None if failure is None else ProviderFailure(kind=failure, message="x"),
    )


def all_of(runs: list[RunSpan]) -> list[Span]:
    return [span for run in runs for span in run.walk()]


def play(tree: SpanTree, envelopes: list[Envelope]) -> list[SpanChanges]:
    return [*map(tree.take, envelopes), tree.finish()]


@examples(20)
@given(seeds, st.integers(1, 60))
def test_o02_however_a_run_ends_each_span_begins_once_and_ends_once(seed: int, length: int) -> None:
    tree = SpanTree()
    began: list[Span] = []
    ended: list[Span] = []
    for changes in play(tree, walked(seed, length=length)):
        began += changes.began
        ended += changes.ended
        assert all(span.has_ended for span in changes.ended)

    assert sorted(map(id, began)) == sorted(map(id, ended)) == sorted(map(id, all_of(tree.runs)))
    assert len({*map(id, began)}) == len(began)
    for span in began:
        assert span.status is not SpanStatus.RUNNING
        assert span.ended_ms is not None
        assert span.duration_ms is not None
        assert span.duration_ms >= 0
        if span.parent is not None:
            assert span.started_ms >= span.parent.started_ms
            if not (isinstance(span, ToolCallSpan) and span.is_background):
                assert ended.index(span) < ended.index(span.parent)


@examples(20)
@given(seeds)
def test_live_and_kept_trees_tell_the_same(seed: int) -> None:
    envelopes = walked(seed)
    live, kept = SpanTree(keeps_ended=False), SpanTree()
    told = play(live, envelopes)

    def names(changes: SpanChanges) -> list[tuple[str, str, int, int | None]]:
        spans = (*changes.began, *changes.ended)
        return [(type(s).__name__, s.status, s.started_ms, s.ended_ms) for s in spans]

    assert [*map(names, told)] == [*map(names, play(kept, envelopes))]
    assert live.runs == []
    assert not any(span.children for changes in told for span in changes.began)


@examples(20)
@given(seeds, st.data())
def test_events_that_are_reported_again_after_a_crash_count_once(
    seed: int, data: st.DataObject
) -> None:
    envelopes = walked(seed)
    crash = data.draw(st.integers(2, len(envelopes)))
    saved = [each for each in envelopes[1:crash] if each.number is not None]
    again = saved[len(saved) - data.draw(st.integers(0, len(saved))) :]

    whole = outline(spans_of(envelopes))
    assert outline(spans_of([*envelopes[:crash], *again, *envelopes[crash:]])) == whole


def test_a_session_that_continues_has_another_run() -> None:
    before = enveloped([RunStarted(), TurnStarted(), ModelCallStarted(1, 1, "m"), model_end()])
    after = enveloped([RunStarted(resumed=True), ModelCallStarted(2, 1, "m"), turn_end()])

    assert outline(spans_of([*before, *after])) == [
        "run unfinished",
        "  turn turn-1 unfinished",
        "    model call 1.1 ok",
        "run unfinished continues",
        "  turn turn-1 ok continues",
        "    model call 2.1 unfinished",
    ]


def test_o02_a_session_that_is_left_is_paused_or_as_its_last_turn_ended() -> None:
    left = enveloped([RunStarted(), TurnStarted(), ModelCallStarted(1, 1, "m"), RunSuspended()])
    idle = enveloped([RunStarted(), TurnStarted(), turn_end(), RunSuspended()])

    assert outline(spans_of(left)) == [
        "run paused",
        "  turn turn-1 paused",
        "    model call 1.1 paused",
    ]
    assert outline(spans_of(idle)) == ["run ok", "  turn turn-1 ok"]
    assert spans_of(enveloped([RunSuspended()])) == []


def test_a_session_that_goes_on_elsewhere_before_it_is_left_stays_open() -> None:
    first = enveloped([RunStarted(), TurnStarted(), turn_end(), RunSuspended()])
    second = [
        replace(each, seq=each.seq + 3)
        for each in enveloped([RunStarted(True), TurnStarted(), turn_end(), RunSuspended()])
    ]

    assert outline(spans_of([*first[:3], *second[:2], first[3], *second[2:]])) == [
        "run unfinished",
        "  turn turn-1 ok",
        "run ok continues",
        "  turn turn-1 ok",
    ]


def test_a_session_that_continues_from_an_older_snapshot_has_another_history() -> None:
    events: list[Event] = [RunStarted(), TurnStarted(), ModelCallStarted(1, 1, "m")]
    first = [replace(each, number=each.seq) for each in enveloped(events)]
    late = [replace(each, number=each.seq + 1) for each in enveloped([RunStarted(True), *events])]

    assert len(spans_of([*first, *late])) == 3


def test_a_reporter_that_comes_late_or_hears_of_an_earlier_run_begins_what_it_hears_of() -> None:
    run, *others = spans_of(enveloped([result_of(), model_end(), turn_end(), RunFinished()]))

    assert not others
    assert outline([run]) == [
        "run ok continues",
        "  turn turn-1 ok continues",
        "    tool call c ok continues",
        "    model call 1.1 ok continues",
    ]
    model_call = run.children[0].children[1]
    assert isinstance(model_call, ModelCallSpan)
    assert (model_call.model, model_call.provider) == ("answering", "maker")
    assert model_call.time_to_first_delta_ms is None


def test_what_waits_for_a_person_when_the_record_ends_is_paused() -> None:
    request = ApprovalRequest(id=ApprovalId("a"), call=CALL, kind="k", summary="?")
    events: list[Event] = [TurnStarted(), ToolCallRequested(CALL), ApprovalRequired(request)]

    assert outline(spans_of(enveloped(events))) == [
        "run paused continues",
        "  turn turn-1 paused",
        "    tool call c paused approval:waiting",
    ]
    (run,) = spans_of(
        enveloped(
            [
                *events,
                ApprovalResolved(
                    approval_id=request.id,
                    call_id=CALL.id,
                    outcome=ApprovalOutcome.APPROVED,
                    patched=True,
                ),
            ]
        )
    )
    tool_call = run.children[0].children[0]
    assert isinstance(tool_call, ToolCallSpan)
    (wait,) = tool_call.approvals
    assert wait.until_ms == wait.since_ms + 1
    assert wait.is_patched
    assert run.status is SpanStatus.UNFINISHED


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (model_end(), "ok"),
        (model_end(FinishReason.MAX_TOKENS), "ok"),
        (model_end(FinishReason.CANCELLED), "cancelled"),
        (model_end(FinishReason.ERROR, FailureKind.SERVER), "error"),
        (model_end(FinishReason.ERROR, FailureKind.CANCELLED), "cancelled"),
        (model_end(FinishReason.ERROR), "error"),
    ],
)
def test_o02_a_model_call_has_the_status_of_its_end(end: ModelCallFinished, status: str) -> None:
    (run,) = spans_of(enveloped([ModelCallStarted(1, 1, "m"), end]))

    assert run.children[0].children[0].status == status


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (None, "ok"),
        (ToolFailure.EXECUTION_FAILED, "error"),
        (ToolFailure.PERMISSION_DENIED, "error"),
        (ToolFailure.OUTCOME_UNKNOWN, "error"),
        (ToolFailure.INTERRUPTED, "cancelled"),
        (ToolFailure.SKIPPED, "cancelled"),
    ],
)
def test_o02_a_tool_call_has_the_status_of_its_result(
    failure: ToolFailure | None, status: str
) -> None:
    (run,) = spans_of(enveloped([ToolCallRequested(CALL), result_of(failure=failure)]))

    assert run.children[0].children[0].status == status


@pytest.mark.parametrize("end", TurnEnd)
def test_o02_a_turn_and_its_run_have_the_status_of_its_end(end: TurnEnd) -> None:
    (run,) = spans_of(enveloped([RunStarted(), TurnStarted(), turn_end(end), RunFinished()]))

    expected = {"completed": "ok", "cancelled": "cancelled"}.get(end, "error")
    assert (run.status, run.children[0].status) == (expected, expected)
    assert not run.continues


def test_a_call_in_the_background_ends_with_its_own_result() -> None:
    events: list[Event] = [
        RunStarted(),
        TurnStarted(),
        ToolCallRequested(CALL),
        ToolExecutionStarted(CALL.id, "look", {"at": "b"}),
        ToolDetached(CALL.id, "look"),
        turn_end(),
        ToolProgress(CALL.id, "half"),
        result_of(background=True),
    ]
    (run,) = spans_of(enveloped(events))
    (turn,) = run.children
    (span,) = turn.children
    assert isinstance(span, ToolCallSpan)
    assert isinstance(turn, TurnSpan)
    assert turn.ended_ms is not None
    assert span.ended_ms == turn.ended_ms + 2
    assert (span.requested_input, span.input) == ({"at": "a"}, {"at": "b"})
    assert (span.progress_count, span.last_progress, span.result_bytes) == (1, "half", 26)
    # The process ends before the call does: it ends with the run.
    (run,) = spans_of(enveloped(events[:-1]))
    assert outline(run.children[0].children) == ["tool call c unfinished ran background progress:1"]


def test_the_first_delta_counts_and_no_other() -> None:
    delta = ContentDelta((AppendText(PartId("a"), "x"),))
    (run,) = spans_of(enveloped([ModelCallStarted(1, 1, "m"), delta, delta, model_end()]))
    span = run.children[0].children[0]
    assert isinstance(span, ModelCallSpan)
    assert span.time_to_first_delta_ms == 1
    assert span.duration_ms == 3


def test_sessions_that_share_a_tree_are_apart() -> None:
    ours = enveloped([RunStarted(), TurnStarted(), turn_end(), RunFinished()])
    theirs = enveloped([RunStarted(), TurnStarted()], session_id=SessionId("other"))
    tree = SpanTree()
    for envelope in (*theirs, *ours):
        tree.take(envelope)

    assert [(run.session_id, run.status) for run in tree.runs] == [
        ("other", "running"),
        (SESSION, "ok"),
    ]
    assert tree.finish(SESSION) == SpanChanges()
    assert len(tree.finish(SessionId("other")).ended) == 2


def test_a_run_that_answers_a_call_of_an_earlier_run_is_in_that_call() -> None:
    """The process was killed, and the tool is run again before anything of its call is reported."""
    inner = SessionId("inner")
    answers = RunStarted(parent_session_id=SESSION, parent_call_id=CALL.id)
    events = [
        *enveloped([RunStarted(), TurnStarted(), ToolCallRequested(CALL)]),
        *enveloped([RunStarted(resumed=True)]),
        *enveloped([answers, RunFinished()], session_id=inner),
        *enveloped([result_of(), turn_end(), RunFinished()]),
    ]

    assert outline(spans_of(events)) == [
        "run unfinished",
        "  turn turn-1 unfinished",
        "    tool call c unfinished",
        "run ok continues",
        "  tool call c ok continues",
        "    run ok",
        "  turn turn-1 ok continues",
    ]
    # A call that ended is not gone on with.
    late = [*events, *enveloped([RunStarted(True)]), *enveloped([answers], session_id=inner)]
    assert outline(spans_of(late))[-2:] == ["run unfinished continues", "run unfinished"]


def test_what_is_remembered_of_runs_that_have_ended_is_bounded() -> None:
    tree = SpanTree(keeps_ended=False)
    left = tree._open._left
    for at in range(_MOST_LEFT + 3):
        for each in enveloped(
            [ToolCallRequested(CALL), RunSuspended()], session_id=SessionId(f"{at}")
        ):
            tree.take(each)

    assert len(left) == _MOST_LEFT
    assert all(span.parent is None for span in left.values())
