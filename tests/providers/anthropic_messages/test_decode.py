"""Messages, from bytes to events: blocks, usage, ends and failures."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    Custom,
    FailureKind,
    FinishReason,
    Provenance,
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
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
    fold_response,
    native_reasons,
)
from agentkit_providers.anthropic_messages import AnthropicMessages, Quirks
from support.messages_bodies import (
    USAGE,
    block,
    called,
    ended,
    events,
    read,
    request,
    said,
    started,
    stream,
    whole,
)

OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
SIGNED: dict[str, Any] = {"anthropic_messages.signature": "S"}


def thought(*pieces: str, signature: str = "S", index: int = 0) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = [
        {"type": "thinking_delta", "thinking": entry} for entry in pieces
    ]
    deltas.append({"type": "signature_delta", "signature": signature})
    return block({"type": "thinking", "thinking": "", "signature": ""}, *deltas, index=index)


def test_a_streamed_text_is_one_part_that_grows() -> None:
    body = stream(started(), {"type": "ping"}, said("Hel", "lo"), ended())

    first, last = {"input_tokens": 9, "output_tokens": 1}, {"input_tokens": 9, "output_tokens": 5}
    assert events(body) == (
        ResponseStarted(
            Provenance("anthropic", "anthropic_messages", "claude-opus-4-6", "m1", "m-1")
        ),
        UsageReported(usage_of(first, TokenUsage(9, 1), reported=0)),
        BeginPart("part-0", Text("")),  # type: ignore[arg-type]
        AppendText("part-0", "Hel"),  # type: ignore[arg-type]
        AppendText("part-0", "lo"),  # type: ignore[arg-type]
        CommitPart(Text("Hello"), "part-0"),  # type: ignore[arg-type]
        UsageReported(usage_of(last, TokenUsage(9, 5), reported=1)),
        ResponseFinished(FinishReason.COMPLETED, ("end_turn",)),
    )


def usage_of(raw: dict[str, Any], tokens: TokenUsage, *, reported: int) -> Usage:
    return Usage(
        tokens=tokens,
        requests=1,
        reported_requests=reported,
        metadata={"anthropic_messages.usage": raw},
    )


def test_a_whole_answer_is_a_stream_of_one_large_piece() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "Hm", "signature": "S"},
        {"type": "text", "text": "Hello"},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}},
    ]
    streamed = stream(
        started(),
        thought("H", "m"),
        said("Hel", "lo", index=1),
        called('{"x"', ":1}", index=2),
        ended("tool_use"),
    )

    assert read(whole(*blocks, reason="tool_use")).item == read(streamed).item


@pytest.mark.parametrize("streamed", [True, False])
def test_what_comes_is_read_as_what_it_is_whatever_was_asked(streamed: bool) -> None:
    asked = request(streamed=streamed)

    assert read(whole({"type": "text", "text": "a"}), asked).item.text == "a"
    assert read(stream(started(), said("a"), ended()), asked).item.text == "a"
    assert read(b" \n\n" + whole({"type": "text", "text": "a"}), asked).item.text == "a"


# Framing.


def test_w01_a_unicode_line_separator_does_not_end_a_line() -> None:
    delta = (
        '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\u2028b"}}'
    )
    body = stream(started(), *said(stopped=False), delta.encode(), ended())

    assert read(body).item.text == "a\u2028b"


def test_w02_a_character_cut_in_two_is_one_character() -> None:
    body = stream(started(), said("✅"), ended()).replace(b"\\u2705", "✅".encode())

    assert b"\xe2\x9c\x85" in body
    assert read(body).item.text == "✅"  # reading checks every cut


def test_w08_comments_pings_crlf_and_bare_colons_change_nothing() -> None:
    body = stream(started(), said("a"), ended()).replace(b"\n", b"\r\n").replace(b": ", b":")
    ping = b': KEEPALIVE\r\n\r\nevent: ping\r\ndata:{\r\ndata:"type": "ping"}\r\n\r\n'

    assert read(ping + body).item.text == "a"


@pytest.mark.parametrize(
    "unknown",
    [
        {"type": "of_tomorrow", "index": 0, "delta": {"type": "x"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "x_delta", "x": 1}},
        {"type": "content_block_delta", "index": 9, "delta": {"type": "x_delta", "x": 1}},
        {"type": "content_block_start", "index": 9, "content_block": None},
        {"type": "content_block_stop", "index": 9},
        {"type": "content_block_delta", "index": 0},
        b"null",
        b"  ",
        b"{}",
    ],
)
def test_events_without_known_content_are_ignored(unknown: dict[str, Any] | bytes) -> None:
    body = stream(started(), *said("a", stopped=False), unknown, ended())

    assert read(body).item.parts == (Text("a"),)


def test_padding_inside_an_events_json_is_no_matter() -> None:
    body = stream(started(), said("a"), ended()[0], b'{"type":"message_stop"          }')

    assert read(body).item.finish_reason is FinishReason.COMPLETED


def test_a_gateways_end_mark_after_the_message_is_no_matter() -> None:
    assert read(stream(started(), said("a"), ended(), b"[DONE]")).item.text == "a"
    without_stop = stream(started(), said("a"), ended()[0], b"[DONE]")
    assert read(without_stop).item.finish_reason is FinishReason.COMPLETED


# Text and citations.


def test_citations_come_before_their_text_and_stay_with_it() -> None:
    cited: dict[str, Any] = {"type": "char_location", "cited_text": "x", "document_index": 0}
    citation = {"type": "citations_delta", "citation": cited}
    words = {"type": "text_delta", "text": "a"}
    streamed = stream(
        started(),
        block({"type": "text", "text": "", "citations": []}, citation, words, citation),
        said("b", index=1),
        ended(),
    )
    told_whole = whole(
        {"type": "text", "text": "a", "citations": [cited, cited]},
        {"type": "text", "text": "b", "citations": None},
    )

    expected = (Text("a", metadata={"anthropic_messages.citations": [cited, cited]}), Text("b"))
    assert read(streamed).item.parts == read(told_whole).item.parts == expected


def test_blocks_without_any_text_are_no_parts() -> None:
    assert read(stream(started(), said(), ended())).item.parts == ()
    assert read(whole({"type": "text", "text": ""})).item.parts == ()
    assert read(stream(started(), ended("stop_sequence"))).item.parts == ()


# Reasoning.


def test_reasoning_keeps_its_place_and_its_signature() -> None:
    body = stream(started(), thought("H", "m"), said("a", index=1), thought("o", index=2), ended())

    assert read(body).item.parts == (
        Reasoning("Hm", metadata=SIGNED),
        Text("a"),
        Reasoning("o", metadata=SIGNED),
    )


def test_reasoning_whose_text_is_withheld_is_kept_for_its_signature() -> None:
    expected = (Reasoning(redacted=True, metadata=SIGNED),)

    assert read(stream(started(), thought(""), ended())).item.parts == expected
    empty = {"type": "thinking", "thinking": "", "signature": "S"}
    assert read(whole(empty)).item.parts == expected


def test_redacted_reasoning_comes_whole_and_may_come_in_a_row() -> None:
    redacted = {"type": "redacted_thinking", "data": "ENC"}
    body = stream(started(), block(redacted), block(redacted, index=1), ended())

    part = Reasoning(redacted=True, metadata={"anthropic_messages.redacted_data": "ENC"})
    assert read(body).item.parts == (part, part)


# Calls.


@pytest.mark.parametrize("pieces", [(), ("",), ("", "{}"), ("null",), ("  \n",)])
def test_t07_no_arguments_are_an_empty_object(pieces: tuple[str, ...]) -> None:
    item = read(stream(started(), called(*pieces), ended("tool_use"))).item

    assert item.parts == (ToolCall(ToolCallId("t1"), "f", {}),)


def test_t07_arguments_that_break_off_stay_malformed() -> None:
    (call,) = read(stream(started(), called('{"a"'), ended("tool_use"))).item.tool_calls

    assert (call.input, call.raw_input) == ({}, '{"a"')
    assert call.input_error is not None


def test_arguments_that_come_at_once_are_arguments() -> None:
    body = stream(started(), called(input={"x": 1}), called('{"y":2}', index=1, id="t2"), ended())

    assert [call.input for call in read(body).item.tool_calls] == [{"x": 1}, {"y": 2}]
    assert AppendText("part-0", '{"x":1}') in events(body)  # type: ignore[arg-type]
    repeated = stream(started(), called('{"x":1}', input={"x": 1}), ended())
    assert read(repeated).item.tool_calls[0].input == {"x": 1}


def test_t03_parallel_calls_grow_by_their_index() -> None:
    begun = [called(stopped=False), called(id="t2", name="g", index=1, stopped=False)]
    pieces = [(0, '{"x":'), (1, '{"y":'), (0, "1}"), (1, "2}")]
    grown: list[dict[str, Any]] = [
        {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": "input_json_delta", "partial_json": piece},
        }
        for index, piece in pieces
    ]

    calls = read(stream(started(), *begun, grown, ended("tool_use"))).item.tool_calls
    assert [(call.id, call.name, call.input) for call in calls] == [
        ("t1", "f", {"x": 1}),
        ("t2", "g", {"y": 2}),
    ]


@pytest.mark.parametrize("missing", [{"id": ""}, {"id": None}, {"id": 7}])
def test_t08_calls_without_an_id_or_with_a_repeated_one_get_new_ids(
    missing: dict[str, Any],
) -> None:
    body = stream(
        started(),
        called(**missing),
        called(index=1, **missing),
        called(index=2, id="t1"),
        called(index=3, id="t1"),
        ended("tool_use"),
    )

    ids = [call.id for call in read(body).item.tool_calls]
    assert ids == ["call_0", "call_1", "t1", "call_3"]


@pytest.mark.parametrize(
    ("arguments", "reason", "expected"),
    [
        ('{"path":"a.txt"', "max_tokens", FinishReason.MAX_TOKENS),
        ('{"path":"a.txt"}', "max_tokens", FinishReason.MAX_TOKENS),
        ('{"path":"a.txt"', "tool_use", FinishReason.TOOL_CALL),
    ],
)
def test_t10_a_call_that_the_output_limit_cut_off_shows_it(
    arguments: str, reason: str, expected: FinishReason
) -> None:
    item = read(stream(started(), called(arguments), ended(reason))).item

    assert item.finish_reason is expected
    assert expected is FinishReason.MAX_TOKENS or item.tool_calls[0].input_error is not None


@pytest.mark.parametrize(
    "reason", ["end_turn", "stop_sequence", "stop", "pause_turn", "of_tomorrow", None]
)
def test_t11_calls_make_it_a_tool_turn_whatever_the_stop_reason_says(reason: str | None) -> None:
    body = stream(started(), called(), ended(reason))

    assert read(body).item.finish_reason is FinishReason.TOOL_CALL


def test_t11_without_a_call_it_is_no_tool_turn() -> None:
    body = stream(started(), said("a"), ended("tool_use"))

    assert read(body).item.finish_reason is FinishReason.COMPLETED


def test_what_a_call_says_of_its_caller_is_kept() -> None:
    caller = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
    (call,) = read(stream(started(), called(caller=caller), ended("tool_use"))).item.tool_calls

    assert call.metadata == {"anthropic_messages.block": {"caller": caller}}


# Blocks of the vendor's own.


def test_tools_that_the_vendor_runs_are_kept_as_they_are() -> None:
    use: dict[str, Any] = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    result: dict[str, Any] = {
        "type": "web_search_tool_result",
        "tool_use_id": "s1",
        "content": [{"title": "T"}],
    }
    pieces = ('{"query": ', '"x"}')
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    streamed = stream(started(), block(use, *deltas), block(result, index=1), ended())
    told_whole = whole({**use, "input": {"query": "x"}}, result)

    expected = (
        Custom("anthropic_messages.server_tool_use", {**use, "input": {"query": "x"}}),
        Custom("anthropic_messages.web_search_tool_result", result),
    )
    assert read(streamed).item.parts == read(told_whole).item.parts == expected
    assert read(streamed).item.finish_reason is FinishReason.COMPLETED


def test_compaction_is_kept_with_its_one_delta() -> None:
    begun = {"type": "compaction", "content": None}
    delta = {"type": "compaction_delta", "content": "so far"}
    body = stream(started(), block(begun, delta), said("a", index=1), ended())

    assert read(body).item.parts == (
        Custom("anthropic_messages.compaction", {"type": "compaction", "content": "so far"}),
        Text("a"),
    )


def test_blocks_of_unknown_types_grow_by_their_deltas() -> None:
    begun = {"type": "new", "list": [1], "text": "a", "n": 1}
    deltas: list[dict[str, Any]] = [
        {"type": "new_delta", "list": [2], "word": "x", "n": 2, "none": None},
        {"type": "new_delta", "word": "y"},
        {"type": "text_delta", "text": "b"},
        {"type": "citations_delta", "citation": {"c": 1}},
    ]
    (part,) = read(stream(started(), block(begun, *deltas), ended())).item.parts

    assert part == Custom(
        "anthropic_messages.new",
        {
            "type": "new",
            "list": [1, 2],
            "text": "ab",
            "n": 2,
            "citations": [{"c": 1}],
            "word": "xy",
        },
    )


def test_deltas_of_a_block_that_never_began_open_it() -> None:
    loose = [entry for entry in said("a", stopped=False) if entry["type"] == "content_block_delta"]
    thinking = {"type": "thinking_delta", "thinking": "h"}
    body = stream({"type": "content_block_delta", "index": 1, "delta": thinking}, *loose, ended())

    assert read(body).item.parts == (Reasoning("h"), Text("a"))


def test_a_block_that_begins_in_the_place_of_an_open_one_ends_it() -> None:
    body = stream(started(), *said("a", stopped=False), *said("b", stopped=False), ended())

    assert read(body).item.parts == (Text("a"), Text("b"))
    committed = [event for event in events(body) if isinstance(event, CommitPart)]
    assert [entry.part for entry in committed] == [Text("a"), Text("b")]


# Ends.


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", FinishReason.COMPLETED),
        ("stop_sequence", FinishReason.COMPLETED),
        ("max_tokens", FinishReason.MAX_TOKENS),
        ("pause_turn", FinishReason.PAUSED),
        ("refusal", FinishReason.BLOCKED),
        ("sensitive", FinishReason.BLOCKED),
        ("of_tomorrow", FinishReason.OTHER),
    ],
)
def test_every_stop_reason_has_its_place_and_keeps_its_word(
    word: str, reason: FinishReason
) -> None:
    for body in (
        stream(started(), said("a"), ended(word)),
        whole({"type": "text", "text": "a"}, reason=word),
    ):
        item = read(body).item
        assert item.finish_reason is reason
        assert native_reasons(item.metadata) == (word,)


def test_what_comes_with_the_end_is_kept_for_the_item() -> None:
    more = {"container": {"id": "c1"}, "stop_details": {"type": "refusal"}}
    cleared: dict[str, Any] = {"applied_edits": []}
    last, stop = ended("stop_sequence", **more)
    last["delta"]["stop_sequence"] = "END"
    streamed = stream(started(), said("a"), {**last, "context_management": cleared}, stop)
    told_whole = whole(
        {"type": "text", "text": "a"},
        reason="stop_sequence",
        **{**more, "stop_sequence": "END", "context_management": cleared},
    )

    for body in (streamed, told_whole):
        metadata = read(body).item.metadata
        assert metadata["anthropic_messages.container"] == {"id": "c1"}
        assert metadata["anthropic_messages.stop_details"] == {"type": "refusal"}
        assert metadata["anthropic_messages.stop_sequence"] == "END"
        assert metadata["anthropic_messages.context_management"] == cleared


def test_x10_a_full_context_window_is_a_failure_of_that_kind() -> None:
    body = stream(started(), said("a"), ended("model_context_window_exceeded"))
    response = read(body)

    assert response.failure is not None
    assert response.failure.kind is FailureKind.CONTEXT_LENGTH
    assert not response.failure.retryable
    assert response.item.text == "a"
    assert response.item.metadata["anthropic_messages.finish_reasons"] == [
        "model_context_window_exceeded"
    ]


def test_w05_an_error_inside_the_stream_keeps_the_text_and_fails_the_turn() -> None:
    for body in (
        stream(started(), said("par", stopped=False), OVERLOADED),
        stream(started(), said("par", stopped=False), json.dumps(OVERLOADED["error"]).encode()),
        stream(started(), said("par"), ended()[0], OVERLOADED),
        stream(started(), said("par", stopped=False), {**OVERLOADED, "message": {"id": 1}}),
    ):
        response = read(body)
        assert response.failure is not None
        assert response.failure.kind is FailureKind.OVERLOADED
        assert response.failure.retryable
        assert response.failure.status is None
        assert response.failure.type == "overloaded_error"
        assert response.item.text == "par"
        assert response.item.finish_reason is FinishReason.ERROR
        assert response.usage.tokens.input == 9


def test_an_error_with_a_good_status_is_an_error() -> None:
    for told in (OVERLOADED, {"error": "overloaded"}, {"detail": "The model is overloaded"}):
        failure = read(json.dumps(told).encode()).failure
        assert failure is not None
        assert failure.kind is FailureKind.OVERLOADED


def test_w07_a_stream_that_just_ends_is_cut() -> None:
    for body in (
        stream(started(), said("a", stopped=False)),
        stream(started(), *said("a"), *called('{"pa', index=1, stopped=False)),
    ):
        response = read(body)
        assert response.failure is not None
        assert response.failure.kind is FailureKind.STREAM_CUT
        assert response.item.text == "a"
        assert all(call.input_error is not None for call in response.item.tool_calls)


def test_an_end_without_its_blank_line_is_an_end() -> None:
    body = stream(started(), said("a"), ended()).rstrip(b"\n")

    assert read(body).failure is None


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", FailureKind.STREAM_CUT),
        (b'{"content": [', FailureKind.STREAM_CUT),
        (b"{}", FailureKind.PROTOCOL),
        (b"[]", FailureKind.PROTOCOL),
        (b'{"content": 1}', FailureKind.PROTOCOL),
        (b"<html>", FailureKind.STREAM_CUT),
        (b"data: oops\n\n", FailureKind.PROTOCOL),
        (b'data: {"type": "message_stop"}\n\n', FailureKind.PROTOCOL),
        (
            b'data: {"type": "message_delta", "delta": {"stop_reason": []}}\n\n',
            FailureKind.PROTOCOL,
        ),
    ],
)
def test_a_body_that_is_no_answer_is_a_failure(body: bytes, kind: FailureKind) -> None:
    failure = read(body).failure

    assert failure is not None
    assert failure.kind is kind


FULL = "prompt is too long: 210000 tokens > 200000 maximum"


@pytest.mark.parametrize(
    ("status", "kind", "message", "expected"),
    [
        (400, "invalid_request_error", FULL, FailureKind.CONTEXT_LENGTH),
        (413, "request_too_large", "Request exceeds the maximum size", FailureKind.CONTEXT_LENGTH),
        (529, "overloaded_error", "Overloaded", FailureKind.OVERLOADED),
        (429, "rate_limit_error", "too many tokens per minute", FailureKind.RATE_LIMIT),
        (400, "invalid_request_error", "Your credit balance is too low", FailureKind.BILLING),
        (401, "authentication_error", "invalid x-api-key", FailureKind.AUTH),
        (404, "not_found_error", "model: x", FailureKind.NOT_FOUND),
    ],
)
def test_x02_x10_the_vendors_errors_are_distinguished(
    status: int, kind: str, message: str, expected: FailureKind
) -> None:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "r1"}
    failure = AnthropicMessages().failure(status, {}, json.dumps(body).encode())

    assert (failure.kind, failure.type, failure.request_id) == (expected, kind, "r1")
    if message == FULL:
        assert (failure.tokens, failure.token_limit) == (210_000, 200_000)


# Usage.


def test_u03_later_counts_replace_earlier_ones_and_null_changes_nothing() -> None:
    body = stream(
        started({"input_tokens": 25, "cache_read_input_tokens": 100, "output_tokens": 1}),
        said("a"),
        {
            "type": "message_delta",
            "delta": {"stop_reason": None},
            "usage": {"input_tokens": 10682, "output_tokens": 40},
        },
        ended(usage={"input_tokens": None, "output_tokens": 60}),
    )

    usage = read(body).usage
    assert usage.tokens == TokenUsage(input=10682, cache_read=100, output=60)
    assert usage.metadata["anthropic_messages.usage"] == {
        "input_tokens": 10682,
        "cache_read_input_tokens": 100,
        "output_tokens": 60,
    }
    again = stream(started(), said("a"), ended()[0], ended())
    assert sum(isinstance(event, UsageReported) for event in events(again)) == 2


def test_counts_of_the_beginning_alone_are_a_lower_bound() -> None:
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    body = stream(started({"input_tokens": 25, "output_tokens": 1}), said("a"), end, ended()[1])

    usage = read(body).usage
    assert usage.tokens == TokenUsage(input=25, output=1)
    assert not usage.exact


def test_u03_a_gateway_that_knows_no_counts_at_first_wipes_and_invents_nothing() -> None:
    nulls = dict.fromkeys(("input_tokens", "output_tokens", "cache_read_input_tokens"))
    body = stream(
        started(nulls), said("a"), ended(usage={"input_tokens": 8, "output_tokens": 0, "cost": 0.5})
    )
    told = [event for event in events(body) if isinstance(event, UsageReported)]

    assert len(told) == 1
    usage = read(body, quirks=Quirks(cost_currency="USD")).usage
    assert usage.tokens == TokenUsage(input=8, output=0)
    assert usage.cost.amounts == {"USD": Decimal("0.5")}
    assert read(body).usage.cost.amounts == {}


def test_u04_cached_tokens_are_counted_beside_the_input() -> None:
    usage = {
        "input_tokens": 200,
        "cache_read_input_tokens": 800,
        "cache_creation_input_tokens": 100,
        "cache_creation": {"ephemeral_5m_input_tokens": 60, "ephemeral_1h_input_tokens": 40},
        "output_tokens": 50,
    }
    tokens = read(whole(usage=usage)).usage.tokens

    assert tokens == TokenUsage(200, 50, cache_read=800, cache_write=100, cache_write_1h=40)
    assert (tokens.prompt, tokens.total) == (1100, 1150)


def test_u05_reasoning_is_part_of_the_output() -> None:
    usage = {**USAGE, "output_tokens": 87, "output_tokens_details": {"thinking_tokens": 78}}

    tokens = read(whole(usage=usage)).usage.tokens
    assert (tokens.output, tokens.reasoning) == (87, 78)


def test_u06_what_a_dead_stream_used_is_known_as_a_lower_bound() -> None:
    seen = read(stream(started({"input_tokens": 500, "output_tokens": 1}), said("a")))

    assert seen.failure is not None
    assert seen.usage.tokens.input == 500
    assert not seen.usage.exact
    assert read(stream(started(), said("a"), ended())).usage.exact


# Odd JSON, long answers, any bytes.


def test_r13_halves_of_characters_cut_over_two_deltas_are_joined() -> None:
    def piece(kind: str, field: str, half: str) -> bytes:
        delta = f'{{"type":"{kind}","{field}":"{half}"}}'
        return f'{{"type":"content_block_delta","index":0,"delta":{delta}}}'.encode()

    text = stream(
        started(),
        said("a", stopped=False),
        piece("text_delta", "text", r"\ud83d"),
        piece("text_delta", "text", r"\ude00b"),
        piece("text_delta", "text", r"\ud83d"),
        ended(),
    )
    thinking = stream(
        started(),
        block({"type": "thinking", "thinking": ""}, stopped=False),
        piece("thinking_delta", "thinking", r"\ud83d"),
        ended(),
    )
    call = stream(
        started(),
        called(stopped=False),
        piece("input_json_delta", "partial_json", r"{\"a\":\"\ud83d"),
        piece("input_json_delta", "partial_json", r"\ude00\"}"),
        ended(),
    )
    other = stream(
        started(),
        block({"type": "new", "text": ""}, stopped=False),
        piece("text_delta", "text", r"\ud83d"),
        piece("text_delta", "text", r"\ude00"),
        ended(),
    )

    assert read(text).item.text == "a😀b\ufffd"
    assert read(thinking).item.parts == (Reasoning("\ufffd"),)
    assert read(call).item.tool_calls[0].input == {"a": "😀"}
    assert read(other).item.parts == (
        Custom("anthropic_messages.new", {"type": "new", "text": "😀"}),
    )


def test_a_long_answer_is_read_in_linear_time() -> None:
    """Tens of thousands of deltas in a second or two; quadratic would take minutes."""
    body = stream(started(), said(*["word "] * 20_000), ended())

    response = fold_response(events([body[n : n + 777] for n in range(0, len(body), 777)]))
    assert len(response.item.text) == 5 * 20_000


PIECES = st.sampled_from(
    [
        started(),
        *said("a", stopped=False),
        *said("é😀", index=1),
        *thought("r", index=2),
        *called('{"a":', "1}", index=3),
        *block({"type": "new", "n": 1}, {"type": "new_delta", "n": 2}, index=4),
        *ended(),
        *ended("tool_use"),
        OVERLOADED,
        b"oops",
        b"[DONE]",
        rb'{"type":"content_block_delta","delta":{"type":"text_delta","text":"\ud83d"}}',
        {"type": "ping"},
    ]
)


@given(
    pieces=st.lists(PIECES, max_size=9),
    places=st.sets(st.integers(1, 1500), max_size=30),
)
def test_where_the_network_cuts_the_body_does_not_matter(
    pieces: list[dict[str, Any] | bytes], places: set[int]
) -> None:
    body = stream(*pieces)
    edges = [0, *sorted(place for place in places if place < len(body)), len(body)]

    in_pieces = events([body[a:b] for a, b in pairwise(edges)])
    assert in_pieces == events(body)
    assert sum(isinstance(entry, ResponseFinished | ResponseFailed) for entry in in_pieces) == 1
    fold_response(in_pieces, strict=True)


KEYS = "type index delta content_block message usage content text input error stop_reason id"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "text", "tool_use"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=5)
    ),
    max_leaves=12,
)
KINDS = st.sampled_from(
    ["content_block_start", "content_block_delta", "message_start", "message_delta"]
)


@given(body=st.binary(max_size=200), values=st.lists(st.tuples(KINDS, JSON), max_size=4))
def test_no_body_makes_a_decoder_raise(body: bytes, values: list[tuple[str, Any]]) -> None:
    shaped = [
        {**value, "type": kind} if isinstance(value, dict) else value for kind, value in values
    ]
    for odd in (
        body,
        b"data: " + body + b"\n\n",
        b"".join(b"data: " + json.dumps(entry).encode() + b"\n\n" for entry in shaped),
        json.dumps({"content": [value for _, value in values]}).encode(),
    ):
        decoder = AnthropicMessages().decoder(request())
        told = (*decoder.feed(odd), *decoder.finish())
        assert isinstance(told[-1], ResponseFailed | ResponseFinished)
        fold_response(told, strict=True)
