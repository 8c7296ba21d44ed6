"""What becomes of a model's answer: whole, failed, cut off or cancelled."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    FailureKind,
    FinishReason,
    Item,
    ModelResponse,
    Provenance,
    ProviderFailure,
    Reasoning,
    Text,
    TokenUsage,
    ToolCall,
    ToolCallId,
    Usage,
)
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    CommitPart,
    Delta,
    DeltaOutOfOrder,
    ModelEvent,
    PartId,
    ResponseFailed,
    ResponseFinished,
    ResponseFold,
    ResponseStarted,
    UsageReported,
    fold,
    fold_response,
    native_reasons,
)
from support.deltas import fitting_deltas

P, Q = PartId("p"), PartId("q")
ORIGIN = Provenance("here", "an_api", "a-model", "r1")
USAGE = Usage(TokenUsage(10, 5), requests=1, reported_requests=1)
BUSY = ProviderFailure(kind=FailureKind.OVERLOADED, message="busy", retryable=True)
STREAM: list[ModelEvent] = [
    ResponseStarted(ORIGIN),
    BeginPart(P, Text("")),
    AppendText(P, "hel"),
    AppendText(P, "lo"),
    UsageReported(USAGE),
]
DONE = ResponseFinished(FinishReason.COMPLETED, ("stop", "", "stop"), {"an_api.id": "x"})


def test_a_whole_answer_is_an_assistant_item() -> None:
    response = fold_response([*STREAM, DONE])

    assert response == ModelResponse(
        Item(
            Item.assistant().kind, (Text("hello"),), provenance=ORIGIN, usage=USAGE,
            finish_reason=FinishReason.COMPLETED,
            metadata={"an_api.id": "x", "agentkit.provider_finish_reasons": ["stop"]},
        )
    )  # fmt: skip
    assert response.usage == USAGE
    assert native_reasons(response.item.metadata) == ("stop",)


@given(fitting_deltas(), st.lists(st.integers(0, 12), max_size=4))
def test_batches_do_not_matter_and_deltas_are_folded_as_always(
    deltas: list[Delta], cuts: list[int]
) -> None:
    events: list[ModelEvent] = [*deltas, DONE]
    folding = ResponseFold(strict=True)
    edges = sorted({0, len(events), *(min(cut, len(events)) for cut in cuts)})
    for start, end in pairwise(edges):
        folding.feed(events[start:end])

    assert folding.finish() == fold_response(events)
    assert folding.finish().item.parts == fold(deltas)


def test_w07_a_stream_that_just_ends_is_a_failure_that_keeps_what_came() -> None:
    half = ToolCall(ToolCallId("c1"), "look")
    response = fold_response([*STREAM, BeginPart(Q, half), AppendText(Q, '{"pa')])

    assert response.failure is not None
    assert response.failure.kind is FailureKind.STREAM_CUT
    assert response.failure.retryable
    item = response.item
    assert (item.finish_reason, item.interrupted) == (FinishReason.ERROR, True)
    assert item.failure == response.failure
    assert item.text == "hello"
    assert item.usage == USAGE, "usage is what was last seen"
    (call,) = item.tool_calls
    assert call.input_error, "an unfinished call is never offered for execution"


def test_w07_a_stream_with_nothing_in_it_is_a_failure_of_unknown_usage() -> None:
    response = fold_response([])

    assert response.failure is not None
    assert response.item.parts == ()
    assert response.usage == Usage(requests=1)
    assert not response.usage.exact


def test_a_failed_answer_says_why_and_keeps_what_came() -> None:
    response = fold_response([*STREAM, ResponseFailed(BUSY, {"an_api.id": "x"})])

    assert response.failure == response.item.failure == BUSY
    assert response.item.parts == (Text("hello", metadata={"agentkit.incomplete": True}),)
    assert response.item.metadata == {"an_api.id": "x"}


def test_t10_a_call_that_the_output_limit_cut_is_marked() -> None:
    call = ToolCall(ToolCallId("c1"), "write")
    for reason in (FinishReason.MAX_TOKENS, FinishReason.TOOL_CALL):
        response = fold_response([
            BeginPart(Q, call), AppendText(Q, '{"path":"a.txt"'), ResponseFinished(reason),
        ])  # fmt: skip
        assert response.item.finish_reason is reason
        assert response.item.tool_calls[0].input_error


def test_cancelling_keeps_text_and_finished_parts_and_drops_the_rest() -> None:
    finished = ToolCall(ToolCallId("c1"), "look", {"at": "it"})
    folding = ResponseFold()
    folding.feed([
        *STREAM, CommitPart(finished), BeginPart(Q, ToolCall(ToolCallId("c2"), "look")),
        BeginPart(PartId("r"), Reasoning("hm")),
    ])  # fmt: skip
    item = folding.cancel().item

    assert folding.cancel().failure is None
    assert item.parts == (Text("hello", metadata={"agentkit.incomplete": True}), finished)
    assert (item.finish_reason, item.interrupted) == (FinishReason.CANCELLED, True)
    assert (item.usage, item.provenance) == (USAGE, ORIGIN)
    assert ResponseFold().cancel().usage == Usage(requests=1)


@pytest.mark.parametrize("end", [DONE, ResponseFailed(BUSY)])
def test_what_comes_after_the_end_is_not_looked_at(end: ModelEvent) -> None:
    after: list[ModelEvent] = [AppendText(P, "!"), UsageReported(Usage()), DONE]
    together, apart = ResponseFold(strict=True), ResponseFold(strict=True)
    together.feed([*STREAM, end, *after])
    apart.feed([*STREAM, end])
    assert apart.ended
    apart.feed(after)

    assert together.finish() == apart.finish() == fold_response([*STREAM, end])


def test_u01_u03_usage_reports_replace_each_other_number_by_number() -> None:
    reports = [
        TokenUsage(25, 1, 100), TokenUsage(10682, 40), TokenUsage(None, 60),
    ]  # fmt: skip
    response = fold_response(
        [*(UsageReported(Usage(report, requests=1)) for report in reports), DONE]
    )

    assert response.usage == Usage(TokenUsage(10682, 60, 100), requests=1)


def test_the_answer_so_far_can_be_seen_at_any_moment() -> None:
    assert not ResponseFold().has_content
    folding = ResponseFold()
    folding.feed(STREAM[:3])

    assert folding.has_content
    assert not folding.ended
    assert folding.partial().item == Item(
        Item.assistant().kind, (Text("hel"),), provenance=ORIGIN
    )  # fmt: skip
    folding.feed([ResponseFailed(BUSY)])
    assert folding.failure == BUSY


def test_strictness_is_that_of_the_fold() -> None:
    stray: list[ModelEvent] = [AppendText(Q, "x"), DONE]

    assert fold_response(stray).item.text == "x"
    with pytest.raises(DeltaOutOfOrder):
        fold_response(stray, strict=True)
