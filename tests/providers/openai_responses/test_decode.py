"""Responses, from bytes to events: items, ends, usage and failures."""

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
    ToolCallId,
)
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    CommitPart,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
    native_reasons,
)
from agentkit_providers.openai_responses import Quirks
from support.responses_bodies import (
    added,
    call,
    created,
    delta,
    done,
    ended,
    events,
    message,
    read,
    reasoning,
    request,
    stream,
    text_delta,
    whole,
)

USAGE = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 64,
    "output_tokens_details": {"reasoning_tokens": 60},
    "total_tokens": 73,
}
PLACE = "openai_responses.place"
ITEM = "openai_responses.item"

EVERYTHING = stream(
    created(),
    added(0, **reasoning()),
    delta("reasoning_summary_text", "Let me ", 0, summary_index=0),
    delta("reasoning_summary_text", "think ✅", 0, summary_index=0),
    done(0, **reasoning("Let me think ✅")),
    added(1, type="message", id="msg_1", role="assistant", content=[]),
    text_delta("Hel", 1),
    text_delta("lo 🙈\u2028", 1),
    done(1, **message("Hello 🙈\u2028")),
    added(2, **call(arguments="")),
    delta("function_call_arguments", '{"x":', 2),
    delta("function_call_arguments", "1}", 2),
    done(2, **call(arguments='{"x":1}')),
    ended("completed", usage=USAGE),
)


def calls_of(body: bytes) -> list[tuple[str, str, dict[str, Any]]]:
    return [(entry.id, entry.name, entry.input) for entry in read(body).item.tool_calls]


def test_a_streamed_text_is_one_part_that_grows() -> None:
    body = stream(
        created(), text_delta("Hel"), text_delta("lo"), done(0, **message("Hello")), ended()
    )
    said = Text(
        "Hello", metadata={PLACE: {"index": 0}, ITEM: {"id": "msg_1", "status": "completed"}}
    )

    assert events(body) == (
        ResponseStarted(Provenance("openai", "openai_responses", "m", "r1", "m-1")),
        BeginPart("part-0", Text("")),  # type: ignore[arg-type]
        AppendText("part-0", "Hel"),  # type: ignore[arg-type]
        AppendText("part-0", "lo"),  # type: ignore[arg-type]
        CommitPart(said, "part-0"),  # type: ignore[arg-type]
        ResponseFinished(FinishReason.COMPLETED, ("completed",)),
    )


def test_a_whole_answer_is_a_stream_of_large_pieces() -> None:
    items = [reasoning("Let me think ✅"), message("Hello 🙈\u2028"), call(arguments='{"x":1}')]

    assert read(whole(*items, usage=USAGE), request(streamed=False)) == read(EVERYTHING)
    assert [type(entry) for entry in events(whole(message("a")))][1:4] == [
        BeginPart,
        AppendText,
        CommitPart,
    ]


@pytest.mark.parametrize("streamed", [True, False])
def test_what_comes_is_read_as_what_it_is_whatever_was_asked(streamed: bool) -> None:
    asked = request(streamed=streamed)

    assert read(whole(message("a")), asked).item.text == "a"
    assert read(stream(text_delta("a"), ended()), asked).item.text == "a"
    assert read(b" \n\n" + whole(message("a")), asked).item.text == "a"


@given(cuts=st.sets(st.integers(1, len(EVERYTHING) - 1)))
def test_w02_where_the_network_cuts_the_body_does_not_matter(cuts: set[int]) -> None:
    edges = [0, *sorted(cuts), len(EVERYTHING)]

    pieces = [EVERYTHING[start:end] for start, end in pairwise(edges)]
    assert events(pieces) == events(EVERYTHING)


def test_w01_a_unicode_line_separator_does_not_end_a_line() -> None:
    raw = json.dumps(text_delta("a\u2028b\u0085c"), ensure_ascii=False).encode()

    assert read(stream(raw, ended())).item.text == "a\u2028b\u0085c"


def test_w05_an_error_event_and_the_failed_response_after_it_are_one_failure() -> None:
    error = {"type": "insufficient_quota", "code": "insufficient_quota", "message": "Pay first."}
    told = {"code": "insufficient_quota", "message": "Pay first."}
    begun = (created(), text_delta("par"))
    for body in (
        stream(*begun, {"type": "error", "error": error}, ended("failed", error=told, usage=USAGE)),
        stream(*begun, {"type": "error", "error": error}),
        stream(*begun, {"type": "error", "error": error}, text_delta("no more")),
        stream(*begun, {"type": "error", "error": error}, b"[DONE]"),
        stream(*begun, {"error": error}),
    ):
        response = read(body)
        assert response.failure is not None
        assert response.failure.kind is FailureKind.BILLING
        assert response.failure.type == "insufficient_quota"
        assert response.failure.message == "Pay first."
        assert response.item.text == "par"
        assert response.item.finish_reason is FinishReason.ERROR
        assert response.item.interrupted


def test_w05_an_error_event_may_hold_its_facts_itself() -> None:
    flat = {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down.", "param": "p"}
    failure = read(stream(created(), flat)).failure

    assert failure is not None
    assert failure.kind is FailureKind.RATE_LIMIT
    assert (failure.message, failure.code, failure.param) == ("Slow down.", flat["code"], "p")
    assert failure.type is None
    assert failure.raw == flat


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("server_error", FailureKind.SERVER),
        ("rate_limit_exceeded", FailureKind.RATE_LIMIT),
        ("context_length_exceeded", FailureKind.CONTEXT_LENGTH),
        ("invalid_prompt", FailureKind.INVALID_REQUEST),
        ("image_too_large", FailureKind.INVALID_REQUEST),
        ("failed_to_download_image", FailureKind.INVALID_REQUEST),
    ],
)
def test_w13_a_failed_response_fails_the_turn(code: str, kind: FailureKind) -> None:
    error = {"code": code, "message": "It did not work."}
    for body in (
        stream(created(), ended("failed", error=error)),
        stream(created(), ended("failed", name="completed", error=error)),
        whole(status="failed", error=error),
    ):
        response = read(body)
        assert response.failure is not None
        assert (response.failure.kind, response.failure.code) == (kind, code)
        assert response.item.metadata["openai_responses.finish_reasons"] == ["failed"]
        assert response.usage.tokens == TokenUsage()


def test_w13_a_response_that_failed_without_saying_why_is_worth_another_try() -> None:
    for body in (stream(created(), ended("cancelled")), whole(status="failed")):
        failure = read(body).failure
        assert failure is not None
        assert failure.kind is FailureKind.SERVER
        assert failure.retryable


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        ("max_output_tokens", FinishReason.MAX_TOKENS),
        ("content_filter", FinishReason.BLOCKED),
        ("of_tomorrow", FinishReason.OTHER),
    ],
)
def test_w13_an_incomplete_response_is_no_finished_turn(why: str, reason: FinishReason) -> None:
    fields: dict[str, Any] = {"incomplete_details": {"reason": why}, "usage": USAGE}
    for body in (
        stream(text_delta("par"), ended("incomplete", **fields)),
        stream(text_delta("par"), ended("incomplete", name="completed", **fields)),
        whole(message("par"), status="incomplete", **fields),
    ):
        response = read(body)
        assert response.failure is None
        assert response.item.text == "par"
        assert response.item.finish_reason is reason
        assert native_reasons(response.item.metadata) == (why, "incomplete")
        assert response.usage.tokens == TokenUsage(input=5, output=64, cache_read=4, reasoning=60)


def test_a_last_event_without_a_final_status_has_the_status_of_its_name() -> None:
    for status in (None, "in_progress"):
        last = {"type": "response.completed", "response": {"status": status}}
        body = stream(text_delta("a"), last)
        assert read(body).item.finish_reason is FinishReason.COMPLETED
    assert read(stream(text_delta("a"), ended("completed", name="done"))).failure is None


def test_w07_a_stream_without_its_last_event_is_cut_off() -> None:
    body = stream(created(), text_delta("par"), added(1, **call(arguments="")))
    body += stream(delta("function_call_arguments", '{"pa', 1))
    for cut in (body, body + stream(b"[DONE]")):
        response = read(cut)
        assert response.failure is not None
        assert response.failure.kind is FailureKind.STREAM_CUT
        assert response.failure.retryable
        assert response.item.text == "par"
        assert response.item.tool_calls[0].input_error is not None


def test_w07_a_whole_answer_that_breaks_off_is_cut_off() -> None:
    body = whole(message("a"))

    for end in range(1, len(body)):
        failure = read(body[:end]).failure
        assert failure is not None, body[:end]
        assert failure.kind is FailureKind.STREAM_CUT, body[:end]


def test_what_is_finished_is_kept_when_the_rest_is_cut_off() -> None:
    response = read(
        stream(created(), done(0, **reasoning("So.")), done(1, **call()), text_delta("Hal", 2))
    )

    thought, called, said = response.item.parts
    assert thought.metadata[ITEM] == reasoning("So.")
    assert isinstance(called, ToolCall)
    assert called.input_error is None
    assert said == Text("Hal", metadata={"agentkit.incomplete": True})


def test_w08_comments_and_data_before_the_name_of_an_event_are_read() -> None:
    body = b": OPENROUTER PROCESSING\r\n\r\n"
    body += stream(text_delta("a")).replace(b"\n", b"\r\n")
    payload = json.dumps(text_delta("b")).encode()
    body += b"data:" + payload + b"\nevent: response.output_text.delta\n\n" + stream(ended())

    assert read(body).item.text == "ab"


def test_events_without_names_and_a_done_mark_are_read() -> None:
    payloads = [json.dumps(entry).encode() for entry in (created(), text_delta("a"), ended())]

    assert read(stream(*payloads, b"[DONE]")).item.text == "a"


@pytest.mark.parametrize("last", [b"\n", b""])
def test_a_last_event_without_its_blank_line_counts_if_it_is_whole(last: bytes) -> None:
    body = stream(text_delta("a"), ended()).removesuffix(b"\n\n") + last

    assert read(body).failure is None


@pytest.mark.parametrize(
    "nothing",
    [
        b"null",
        b"{}",
        b'{"type":"keepalive"}',
        b'{"type":"response.web_search_call.searching","output_index":0}',
        b'{"type":"response.output_item.added","output_index":0,"item":null}',
        b'{"type":"response.output_text.delta","output_index":0,"delta":{"odd":1}}',
        b'{"type":"response.function_call_arguments.done","arguments":null}',
    ],
)
def test_events_without_content_are_ignored(nothing: bytes) -> None:
    response = read(stream(nothing, text_delta("a"), nothing, ended()))

    assert response.item.text == "a"
    assert response.failure is None


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (stream(b"{oops", ended()), FailureKind.PROTOCOL),
        (stream(b'{"type":"response.created","output_index":"x"}'), FailureKind.PROTOCOL),
        (b'{"choices":[]}', FailureKind.PROTOCOL),
        (b"[1]", FailureKind.PROTOCOL),
        (b'{"code":"overloaded","error":"The model is overloaded"}', FailureKind.OVERLOADED),
        (b'{"detail":"Unauthorized"}', FailureKind.AUTH),
        (b"<html>gateway</html>", FailureKind.STREAM_CUT),
    ],
)
def test_what_is_no_answer_is_a_failure(body: bytes, kind: FailureKind) -> None:
    failure = read(body).failure

    assert failure is not None
    assert failure.kind is kind


def test_the_result_is_built_from_the_items_where_the_last_event_names_none() -> None:
    response = read(EVERYTHING)

    thought, said, called = response.item.parts
    assert isinstance(thought, Reasoning)
    assert thought.summary == "Let me think ✅"
    assert thought.metadata == {PLACE: {"index": 0}, ITEM: reasoning("Let me think ✅")}
    assert said.metadata[PLACE] == {"index": 1, "reasoning": 0}
    assert called == ToolCall(
        ToolCallId("call_1"),
        "f",
        {"x": 1},
        metadata={
            PLACE: {"index": 2, "reasoning": 0},
            ITEM: {"id": "fc_1", "status": "completed"},
        },
    )
    assert response.item.finish_reason is FinishReason.TOOL_CALL


def test_items_that_were_not_done_are_taken_from_the_last_event() -> None:
    tools = [{"type": "mcp_list_tools", "id": f"mcpl_{n}", "tools": []} for n in range(3)]
    body = stream(
        *(added(n, **one) for n, one in enumerate(tools)),
        done(1, **tools[1]),
        done(3, **message("a")),
        ended("completed", *tools, message("a")),
    )

    assert [part.value for part in read(body).item.parts if isinstance(part, Custom)] == tools
    assert read(body).item.text == "a"


def test_indexes_may_have_gaps_and_the_last_event_other_ids() -> None:
    body = stream(
        done(0, **reasoning("Hm")),
        done(2, **message("a")),
        ended("completed", reasoning("Hm", id="x"), message("a", id="y")),
    )

    assert [type(part) for part in read(body).item.parts] == [Reasoning, Text]


def test_a_text_that_comes_at_the_index_of_an_open_call_is_no_argument() -> None:
    body = stream(
        added(0, **call(arguments="")),
        delta("function_call_arguments", '{"x":1}', 0),
        text_delta("a", 0),
        done(0, **call(arguments='{"x":1}')),
        ended(),
    )

    assert calls_of(body) == [("call_1", "f", {"x": 1})]
    assert read(body).item.text == "a"


def test_a_text_may_come_as_a_whole_and_its_item_not_at_all() -> None:
    kind = {"type": "response.output_text.done", "output_index": 0, "content_index": 0}
    for said in ([], [text_delta("He")], [text_delta("Hello")]):
        body = stream(*said, {**kind, "text": "Hello"}, ended())
        told = [entry.chunk for entry in events(body) if isinstance(entry, AppendText)]
        assert ("".join(told), read(body).item.text) == ("Hello", "Hello")
    half = json.dumps(text_delta("a\ud83d")).encode()
    body = stream(created(), half, {**kind, "text": "a\U0001f648"}, ended())
    assert read(body).item.text == "a🙈"


def test_ids_may_change_from_event_to_event() -> None:
    body = stream(
        created(),
        {**added(0, type="reasoning", id="a", summary=[])},
        {**delta("reasoning_summary_text", "Hm", 0), "item_id": "b"},
        done(0, **reasoning("Hm", id="c")),
        {**text_delta("x", 1), "item_id": "d"},
        {**text_delta("y", 1), "item_id": "e"},
        done(1, **message("xy", id="f")),
        ended("completed", reasoning("Hm", id="g"), message("xy", id="h"), id="r9"),
    )

    response = read(body)
    assert len(response.item.parts) == 2
    assert response.item.text == "xy"
    assert response.item.provenance is not None
    assert response.item.provenance.response_id == "r1"


def test_reasoning_comes_as_summary_or_as_content_or_as_neither() -> None:
    content = [{"type": "reasoning_text", "text": "raw"}]
    for item, shown in (
        (reasoning("sum"), "sum"),
        (reasoning(content=content), "raw"),
        (reasoning("sum", content=content), "sumraw"),
        (reasoning(), None),
        (reasoning(secret=None), None),
    ):
        for body in (whole(item), stream(done(0, **item), ended())):
            (part,) = read(body).item.parts
            assert isinstance(part, Reasoning)
            assert (part.summary, part.redacted) == (shown, shown is None)
            assert part.metadata[ITEM] == item


def test_w11_reasoning_that_is_sent_twice_is_read_once() -> None:
    twice = reasoning("same", content=[{"type": "reasoning_text", "text": "same"}])
    part = read(whole(twice)).item.parts[0]

    assert isinstance(part, Reasoning)
    assert part.summary == "same"


def test_reasoning_text_that_was_streamed_is_kept_where_the_item_has_none() -> None:
    body = stream(
        added(0, **reasoning(secret=None)),
        delta("reasoning_text", "Hm", 0, content_index=0),
        done(0, **reasoning(secret=None, id="")),
        ended(),
    )
    part = read(body).item.parts[0]

    assert isinstance(part, Reasoning)
    assert (part.summary, part.redacted) == ("Hm", False)


@pytest.mark.parametrize("named", ["rs_1", "rs_other"])
def test_encrypted_content_that_comes_with_the_last_event_is_kept(named: str) -> None:
    body = stream(
        created(),
        added(0, **reasoning(secret=None)),
        done(0, **reasoning("Hm", secret=None)),
        done(1, **message("a")),
        ended("completed", reasoning("Hm", id=named), message("a")),
    )

    thought, said = read(body).item.parts
    assert thought.metadata[ITEM] == reasoning("Hm")
    assert said.metadata[PLACE] == {"index": 1, "reasoning": 0}


def test_reasoning_may_be_done_after_what_came_of_it() -> None:
    raw = reasoning(secret=None, content=[{"type": "reasoning_text", "text": "Hm"}])
    body = stream(
        added(0, type="reasoning", id="rs_tmp", summary=[]),
        delta("reasoning_text", "Hm", 0, content_index=0),
        text_delta("4", 1),
        done(1, **message("4")),
        done(0, **raw),
        ended(),
    )

    assert [type(part) for part in read(body).item.parts] == [Reasoning, Text]


@pytest.mark.parametrize("at", [0, 1])
def test_a_text_may_stand_at_any_place_of_its_message(at: int) -> None:
    body = stream(text_delta("a", 0, at), text_delta("b", 0, at), done(0, **message("ab")), ended())

    assert [part for part in read(body).item.parts if isinstance(part, Text)] == [
        Text("ab", metadata={PLACE: {"index": 0}, ITEM: {"id": "msg_1", "status": "completed"}})
    ]


def test_several_texts_of_a_message_are_parts_in_one_place() -> None:
    streamed = stream(
        text_delta("a", 0, 0), text_delta("b", 0, 1), done(0, **message("a", "b")), ended()
    )
    for body in (streamed, whole(message("a", "b"))):
        first, second = read(body).item.parts
        assert (first.metadata[PLACE], second.metadata[PLACE]) == ({"index": 0}, {"index": 0})
        assert read(body).item.text == "ab"


def test_phases_and_citations_are_kept_and_empty_texts_are_none() -> None:
    cited = message("a", "", phase="commentary")
    cited["content"][0]["annotations"] = [{"type": "url_citation", "url": "https://e"}]
    cited["content"][0]["logprobs"] = [{"token": "a", "logprob": -1.0}]
    (part,) = read(whole(cited)).item.parts

    assert part.metadata[ITEM] == {"id": "msg_1", "status": "completed", "phase": "commentary"}
    assert part.metadata["openai_responses.annotations"] == cited["content"][0]["annotations"]
    assert part.metadata["openai_responses.logprobs"] == cited["content"][0]["logprobs"]


def test_citations_that_come_as_events_alone_are_kept() -> None:
    mark = {"type": "file_citation", "file_id": "f"}
    event = {"type": "response.output_text.annotation.added", "output_index": 0, "annotation": mark}
    body = stream(text_delta("a"), event, done(0, **message("a")), ended())

    assert read(body).item.parts[0].metadata["openai_responses.annotations"] == [mark]


def test_a_refusal_is_a_marked_text_and_blocks() -> None:
    content = [{"type": "refusal", "refusal": "I cannot."}]
    item = message() | {"content": content}
    streamed = stream(
        delta("refusal", "I can", 0, content_index=0),
        delta("refusal", "not.", 0, content_index=0),
        done(0, **item),
        ended(),
    )
    for body in (streamed, whole(item)):
        response = read(body)
        (part,) = response.item.parts
        assert isinstance(part, Text)
        assert (part.text, part.metadata["openai_responses.refusal"]) == ("I cannot.", True)
        assert response.item.finish_reason is FinishReason.BLOCKED


def test_content_of_unknown_types_is_kept_as_it_is() -> None:
    entry = {"type": "output_hologram", "data": "x"}
    (part,) = read(whole(message() | {"content": [entry]})).item.parts

    assert isinstance(part, Custom)
    assert (part.kind, part.value) == ("openai_responses.content.output_hologram", entry)


def test_l14_what_the_provider_runs_is_no_call_for_us() -> None:
    search: dict[str, Any] = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"q": "x"},
    }
    later: dict[str, Any] = {
        "type": "hologram_call",
        "id": "h_1",
        "call_id": "c",
        "name": "n",
        "arguments": "{}",
    }
    streamed = stream(
        added(0, **{**search, "status": "in_progress"}),
        done(0, **search),
        done(1, **later),
        done(2, **message("found")),
        ended(),
    )
    for body in (streamed, whole(search, later, message("found"))):
        response = read(body)
        first, second, _ = response.item.parts
        assert (first, second) == (
            Custom("openai_responses.web_search_call", search, metadata={PLACE: {"index": 0}}),
            Custom("openai_responses.hologram_call", later, metadata={PLACE: {"index": 1}}),
        )
        assert response.item.tool_calls == ()
        assert response.item.finish_reason is FinishReason.COMPLETED


def test_an_image_that_was_made_is_an_image() -> None:
    made = {"type": "image_generation_call", "id": "ig_1", "status": "completed"}
    item = {**made, "output_format": "webp", "result": b64encode(b"WEBP").decode()}
    (part,) = read(whole(item)).item.parts

    assert part == Media(
        Modality.IMAGE,
        "image/webp",
        InlineBytes(b"WEBP"),
        metadata={PLACE: {"index": 0}, ITEM: {**made, "output_format": "webp"}},
    )
    failed = {**made, "status": "failed", "result": None}
    (part,) = read(stream(added(0, **failed), done(0, **failed), ended())).item.parts
    assert isinstance(part, Custom)
    assert part.value == failed


@pytest.mark.parametrize("arguments", ["", "  ", "null", "{}"])
def test_t07_a_call_without_arguments_has_none(arguments: str) -> None:
    streamed = stream(added(0, **call(arguments="")), done(0, **call(arguments=arguments)), ended())
    for body in (streamed, whole(call(arguments=arguments))):
        assert calls_of(body) == [("call_1", "f", {})]
        assert read(body).item.tool_calls[0].input_error is None


def test_arguments_may_come_in_one_piece_at_the_end() -> None:
    all_of_them = {
        "type": "response.function_call_arguments.done",
        "output_index": 0,
        "arguments": '{"x":1}',
    }
    for body in (
        stream(all_of_them, done(0, **call(arguments="")), ended()),
        stream(added(0, **call(arguments="")), all_of_them, ended()),
        stream(added(0, **call(arguments="")), done(0, **call(arguments='{"x":1}')), ended()),
    ):
        assert calls_of(body) == [("call_1", "f", {"x": 1})]


def test_arguments_that_come_before_the_name_wait_for_it() -> None:
    body = stream(
        delta("function_call_arguments", '{"x":', 0),
        delta("function_call_arguments", "1}", 0),
        done(0, **call(arguments="")),
        ended(),
    )

    assert calls_of(body) == [("call_1", "f", {"x": 1})]


def test_arguments_that_are_an_object_are_read() -> None:
    assert calls_of(whole(call() | {"arguments": {"x": 1}})) == [("call_1", "f", {"x": 1})]


def test_t03_calls_that_grow_side_by_side_keep_their_arguments_apart() -> None:
    body = stream(
        added(0, **call("a", "")),
        added(1, **call("b", "", name="g")),
        delta("function_call_arguments", '{"x":', 0),
        delta("function_call_arguments", '{"y":', 1),
        delta("function_call_arguments", "1}", 0),
        delta("function_call_arguments", "2}", 1),
        done(1, **call("b", '{"y":2}', name="g")),
        done(0, **call("a", '{"x":1}')),
        ended(),
    )

    assert calls_of(body) == [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]


def test_t01_items_with_the_same_index_are_kept_apart() -> None:
    body = stream(
        added(0, **call("a", "")),
        done(0, **call("a", '{"p":1}')),
        added(0, **call("b", "")),
        done(0, **call("b", '{"p":2}')),
        text_delta("so", 0),
        ended(),
    )

    assert calls_of(body) == [("a", "f", {"p": 1}), ("b", "f", {"p": 2})]
    assert read(body).item.text == "so"


def test_t08_calls_without_an_id_or_with_the_same_get_ids_of_their_own() -> None:
    for given_ids in ((None, ""), ("call_0", "call_0"), ("a", "a")):
        items = [call() | {"call_id": entry} for entry in given_ids]
        ids = [entry.id for entry in read(whole(*items)).item.tool_calls]
        assert len(set(ids)) == 2
        assert all(ids)
        assert ids == [entry.id for entry in read(whole(*items)).item.tool_calls]


@pytest.mark.parametrize("arguments", ['{"x":48151', '{"x":48151}'])
def test_t10_a_call_that_the_limit_cut_off_is_marked(arguments: str) -> None:
    cut = call(arguments=arguments, status="incomplete")
    fields: dict[str, Any] = {"incomplete_details": {"reason": "max_output_tokens"}}
    streamed = stream(
        added(0, **call(arguments="")),
        delta("function_call_arguments", arguments, 0),
        done(0, **cut),
        ended("incomplete", **fields),
    )
    for body in (streamed, whole(cut, status="incomplete", **fields)):
        response = read(body)
        (called,) = response.item.tool_calls
        assert called.input_error is not None
        assert (called.input, called.raw_input) == ({}, arguments)
        assert response.item.finish_reason is FinishReason.MAX_TOKENS


def test_t11_calls_make_it_a_tool_turn_and_without_any_it_is_none() -> None:
    assert read(whole(message("a"), call())).item.finish_reason is FinishReason.TOOL_CALL
    assert read(whole(message("a"))).item.finish_reason is FinishReason.COMPLETED


def test_a_call_of_a_custom_tool_has_its_free_text_as_input() -> None:
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "sh"}
    said = 'echo "é" \\ \n'
    streamed = stream(
        added(0, **item, input=""),
        delta("custom_tool_call_input", said[:7], 0),
        delta("custom_tool_call_input", said[7:], 0),
        done(0, **item, input=said),
        ended(),
    )
    unfinished = streamed.replace(stream(done(0, **item, input=said)), b"")
    for body in (streamed, unfinished, whole(item | {"input": said})):
        response = read(body)
        (called,) = response.item.tool_calls
        assert (called.name, called.input, called.input_error) == ("sh", {"input": said}, None)
        assert response.item.finish_reason is FinishReason.TOOL_CALL
    told = [entry.chunk for entry in events(streamed) if isinstance(entry, AppendText)]
    assert json.loads("".join(told)) == {"input": said}


def test_an_answer_that_waits_in_the_background_is_not_finished() -> None:
    response = read(whole(status="queued", usage=None))

    assert response.failure is None
    assert response.item.finish_reason is FinishReason.OTHER
    assert native_reasons(response.item.metadata) == ("queued",)
    assert response.item.provenance is not None
    assert response.item.provenance.response_id == "r1"
    queued = created(status="queued") | {"type": "response.queued"}
    assert read(stream(queued, text_delta("a"), ended())).item.text == "a"


def test_u04_cached_input_is_counted_once() -> None:
    usage = {
        "input_tokens": 1000,
        "input_tokens_details": {"cached_tokens": 800, "cache_write_tokens": 50},
        "output_tokens": 50,
    }
    tokens = read(whole(message("a"), usage=usage)).usage.tokens

    assert tokens == TokenUsage(input=150, output=50, cache_read=800, cache_write=50)
    assert (tokens.prompt, tokens.total) == (1000, 1050)


def test_u05_reasoning_is_part_of_the_output() -> None:
    usage = {
        "input_tokens": 55,
        "output_tokens": 87,
        "output_tokens_details": {"reasoning_tokens": 78},
    }

    assert read(whole(message("a"), usage=usage)).usage.tokens == TokenUsage(
        input=55, output=87, reasoning=78
    )


def test_u01_running_totals_are_not_added_up() -> None:
    body = stream(
        created(usage={"input_tokens": 10, "output_tokens": 1}),
        created(usage={"input_tokens": 10, "output_tokens": 4}),
        ended("completed", usage={"input_tokens": 10, "output_tokens": 5}),
    )

    assert read(body).usage.tokens == TokenUsage(input=10, output=5)
    assert read(body).usage.requests == 1


def test_u06_a_failed_response_keeps_the_usage_that_was_seen() -> None:
    response = read(stream(created(usage=USAGE), text_delta("par")))

    assert response.failure is not None
    assert response.usage.tokens.prompt == 9


def test_the_vendors_own_numbers_and_its_price_are_kept() -> None:
    usage = {**USAGE, "cost": 0.0000113, "num_sources_used": 2}
    for quirks, amounts in (
        (Quirks(), {}),
        (Quirks(cost_currency="USD"), {"USD": Decimal("0.0000113")}),
    ):
        told = read(whole(message("a"), usage=usage), quirks=quirks).usage
        assert told.metadata == {"openai_responses.usage": usage}
        assert told.cost.amounts == amounts
    reports = [entry for entry in events(EVERYTHING) if isinstance(entry, UsageReported)]
    assert len(reports) == 1


def test_what_the_provider_says_of_the_answer_is_kept() -> None:
    found = [{"blocked": False}]
    body = whole(message("a"), service_tier="flex", content_filters=found)

    assert read(body).item.metadata == {
        "openai_responses.service_tier": "flex",
        "openai_responses.content_filters": found,
        "agentkit.provider_finish_reasons": ["completed"],
    }


def test_halves_of_a_character_in_two_deltas_are_joined_and_lone_ones_replaced() -> None:
    high, low = b'"\\ud83d"', b'"\\ude48"'
    head = b'{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":'
    body = stream(created(), head + high + b"}", head + low + b"}", head + high + b"}", ended())

    assert read(body).item.text == "🙈\ufffd"
    lone = json.dumps(whole(message("a\ud83d")).decode()).encode()
    assert read(json.loads(lone).encode()).item.text == "a\ufffd"


def test_odd_json_is_read_as_it_is_meant() -> None:
    raw = b'{"type":"response.output_text.delta","output_index":0,"delta":"a\tb","p":NaN}'
    item = stream(done(0, **message("x"))).replace(b'"x"', b'"x\xff"')

    assert read(stream(raw, ended())).item.text == "a\tb"
    assert read(item + stream(ended())).item.text == "x\ufffd"


def test_json_that_is_nested_too_deeply_is_a_failure_and_no_crash() -> None:
    deep = b'{"type":"response.output_item.done","item":' + b"[" * 5000 + b"]" * 5000 + b"}"

    assert read(stream(deep)).failure is not None


def test_nothing_comes_after_the_end() -> None:
    seen = events(stream(text_delta("a"), ended(), text_delta("b"), {"type": "error"}))

    assert sum(isinstance(entry, ResponseFinished | ResponseFailed) for entry in seen) == 1
    assert isinstance(seen[-1], ResponseFinished)


@given(st.lists(st.binary(max_size=40), max_size=4))
def test_no_bytes_make_a_decoder_raise(chunks: list[bytes]) -> None:
    assert isinstance(events(chunks)[-1], ResponseFailed)


FRAGMENTS = [
    created(),
    added(0, **reasoning()),
    added(0, **call(arguments="")),
    added(1, type="message", content=None),
    done(0, **reasoning()),
    done(0, **call(arguments='{"a":1}')),
    done(1, **message("ab", "c")),
    done(2, type="x"),
    {"type": "response.output_item.done", "item": {}},
    {"type": "response.output_item.added", "item": {"type": 7}},
    text_delta("a"),
    text_delta("b", 1, 1),
    {"type": "response.output_text.delta", "delta": "c"},
    {"type": "response.output_text.done", "output_index": 0, "text": "ab"},
    delta("refusal", "no", 1, content_index=1),
    delta("reasoning_text", "hm", 0),
    delta("function_call_arguments", '{"a"', 0),
    delta("custom_tool_call_input", "x", 2),
    {"type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{}"},
    {"type": "response.output_text.annotation.added", "output_index": 0, "annotation": 1},
    {"type": "error", "message": "no"},
    ended("completed", message("z"), {"type": "y"}),
    ended("incomplete"),
]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=8))
def test_in_whatever_order_events_come_the_decoders_laws_hold(found: list[dict[str, Any]]) -> None:
    body = stream(*found)

    response = read(body) if len(body) < 600 else None
    seen = events(body)
    assert isinstance(seen[-1], ResponseFinished | ResponseFailed)
    assert response is None or response.item.finish_reason is not None
