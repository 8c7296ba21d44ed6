"""generateContent, from bytes to events: text, thoughts, blocks, usage, ends and failures."""

from __future__ import annotations

import json
from base64 import b64encode
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    Custom,
    FailureKind,
    File,
    FinishReason,
    InlineBytes,
    Media,
    Modality,
    Provenance,
    Reasoning,
    Text,
    TokenUsage,
    Uri,
)
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    CommitPart,
    PartId,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
    fold_response,
    native_reasons,
)
from support.generate_bodies import (
    array,
    call,
    events,
    read,
    request,
    response,
    stream,
    text,
    whole,
)

USAGE = {"promptTokenCount": 5, "candidatesTokenCount": 1, "totalTokenCount": 6}
FIRST = PartId("part-0")


def test_a_streamed_text_is_one_part_that_grows() -> None:
    body = stream(
        response(text("Hel"), usage=USAGE), response(text("lo"), finish="STOP", usage=USAGE)
    )

    seen = events(body)

    assert [type(entry) for entry in seen] == [
        ResponseStarted,
        UsageReported,
        BeginPart,
        AppendText,
        AppendText,
        CommitPart,
        UsageReported,
        ResponseFinished,
    ]
    assert seen[0] == ResponseStarted(Provenance("google", "google_generate", "m", "r1", "m-1"))
    assert seen[2:6] == (
        BeginPart(FIRST, Text("")),
        AppendText(FIRST, "Hel"),
        AppendText(FIRST, "lo"),
        CommitPart(Text("Hello"), FIRST),
    )
    assert seen[7] == ResponseFinished(FinishReason.COMPLETED, ("STOP",))


RESPONSES = (
    response(text('Hm\u2028 "\\" {', thought=True), usage=USAGE),
    response(text("Hel"), index=None),
    response(text("lo ✅", thoughtSignature="QUJD"), finish="STOP", usage=USAGE),
)


def test_events_an_array_and_a_whole_answer_read_alike() -> None:
    pieces = [part for entry in RESPONSES for part in entry["candidates"][0]["content"]["parts"]]

    streamed = read(stream(*RESPONSES)).item

    assert read(array(*RESPONSES), request(streamed=True)).item == streamed
    assert read(whole(*pieces, usage=USAGE), request(streamed=False)).item == streamed


@given(st.sets(st.integers(1, len(array(*RESPONSES)) - 1)))
def test_w02_where_the_network_cuts_an_array_does_not_matter(cuts: set[int]) -> None:
    body = array(*RESPONSES)
    edges = [0, *sorted(cuts), len(body)]

    assert events([body[a:b] for a, b in pairwise(edges)]) == events(body)


def test_an_array_is_read_as_it_comes() -> None:
    body = array(*RESPONSES)
    end_of_first = body.index(b"},\r\n") + 1

    seen = events([body[:end_of_first]])

    assert AppendText(FIRST, 'Hm\u2028 "\\" {') in seen


def test_w01_a_unicode_line_separator_does_not_end_an_event() -> None:
    raw = json.dumps(response(text("a\u2028b\u0085c"), finish="STOP"), ensure_ascii=False)

    assert read(stream(raw.encode())).item.text == "a\u2028b\u0085c"


def test_w05_an_error_inside_the_stream_keeps_the_text_and_fails_the_turn() -> None:
    error = {"error": {"code": 503, "message": "The model is busy.", "status": "UNAVAILABLE"}}
    for body in (
        stream(response(text("par")), error),
        array(response(text("par")), error),
        stream(response(text("par")), {**response(text("")), **error}),
    ):
        answer = read(body)
        assert answer.failure is not None
        assert answer.failure.kind is FailureKind.OVERLOADED
        assert answer.failure.retryable
        assert answer.failure.code == "503"
        assert answer.item.text == "par"


@pytest.mark.parametrize("last", [None, response(text(" tial"), usage=USAGE)])
def test_w07_a_body_without_a_finish_reason_was_cut_off(last: dict[str, Any] | None) -> None:
    for make in (stream, array):
        answer = read(make(response(text("par"), usage=USAGE), *([last] if last else [])))
        assert answer.failure is not None
        assert answer.failure.kind is FailureKind.STREAM_CUT
        assert answer.failure.retryable
        assert answer.item.text.startswith("par")
        assert answer.usage.tokens == TokenUsage(input=5, output=1)
        assert not answer.usage.exact


def test_a_last_event_without_its_blank_line_counts_if_it_is_whole() -> None:
    body = stream(response(text("a")), response(text("b"), finish="STOP"))

    assert read(body[:-4]).item.text == "ab"
    for end in (-5, -40):
        broken = read(body[:end]).failure
        assert broken is not None
        assert broken.kind is FailureKind.STREAM_CUT


def test_w08_comments_lf_and_data_without_a_space_are_read_too() -> None:
    one = json.dumps(response(text("a"), finish="STOP")).encode()

    assert read(b": hello\n\ndata:" + one + b"\n\n: bye\n\n").item.text == "a"
    assert read(stream(one, b"[DONE]")).item.text == "a"


@pytest.mark.parametrize("content", [{}, {"content": {}}, {"content": {"role": "model"}}])
def test_w10_a_candidate_without_content_is_no_finished_turn(content: dict[str, Any]) -> None:
    counts = {"promptTokenCount": 40, "totalTokenCount": 40}

    def ended(reason: str) -> bytes:
        candidate = {**content, "finishReason": reason, "index": 0}
        return json.dumps({"candidates": [candidate], "usageMetadata": counts}).encode()

    malformed, unsafe = read(ended("MALFORMED_FUNCTION_CALL")), read(ended("SAFETY"))

    assert malformed.failure is not None
    assert malformed.failure.retryable
    assert malformed.failure.code == "MALFORMED_FUNCTION_CALL"
    assert malformed.item.finish_reason is FinishReason.ERROR
    assert malformed.item.metadata["google_generate.finish_reasons"] == ["MALFORMED_FUNCTION_CALL"]
    assert unsafe.failure is None
    assert unsafe.item.finish_reason is FinishReason.BLOCKED
    assert native_reasons(unsafe.item.metadata) == ("SAFETY",)
    for answer in (malformed, unsafe):
        assert answer.item.parts == ()
        assert answer.usage.tokens == TokenUsage(input=40, output=0)
        assert answer.usage.exact


def test_w10_a_refused_prompt_is_blocked_and_says_why() -> None:
    feedback = {"blockReason": "PROHIBITED_CONTENT"}
    for body in (
        json.dumps({"promptFeedback": feedback, "responseId": "r1"}).encode(),
        stream({"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 3}}),
    ):
        answer = read(body)
        assert answer.failure is None
        assert answer.item.finish_reason is FinishReason.BLOCKED
        assert answer.item.metadata["google_generate.prompt_feedback"] == feedback
        assert answer.item.parts == ()


def test_a_prompt_that_is_refused_late_keeps_what_was_said() -> None:
    late = {"promptFeedback": {"blockReason": "MODEL_ARMOR"}}

    answer = read(stream(response(text("par")), late))

    assert answer.failure is None
    assert answer.item.text == "par"
    assert answer.item.finish_reason is FinishReason.BLOCKED


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("STOP", FinishReason.COMPLETED),
        ("MAX_TOKENS", FinishReason.MAX_TOKENS),
        ("SAFETY", FinishReason.BLOCKED),
        ("MODEL_ARMOR", FinishReason.BLOCKED),
        ("IMAGE_SAFETY", FinishReason.BLOCKED),
        ("RECITATION", FinishReason.BLOCKED),
        ("OTHER", FinishReason.OTHER),
        ("OF_TOMORROW", FinishReason.OTHER),
    ],
)
def test_finish_reasons_are_mapped_and_kept(word: str, reason: FinishReason) -> None:
    item = read(whole(text("a"), finish=word)).item

    assert item.finish_reason is reason
    assert native_reasons(item.metadata) == (word,)


def test_a_response_may_continue_after_a_finish_reason_and_the_last_reason_counts() -> None:
    item = read(
        stream(
            response({"executableCode": {"code": "1"}}, finish="STOP"),
            response(text("a")),
            response(text("b"), finish="MAX_TOKENS"),
        ),
        end_mark=False,
    ).item

    assert item.text == "ab"
    assert item.finish_reason is FinishReason.MAX_TOKENS
    assert native_reasons(item.metadata) == ("STOP", "MAX_TOKENS")


def test_thoughts_are_reasoning_because_they_say_so_and_not_because_they_are_signed() -> None:
    parts = read(
        stream(
            response(text("I ", thought=True)),
            response(text("think", thought=True)),
            response(text("I say", thoughtSignature="QUJD", thought=False), finish="STOP"),
        )
    ).item.parts

    assert parts == (
        Reasoning("I think"),
        Text("I say", metadata={"google_generate.signature": "QUJD"}),
    )


def test_a_signature_is_kept_with_its_piece_of_the_text() -> None:
    def said(*signatures: str | None) -> Text:
        pieces = [
            response(text(f"{at}.", **({} if one is None else {"thoughtSignature": one})))
            for at, one in enumerate(signatures)
        ]
        (part,) = read(stream(*pieces, response(finish="STOP"))).item.parts
        assert isinstance(part, Text)
        return part

    assert said("QQ==", None, "").metadata == {"google_generate.pieces": [[2, "QQ=="], [4, None]]}
    assert said(None, None, "QQ==", "Qg==").metadata == {
        "google_generate.pieces": [[4, None], [2, "QQ=="], [2, "Qg=="]]
    }
    assert said("QQ==", "Qg==").text == "0.1."
    assert said(None, None).metadata == {}


def test_a_signature_without_text_is_kept_in_its_place() -> None:
    signed: dict[str, Any] = {"text": "", "thoughtSignature": "QUJD"}

    parts = read(stream(response(text("a")), response(signed, finish="STOP"))).item.parts

    assert parts == (Text("a"), Custom("google_generate.text", signed))


def test_l14_blocks_that_only_google_understands_are_kept_as_they_came() -> None:
    blocks: list[dict[str, Any]] = [
        {"executableCode": {"language": "PYTHON", "code": "print(6 * 7)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "42\n"}},
        {"thoughtSignature": "QUJD", "toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "1"}},
        {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "1", "response": {"a": [1]}}},
        {"ofTomorrow": {"x": 1.5}, "partMetadata": {}},
    ]

    item = read(whole(text("a"), *blocks, text("b"))).item

    assert item.parts == (
        Text("a"),
        *(Custom(f"google_generate.{kind}", block) for kind, block in zip(
            ("executableCode", "codeExecutionResult", "toolCall", "toolResponse", "ofTomorrow"),
            blocks, strict=True,
        )),
        Text("b"),
    )  # fmt: skip
    assert item.tool_calls == ()
    assert item.finish_reason is FinishReason.COMPLETED


@pytest.mark.parametrize("nothing", [{}, {"thought": True}, {"text": ""}, {"text": None}])
def test_parts_without_content_are_ignored(nothing: dict[str, Any]) -> None:
    assert read(whole(nothing, text("a"), nothing, text("b"))).item.parts == (Text("ab"),)


def test_media_come_as_data_and_as_urls() -> None:
    png = {"inlineData": {"mimeType": "image/png", "data": b64encode(b"PNG\xff").decode()}}
    item = read(
        whole(
            {**png, "thought": True, "thoughtSignature": "QQ=="},
            {**png, "thoughtSignature": "Qg=="},
            {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/v"}},
            {"inlineData": {"mimeType": "application/pdf", "data": "UERG"}},
            {"inlineData": {"mimeType": "audio/wav", "data": "no base64 at all"}},
        )
    ).item

    assert item.parts == (
        Reasoning(
            data=InlineBytes(b"PNG\xff"),
            metadata={
                "google_generate.signature": "QQ==",
                "google_generate.mime_type": "image/png",
            },
        ),
        Media(
            Modality.IMAGE,
            "image/png",
            InlineBytes(b"PNG\xff"),
            metadata={"google_generate.signature": "Qg=="},
        ),
        Media(Modality.VIDEO, "video/mp4", Uri("gs://b/v")),
        File(InlineBytes(b"PDF"), "application/pdf"),
        Media(Modality.AUDIO, "audio/wav", InlineBytes(b"")),
    )


def test_what_is_said_beside_the_content_is_kept_with_the_answer() -> None:
    metadata = read(
        stream(
            response(
                text("a"),
                groundingMetadata={"webSearchQueries": ["q"]},
                urlContextMetadata={"urlMetadata": [{"retrievedUrl": "https://e"}]},
                safetyRatings=[{"category": "X"}],
            ),
            response(
                text("b"),
                groundingMetadata={"groundingChunks": [{"web": {"uri": "https://e"}}]},
                citationMetadata={"citations": [{"endIndex": 1}]},
                avgLogprobs=-0.5,
                logprobsResult={"topCandidates": []},
            ),
            response(finish="STOP", finishMessage="done", groundingMetadata={}),
        )
    ).item.metadata

    assert metadata == {
        "google_generate.url_context_metadata": {"urlMetadata": [{"retrievedUrl": "https://e"}]},
        "google_generate.safety_ratings": [{"category": "X"}],
        "google_generate.grounding_metadata": {
            "webSearchQueries": ["q"],
            "groundingChunks": [{"web": {"uri": "https://e"}}],
        },
        "google_generate.citation_metadata": {"citations": [{"endIndex": 1}]},
        "google_generate.finish_message": "done",
        "google_generate.avg_logprobs": -0.5,
        "google_generate.logprobs": {"topCandidates": []},
        "agentkit.provider_finish_reasons": ["STOP"],
    }


def test_the_first_of_several_candidates_is_the_answer_and_the_rest_is_kept() -> None:
    def both(first: str, second: str, finish: str | None = None) -> dict[str, Any]:
        one, two = response(text(first), finish=finish), response(text(second), index=1)
        return {**one, "candidates": [two["candidates"][0], one["candidates"][0]]}

    item = read(stream(both("a", "x"), both("b", "y", "STOP"))).item

    assert item.text == "ab"
    assert item.metadata["google_generate.candidates"] == [
        {"index": 1, "finish_reason": None, "parts": [{"type": "text", "text": "xy"}]}
    ]


def test_t07_t08_calls_without_arguments_or_ids_are_calls_all_the_same() -> None:
    item = read(
        whole(
            call("f", signature="QUJD", args={"a": [1, {"b": None}]}),
            call("f"),
            call("g", args=None, id="x"),
            call("g", args={}, id="x"),
        )
    ).item

    ids = [entry.id for entry in item.tool_calls]
    assert [entry.name for entry in item.tool_calls] == ["f", "f", "g", "g"]
    assert [entry.input for entry in item.tool_calls] == [{"a": [1, {"b": None}]}, {}, {}, {}]
    assert all(entry.input_error is None for entry in item.tool_calls)
    assert len(set(ids)) == 4
    assert ids[2] == "x"
    assert item.tool_calls[0].metadata == {"google_generate.signature": "QUJD"}
    assert item.tool_calls[2].metadata == {"google_generate.call_id": "x"}


@pytest.mark.parametrize("finish", ["STOP", "UNEXPECTED_TOOL_CALL", "OTHER"])
def test_t11_an_answer_with_calls_is_a_tool_turn_whatever_the_word(finish: str) -> None:
    assert read(whole(call("f"), finish=finish)).item.finish_reason is FinishReason.TOOL_CALL
    without = read(whole(text("a"), finish=finish))
    assert without.item.finish_reason is not FinishReason.TOOL_CALL


def test_t11_an_unexpected_call_that_is_not_there_is_a_failure() -> None:
    answer = read(whole(finish="UNEXPECTED_TOOL_CALL", finishMessage="no such tool"))

    assert answer.failure is not None
    assert answer.failure.retryable
    assert "no such tool" in answer.failure.message


def test_u01_running_totals_are_not_added_up() -> None:
    def counted(answer: int) -> dict[str, int]:
        return {"promptTokenCount": 10, "candidatesTokenCount": answer}

    answer = read(
        stream(
            response(text("a"), usage={"trafficType": "ON_DEMAND"}),
            response(text("b"), usage=counted(1)),
            response(text("c"), usage=counted(4)),
            response(text("d"), usage=counted(5), finish="STOP"),
        )
    )

    assert answer.usage.tokens == TokenUsage(input=10, output=5)
    assert answer.usage.exact
    assert answer.usage.metadata == {"google_generate.usage": counted(5)}


def test_u04_cached_tokens_are_taken_out_of_the_prompt() -> None:
    usage = {
        "promptTokenCount": 1000,
        "cachedContentTokenCount": 800,
        "candidatesTokenCount": 50,
        "totalTokenCount": 1050,
    }

    tokens = read(whole(text("a"), usage=usage)).usage.tokens

    assert tokens == TokenUsage(input=200, output=50, cache_read=800)
    assert tokens.total == 1050


def test_u05_thoughts_are_part_of_the_output() -> None:
    usage = {
        "promptTokenCount": 55,
        "candidatesTokenCount": 9,
        "thoughtsTokenCount": 78,
        "totalTokenCount": 142,
    }

    tokens = read(whole(text("a"), usage=usage)).usage.tokens

    assert tokens == TokenUsage(input=55, output=87, reasoning=78)
    assert tokens.total == 142


def test_what_the_vendors_tools_put_into_the_prompt_is_input() -> None:
    usage = {
        "promptTokenCount": 15,
        "candidatesTokenCount": 37,
        "thoughtsTokenCount": 742,
        "toolUsePromptTokenCount": 770,
        "totalTokenCount": 1564,
    }

    tokens = read(whole(text("a"), usage=usage)).usage.tokens

    assert tokens.input == 785
    assert tokens.total == 1564


def test_a_count_that_is_missing_is_what_the_total_leaves_for_it() -> None:
    def output(**counts: int) -> int | None:
        return read(whole(text("a"), usage={"promptTokenCount": 10, **counts})).usage.tokens.output

    assert output(totalTokenCount=18) == 8
    assert output(totalTokenCount=18, thoughtsTokenCount=5) == 8
    assert output(totalTokenCount=10) == 0
    assert output() is None


@pytest.mark.parametrize("last", [{}, None, {"trafficType": "ON_DEMAND"}])
def test_a_last_report_without_counts_changes_nothing(last: dict[str, Any] | None) -> None:
    first = {"promptTokenCount": 10, "totalTokenCount": 10}
    second = {"promptTokenCount": 10, "candidatesTokenCount": 7, "totalTokenCount": 17}
    usage = read(
        stream(
            response(text("a"), usage=first),
            response(text("b"), usage=second),
            {**response(text("c"), finish="STOP"), "usageMetadata": last},
        )
    ).usage

    assert usage.tokens == TokenUsage(input=10, output=7)
    assert usage.exact


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (b"not json", FailureKind.PROTOCOL),
        (b'{"candidates": 5}', FailureKind.STREAM_CUT),  # passed over
        (b'{"message": "The model is overloaded"}', FailureKind.OVERLOADED),
        (b'{"candidates": 5, "error": {"status": "RESOURCE_EXHAUSTED"}}', FailureKind.RATE_LIMIT),
    ],
)
def test_what_cannot_be_read_is_a_failure_that_keeps_the_text(
    payload: bytes, kind: FailureKind
) -> None:
    answer = read(stream(response(text("par")), payload))

    assert answer.failure is not None
    assert answer.failure.kind is kind
    assert answer.item.text == "par"


@pytest.mark.parametrize("body", [b"{}", b'{"candidates": []}', b'{"usageMetadata": {}}'])
def test_a_whole_answer_that_answers_nothing_is_a_failure(body: bytes) -> None:
    answer = read(body)

    assert answer.failure is not None
    assert answer.failure.kind is FailureKind.PROTOCOL
    assert answer.failure.retryable


def test_a_truncated_whole_response_is_not_confused_with_an_unreadable_one() -> None:
    body = whole(text("a"))

    kinds = {read(body[:end]).failure.kind for end in range(1, len(body))}  # type: ignore[union-attr]

    assert kinds == {FailureKind.STREAM_CUT}


def test_odd_json_is_read_as_meant() -> None:
    lone = rb'{"candidates":[{"content":{"parts":[{"text":"a\ud83d\ude48\ud800"}]},'
    rest = rb'"avgLogprobs":NaN,"finishReason":"STOP"}]}'

    for body in (lone + rest, stream(lone + rest)):
        assert read(body).item.text == "a🙈\ufffd"


@given(st.binary(max_size=200), st.sampled_from([b"", b"data: ", b"{", b"[{", b"[{}, {"]))
def test_nothing_that_comes_makes_it_raise(noise: bytes, start: bytes) -> None:
    seen = events([start + noise[:50], noise[50:]])

    assert sum(isinstance(entry, ResponseFinished | ResponseFailed) for entry in seen) == 1
    assert isinstance(seen[-1], ResponseFinished | ResponseFailed)
    fold_response(seen, strict=True)
