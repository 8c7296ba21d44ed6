"""Chat Completions, from bytes to events: text, reasoning, usage, ends and failures."""

from __future__ import annotations

import json
from base64 import b64encode
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
    InlineBytes,
    Media,
    Modality,
    Provenance,
    Reasoning,
    Text,
    TokenUsage,
    ToolCall,
    Uri,
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
from agentkit_providers.openai_chat import OpenAIChat, Quirks
from support.chat_bodies import delta, events, fragment, read, request, stream, whole

USAGE = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}


def test_a_streamed_text_is_one_part_that_grows() -> None:
    body = stream(
        delta(role="assistant", content=""), delta(content="Hel"), delta("stop", content="lo")
    )

    assert events(body) == (
        ResponseStarted(Provenance("openai", "openai_chat", "m", "r1", "m-1")),
        BeginPart("part-0", Text("")),  # type: ignore[arg-type]
        AppendText("part-0", "Hel"),  # type: ignore[arg-type]
        AppendText("part-0", "lo"),  # type: ignore[arg-type]
        CommitPart(Text("Hello"), "part-0"),  # type: ignore[arg-type]
        ResponseFinished(FinishReason.COMPLETED, ("stop",)),
    )


def test_a_whole_answer_is_a_stream_of_one_large_piece() -> None:
    body = whole(content="Hello", reasoning_content="Hm")
    streamed = stream(delta(reasoning_content="Hm"), delta("stop", content="Hello"))

    assert read(body, request(streamed=False)).item == read(streamed).item


@pytest.mark.parametrize("streamed", [True, False])
def test_what_comes_is_read_as_what_it_is_whatever_was_asked(streamed: bool) -> None:
    asked = request(streamed=streamed)

    assert read(whole(content="a"), asked).item.text == "a"
    assert read(stream(delta("stop", content="a")), asked).item.text == "a"
    assert read(b" \n\n" + whole(content="a"), asked).item.text == "a"


def test_w03_chunks_with_empty_choices_are_legal_before_and_after() -> None:
    response = read(
        stream(
            {"choices": [], "id": "", "model": "", "prompt_filter_results": [{}]},
            delta("stop", content="hi"),
            {"choices": [], "usage": USAGE},
            {"choices": [], "moderation": {"flagged": False}},
        )
    )

    assert response.item.text == "hi"
    assert response.item.finish_reason is FinishReason.COMPLETED
    assert response.usage.tokens == TokenUsage(input=5, output=1)
    assert response.item.provenance == Provenance("openai", "openai_chat", "m", "r1", "m-1")
    assert response.item.metadata["openai_chat.moderation"] == {"flagged": False}


@pytest.mark.parametrize("nothing", [b"null", b"", b"  ", b'{"choices":null}', b"{}"])
def test_empty_chunks_are_ignored(nothing: bytes) -> None:
    assert read(stream(nothing, delta(content="a"), nothing, delta("stop"))).item.text == "a"


def test_w05_an_error_inside_the_stream_keeps_the_text_and_fails_the_turn() -> None:
    error = {"error": {"type": "overloaded_error", "message": "Overloaded"}}
    for body in (
        stream(delta(content="par"), error),
        stream(delta(content="par"), done=False)
        + b"event: error\ndata: "
        + json.dumps(error).encode()
        + b"\n\n",
        stream(
            delta(content="par"), {"object": "error", "type": "overloaded_error", "message": "x"}
        ),
        stream(delta(content="par"), {"error": "overloaded", "code": "overloaded_error"}),
        stream(delta(content="par"), {"message": "The model is overloaded, try again"}),
    ):
        response = read(body)
        assert response.failure is not None
        assert response.failure.kind is FailureKind.OVERLOADED
        assert response.failure.retryable
        assert response.item.text == "par"
        assert response.item.finish_reason is FinishReason.ERROR


@pytest.mark.parametrize(
    "last",
    [
        {**delta("error", content=""), "error": {"code": 502, "message": "gone"}},
        {"choices": [], "error": {"code": 502, "message": "gone"}},
        {"error": {"code": 502, "message": "gone"}},
        {"choices": [{"finish_reason": "error", "error": {"code": 502, "message": "gone"}}]},
    ],
)
def test_w06_an_in_band_error_wins_over_choices_usage_and_earlier_finish_reasons(
    last: dict[str, Any],
) -> None:
    response = read(stream(delta("length", content="Par"), {**last, "usage": USAGE}))

    assert response.failure is not None
    assert response.failure.kind is FailureKind.SERVER
    assert (response.failure.code, response.failure.message) == ("502", "gone")
    assert response.failure.status is None
    assert response.item.text == "Par"
    assert response.item.finish_reason is FinishReason.ERROR
    assert response.usage.tokens.input == 5
    assert response.item.metadata["openai_chat.finish_reasons"][0] == "length"  # type: ignore[index]


def test_w06_the_error_of_the_choice_that_is_read_fails_whole_responses_too() -> None:
    error = {"code": 429, "message": "slow down"}

    ended = {"finish_reason": "error", "error": error}

    failure = read(json.dumps({"choices": [ended]}).encode()).failure
    beside = read(stream(delta("stop", content="a"), {"choices": [{"index": 1, **ended}]}))

    assert failure is not None
    assert (failure.kind, failure.message) == (FailureKind.RATE_LIMIT, "slow down")
    assert beside.failure is None


def test_an_error_that_is_answered_with_a_good_status_is_a_failure() -> None:
    for body in (
        b'{"error":{"code":"model_not_found","message":"no"}}',
        b'{"detail":{"message":"no","code":"model_not_found"}}',
        b'{"object":"error","message":"no","code":"model_not_found"}',
    ):
        failure = read(body, request(streamed=False)).failure
        assert failure is not None
        assert failure.message == "no"


def test_w07_a_stream_that_just_ends_is_cut_off() -> None:
    response = read(stream(delta(content="half"), {"choices": [], "usage": USAGE}, done=False))

    assert response.failure is not None
    assert response.failure.kind is FailureKind.STREAM_CUT
    assert response.failure.retryable
    assert response.item.text == "half"
    assert response.item.interrupted
    assert response.usage.tokens == TokenUsage(input=5, output=1)


@pytest.mark.parametrize("body", [b"", b"data: [DONE]\n\n", b": ping\n\n", b"\n\n"])
def test_w07_a_stream_without_any_answer_is_cut_off_too(body: bytes) -> None:
    failure = read(body).failure

    assert failure is not None
    assert failure.kind is FailureKind.STREAM_CUT


def test_w07_either_end_mark_suffices() -> None:
    for body in (
        stream(delta("stop", content="a"), done=False),
        stream(delta(content="a"), done=True),
        stream(delta(content="a"), done=False) + b"data: [DONE]",
    ):
        assert read(body).item.finish_reason is FinishReason.COMPLETED


def test_w07_a_server_known_to_leave_the_mark_out_is_believed_unless_a_call_is_open() -> None:
    quirks = Quirks(supports_finish_reason=False)
    text = stream(delta(content="a"), done=False)
    done_call = stream(delta(tool_calls=[fragment('{"a":1}', "f", index=0, id="x")]), done=False)
    open_call = stream(delta(tool_calls=[fragment('{"a":', "f", index=0, id="x")]), done=False)

    assert read(text, quirks=quirks).failure is None
    assert read(done_call, quirks=quirks).item.finish_reason is FinishReason.TOOL_CALL
    refused = read(open_call, quirks=quirks)
    assert refused.failure is not None
    assert refused.item.tool_calls[0].input_error is not None


def test_a_whole_answer_that_breaks_off_is_cut_off_and_odd_json_breaks_the_protocol() -> None:
    body = whole(content="Hello")
    cut = read(body[:-5]).failure
    html = read(b"<html>Bad gateway</html>").failure
    broken = read(b'{"choices": oops}').failure
    odd = read(stream({"choices": 7})).failure

    assert cut is not None
    assert cut.kind is FailureKind.STREAM_CUT
    assert html is not None
    assert html.kind is FailureKind.STREAM_CUT
    assert broken is not None
    assert broken.kind is FailureKind.PROTOCOL
    assert odd is not None
    assert odd.kind is FailureKind.PROTOCOL


def test_a_payload_that_is_no_json_fails_the_answer_and_says_what_it_was() -> None:
    response = read(stream(delta(content="a"), b"upstream connect error"))

    assert response.failure is not None
    assert response.failure.kind is FailureKind.PROTOCOL
    assert "upstream connect error" in response.failure.message
    assert response.item.text == "a"


def test_an_answer_without_choices_is_no_answer() -> None:
    failure = read(b'{"id":"r","choices":[]}', request(streamed=False)).failure

    assert failure is not None
    assert failure.kind is FailureKind.PROTOCOL


def test_w11_reasoning_is_read_from_one_field_of_a_chunk_and_never_doubled() -> None:
    details = [{"type": "reasoning.text", "text": "A"}]
    response = read(
        stream(
            delta(reasoning="A", reasoning_details=details),
            delta(reasoning_content="B", reasoning="B"),
            delta(reasoning_text="C"),
            delta(reasoning_details=[{"type": "reasoning.text", "text": "D", "signature": "S"}]),
            delta("stop", content="x"),
        )
    )

    reasoning, text = response.item.parts
    assert isinstance(reasoning, Reasoning)
    assert reasoning.summary == "ABCD"
    assert reasoning.metadata["openai_chat.reasoning_details"] == [
        {"type": "reasoning.text", "text": "AD", "signature": "S"}
    ]
    assert text == Text("x")


def test_reasoning_that_is_only_encrypted_is_kept_for_its_owner() -> None:
    secret = {"type": "reasoning.encrypted", "data": "QUJD", "index": 0}
    response = read(stream(delta(reasoning_details=[secret]), delta("stop", content="x")))

    reasoning = response.item.parts[0]
    assert isinstance(reasoning, Reasoning)
    assert reasoning.redacted
    assert reasoning.summary is None
    assert reasoning.metadata["openai_chat.reasoning_details"] == [secret]


def test_encrypted_entries_come_whole_and_stay_apart() -> None:
    entries = [{"type": "reasoning.encrypted", "data": data, "index": 0} for data in ("QQ", "Qg")]
    chunks = [delta(reasoning_details=[entry]) for entry in entries]
    reasoning = read(stream(*chunks, delta("stop", content="x"))).item.parts[0]

    assert reasoning.metadata["openai_chat.reasoning_details"] == entries


def test_text_and_reasoning_that_alternate_stay_in_order() -> None:
    response = read(
        stream(
            delta(reasoning="1"),
            delta(content="2"),
            delta(reasoning="3"),
            delta("stop", content="4"),
        )
    )

    said = [part.text if isinstance(part, Text) else part for part in response.item.parts]
    assert [entry.summary if isinstance(entry, Reasoning) else entry for entry in said] == list(
        "1234"
    )


def test_empty_fields_and_placeholders_are_absent() -> None:
    empty: dict[str, Any] = {
        "content": "x",
        "refusal": "",
        "reasoning_content": "",
        "reasoning_details": [],
        "audio": {"data": "", "expires_at": 0, "id": "", "transcript": ""},
        "function_call": {"name": "", "arguments": ""},
        "tool_calls": [{"id": "", "function": {"name": "", "arguments": ""}, "custom": {}}],
        "annotations": None,
    }

    assert read(whole(**empty)).item.parts == (Text("x"),)
    assert read(whole(**empty)).item.finish_reason is FinishReason.COMPLETED


def test_odd_values_where_only_some_vendors_send_any_do_no_harm() -> None:
    odd: dict[str, Any] = {
        "content": "x",
        "reasoning": {"summary": []},
        "reasoning_details": [None, "text"],
        "annotations": {},
        "audio": [],
        "images": {"url": 1},
        "executed_tools": "none",
        "logprobs": 3,
    }
    chunk = {**delta("stop", **odd), "usage": [], "x_groq": "y", "model": 7, "service_tier": {}}
    chunk["choices"][0] |= {"index": None, "logprobs": [], "usage": "none"}

    assert read(stream(chunk)).item.parts == (Text("x"),)


def test_content_that_is_a_list_is_read_entry_by_entry() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}], "closed": True}
    reference: dict[str, Any] = {"type": "reference", "reference_ids": [1]}
    response = read(
        stream(
            delta(content=[thinking]),
            delta(content=[{"type": "text", "text": "a"}, reference, "b"]),
            delta("stop", content="c"),
        )
    )

    assert response.item.parts == (
        Reasoning("Hm", metadata={"openai_chat.reasoning_field": "content"}),
        Text("a"),
        Custom("openai_chat.reference", reference),
        Text("bc"),
    )


def test_a_refusal_is_a_text_that_says_so_and_the_turn_is_blocked() -> None:
    response = read(stream(delta(refusal="I "), delta("stop", refusal="can't")))

    assert response.item.parts == (Text("I can't", metadata={"openai_chat.refusal": True}),)
    assert response.item.finish_reason is FinishReason.BLOCKED


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", FinishReason.COMPLETED),
        ("eos", FinishReason.COMPLETED),
        ("STOP", FinishReason.COMPLETED),
        ("length", FinishReason.MAX_TOKENS),
        ("content_filter", FinishReason.BLOCKED),
        ("sensitive", FinishReason.BLOCKED),
        ("content_filter: OTHER", FinishReason.BLOCKED),
        ("tool_calls", FinishReason.COMPLETED),  # there are none
        ("novel", FinishReason.OTHER),
        ("novel: one", FinishReason.OTHER),
    ],
)
def test_a_finish_reason_is_mapped_and_the_vendors_word_is_kept(
    word: str, reason: FinishReason
) -> None:
    item = read(stream(delta(word, content="a"))).item

    assert item.finish_reason is reason
    assert native_reasons(item.metadata) == (word,)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("error", FailureKind.SERVER),
        ("network_error", FailureKind.SERVER),
        ("insufficient_system_resource", FailureKind.OVERLOADED),
        ("malformed_function_call", FailureKind.SERVER),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", FailureKind.SERVER),
        ("abort", FailureKind.SERVER),
        ("cancelled", FailureKind.SERVER),
    ],
)
def test_w10_a_finish_reason_that_means_failure_is_one(word: str, kind: FailureKind) -> None:
    failure = read(stream(delta(word, content="a"))).failure

    assert failure is not None
    assert failure.kind is kind
    assert failure.retryable


def test_x10_a_context_that_overflows_in_the_answer_is_no_finished_turn() -> None:
    failure = read(stream(delta("model_context_window_exceeded"))).failure

    assert failure is not None
    assert failure.kind is FailureKind.CONTEXT_LENGTH
    assert not failure.retryable


def test_of_two_finish_reasons_the_first_counts_and_later_text_is_ignored() -> None:
    item = read(stream(delta("length", content="a"), delta("stop", content="b"), delta(""))).item

    assert item.text == "a"
    assert item.finish_reason is FinishReason.MAX_TOKENS
    assert native_reasons(item.metadata) == ("length", "stop")


def test_everything_after_the_end_mark_is_ignored() -> None:
    body = stream(delta("stop", content="a")) + stream(delta("stop", content="b"))

    assert read(body).item.text == "a"


def tokens_of(usage: dict[str, Any], quirks: Quirks | None = None) -> TokenUsage:
    return read(
        stream(delta("stop", content="a"), {"choices": [], "usage": usage}), quirks=quirks
    ).usage.tokens


def counts(prompt: int, completion: int, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, **more}


def test_u01_running_totals_are_not_added_up() -> None:
    chunks = [{**delta(content="a"), "usage": counts(10, n)} for n in (1, 4, 5)]
    body = stream(*chunks, delta("stop"), {"choices": [], "usage": None})
    response = read(body)

    assert response.usage.tokens == TokenUsage(input=10, output=5)
    assert (response.usage.requests, response.usage.reported_requests) == (1, 1)
    reports = [event.usage for event in events(body) if isinstance(event, UsageReported)]
    assert [usage.tokens.output for usage in reports] == [1, 4, 5, 5]
    assert [usage.exact for usage in reports] == [False, False, False, True]


def test_u01_a_repeated_usage_report_is_reported_once() -> None:
    last = {**delta("stop"), "usage": USAGE, "x_groq": {"usage": USAGE}}
    told = events(stream(last, {"choices": [], "usage": USAGE}))

    assert sum(isinstance(entry, UsageReported) for entry in told) == 1


def test_u03_a_report_without_counts_wipes_nothing() -> None:
    nulls = {"prompt_tokens": None, "completion_tokens": None}
    body = stream(delta("stop"), {"choices": [], "usage": USAGE}, {"choices": [], "usage": nulls})

    assert read(body).usage.tokens == TokenUsage(input=5, output=1)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            counts(1000, 50, prompt_tokens_details={"cached_tokens": 800}),
            TokenUsage(input=200, cache_read=800, output=50),
        ),
        (
            counts(1000, 50, prompt_tokens_details={"cached_tokens": 0, "cache_write_tokens": 900}),
            TokenUsage(input=100, cache_read=0, cache_write=900, output=50),
        ),
        (counts(10, 5, prompt_cache_hit_tokens=4), TokenUsage(input=6, cache_read=4, output=5)),
        (counts(10, 5, cached_tokens=4), TokenUsage(input=6, cache_read=4, output=5)),
        (
            counts(347, 18, prompt_tokens_details={"cached_tokens": 403}),
            TokenUsage(input=0, cache_read=403, output=18),
        ),
        ({"completion_tokens": 3}, TokenUsage(output=3)),
        (counts(3, 0), TokenUsage(input=3, output=0)),
    ],
)
def test_u04_cached_tokens_are_counted_once(usage: dict[str, Any], expected: TokenUsage) -> None:
    assert tokens_of(usage) == expected


@pytest.mark.parametrize(
    ("usage", "exclusive", "output"),
    [
        (counts(10, 87, completion_tokens_details={"reasoning_tokens": 78}), False, 87),
        (counts(496, 77, completion_tokens_details={"reasoning_tokens": 121}), True, 198),
        # The total knows better than what the vendor is known for.
        (
            counts(496, 77, total_tokens=694, completion_tokens_details={"reasoning_tokens": 121}),
            False,
            198,
        ),
        (
            counts(496, 198, total_tokens=694, completion_tokens_details={"reasoning_tokens": 121}),
            True,
            198,
        ),
        # Neither fits: the total counts.
        (
            counts(9, 2, total_tokens=99, completion_tokens_details={"reasoning_tokens": 25}),
            False,
            90,
        ),
    ],
)
def test_u05_reasoning_is_part_of_the_output_once(
    usage: dict[str, Any], exclusive: bool, output: int
) -> None:
    tokens = tokens_of(usage, Quirks(completion_tokens_exclude_reasoning=exclusive))

    assert tokens.output == output
    assert tokens.reasoning == usage["completion_tokens_details"]["reasoning_tokens"]


def test_u06_usage_that_was_seen_survives_a_stream_that_dies() -> None:
    seen = read(stream({**delta(content="a"), "usage": counts(500, 3)}, done=False))
    unseen = read(stream(delta(content="a"), done=False))

    assert seen.failure is not None
    assert seen.usage.tokens.input == 500
    assert unseen.usage.tokens == TokenUsage()
    assert (unseen.usage.requests, unseen.usage.reported_requests) == (1, 0)


@pytest.mark.parametrize(
    "chunk",
    [
        {"choices": [{"index": 0, "delta": {}, "usage": USAGE}]},
        {"choices": [], "x_groq": {"usage": USAGE}},
        {"x_groq": {"usage": USAGE}},
    ],
)
def test_usage_is_found_where_vendors_put_it(chunk: dict[str, Any]) -> None:
    usage = read(stream(delta(content="a"), delta("stop"), chunk)).usage

    assert usage.tokens == TokenUsage(input=5, output=1)
    assert usage.metadata == {"openai_chat.usage": USAGE}


def test_money_is_read_where_the_vendor_is_known_to_mean_money() -> None:
    body = stream(delta("stop"), {"choices": [], "usage": {**USAGE, "cost": 0.00007159}})
    nested = stream(delta("stop"), {"choices": [], "usage": {**USAGE, "cost": {"total_cost": 0.5}}})
    priced = read(body, quirks=Quirks(cost_currency="USD")).usage

    assert priced.cost.amounts == {"USD": Decimal("0.00007159")}
    assert priced.priced_requests == 1
    assert read(nested, quirks=Quirks(cost_currency="USD")).usage.cost.amount == Decimal("0.5")
    assert read(body).usage.cost.amounts == {}
    assert read(body).usage.priced_requests == 0


def test_further_choices_are_kept_beside_the_answer() -> None:
    body = stream(
        delta(index=1, content="b1"),
        delta(content="a1"),
        delta("length", index=1, content="b2"),
        delta("stop", content="a2"),
    )
    item = read(body, request(extra={"n": 2})).item

    assert item.text == "a1a2"
    assert item.finish_reason is FinishReason.COMPLETED
    assert item.metadata["openai_chat.choices"] == [
        {"index": 1, "finish_reason": "length", "parts": [{"type": "text", "text": "b1b2"}]}
    ]


def test_a_single_choice_is_the_answer_whatever_its_index() -> None:
    assert read(stream(delta("stop", index=1, content="a"))).item.text == "a"


def test_annotations_and_citations_are_kept() -> None:
    note: dict[str, Any] = {"type": "url_citation", "url_citation": {"url": "https://e"}}
    response = read(
        stream(
            {**delta(content="a"), "citations": ["https://e"]},
            delta(content="", annotations=[note]),
            {**delta("stop", annotations=[note]), "search_results": [{"url": "https://e"}]},
        )
    )

    assert response.item.parts == (Text("a", metadata={"openai_chat.annotations": [note, note]}),)
    assert response.item.metadata["openai_chat.citations"] == ["https://e"]
    assert response.item.metadata["openai_chat.search_results"] == [{"url": "https://e"}]


def test_names_of_the_answer_and_probabilities_are_kept() -> None:
    first = {**delta(content="a"), "system_fingerprint": "fp", "service_tier": "flex"}
    first["choices"][0]["logprobs"] = {"content": [{"token": "a", "logprob": -0.5}]}
    metadata = read(stream(first, delta("stop"))).item.metadata

    assert metadata["openai_chat.system_fingerprint"] == "fp"
    assert metadata["openai_chat.service_tier"] == "flex"
    assert metadata["openai_chat.logprobs"] == [{"token": "a", "logprob": -0.5}]


def test_images_and_sound_are_media() -> None:
    picture = f"data:image/png;base64,{b64encode(b'PNG').decode()}"
    sound = b64encode(b"RIFFsound").decode()
    images = [{"type": "image_url", "image_url": {"url": url}} for url in (picture, "https://e/i")]
    body = stream(
        delta(content="a", images=images),
        delta(audio={"id": "au1", "transcript": "he"}),
        delta(audio={"data": sound[:8]}),
        delta("stop", audio={"data": sound[8:], "transcript": "llo"}),
    )
    text, inline, linked, audio = read(body, request(extra={"audio": {"format": "mp3"}})).item.parts

    assert text == Text("a")
    assert inline == Media(Modality.IMAGE, "image/png", InlineBytes(b"PNG"))
    assert linked == Media(Modality.IMAGE, "", Uri("https://e/i"))
    assert audio == Media(
        Modality.AUDIO,
        "audio/mpeg",
        InlineBytes(b"RIFFsound"),
        metadata={"openai_chat.audio_id": "au1", "openai_chat.transcript": "hello"},
    )


def test_r08_a_thought_signature_stays_with_its_part() -> None:
    signed = {"google": {"thought_signature": "QUJD"}}
    call = fragment("{}", "f", index=0, id="a", extra_content=signed)
    on_call = read(stream(delta("stop", tool_calls=[call]))).item
    on_text = read(
        stream(
            delta(content="a", extra_content=signed), delta("stop", extra_content={"google": {}})
        )
    ).item
    on_item = read(whole(tool_calls=[fragment("{}", "f", id="a")], extra_content=signed)).item

    assert on_call.parts[0].metadata == {"openai_chat.extra_content": signed}
    assert on_text.parts[0].metadata == {"openai_chat.extra_content": signed}
    assert on_item.metadata["openai_chat.extra_content"] == signed


def test_r13_a_surrogate_pair_cut_over_two_chunks_is_one_character() -> None:
    body = stream(
        rb'{"choices":[{"delta":{"content":"a\ud83d"}}]}',
        rb'{"choices":[{"delta":{"content":"\ude00b"}}]}',
        delta(content="c"),
        rb'{"choices":[{"delta":{"content":"\ud83d"}}]}',
        delta("stop"),
    )

    assert read(body).item.text == "a😀bc\ufffd"


def test_r13_halves_of_surrogate_pairs_are_joined_in_arguments_and_reasoning_too() -> None:
    half = (
        rb'{"choices":[{"delta":{"tool_calls":'
        rb'[{"index":0,"id":"a","function":{"name":"f","arguments":'
    )
    body = stream(
        rb'{"choices":[{"delta":{"reasoning":"\ud83d"}}]}',
        half + rb'"{\"a\":\"\ud83d"}}]}}]}',
        half + rb'"\ude00\"}"}}]}}]}',
        delta("tool_calls"),
    )
    reasoning, call = read(body).item.parts

    assert isinstance(reasoning, Reasoning)
    assert reasoning.summary == "\ufffd"
    assert isinstance(call, ToolCall)
    assert call.input == {"a": "😀"}


def test_json_that_only_some_readers_take_is_taken() -> None:
    body = stream(
        b'{"choices":[{"delta":{"content":"a\xff"},"logprobs":{"content":[NaN]}}]}',
        b'{"choices":[{"delta":{"content":"tab\there"},"finish_reason":"stop"}]}',
    )

    assert read(body).item.text == "a\ufffdtab\there"


def test_a_long_answer_is_read_in_linear_time() -> None:
    """A hundred thousand deltas in a few seconds; quadratic would take minutes."""
    body = stream(*[delta(content="word ")] * 20_000, delta("stop"))

    response = fold_response(events([body[n : n + 777] for n in range(0, len(body), 777)]))
    assert len(response.item.text) == 5 * 20_000


PIECES = st.sampled_from(
    [
        delta(content="a"),
        delta(content="é😀"),
        delta(reasoning_content="r"),
        delta(refusal="no"),
        delta(tool_calls=[fragment('{"a":', "f", index=0, id="x")]),
        delta(tool_calls=[fragment("1}", index=0)]),
        delta(tool_calls=[fragment("{}", "g", id="y")]),
        delta("stop"),
        delta("length", content="end"),
        {"choices": [], "usage": USAGE},
        {"error": {"code": 500, "message": "m"}},
        b"oops",
        rb'{"choices":[{"delta":{"content":"\ud83d"}}]}',
        delta(index=1, content="other"),
    ]
)


@given(
    chunks=st.lists(PIECES, max_size=8),
    done=st.booleans(),
    places=st.sets(st.integers(1, 1500), max_size=30),
)
def test_where_the_network_cuts_the_body_does_not_matter(
    chunks: list[dict[str, Any] | bytes], done: bool, places: set[int]
) -> None:
    body = stream(*chunks, done=done)
    edges = [0, *sorted(place for place in places if place < len(body)), len(body)]

    in_pieces = events([body[a:b] for a, b in pairwise(edges)])
    assert in_pieces == events(body)
    assert sum(isinstance(piece, ResponseFinished | ResponseFailed) for piece in in_pieces) == 1
    fold_response(in_pieces, strict=True)


@given(
    body=st.binary(max_size=300) | st.binary(max_size=100).map(lambda b: b"data: " + b + b"\n\n")
)
def test_no_bytes_make_a_decoder_raise(body: bytes) -> None:
    decoder = OpenAIChat().decoder(request())

    ended = (*decoder.feed(body), *decoder.finish())
    assert isinstance(ended[-1], ResponseFailed)
