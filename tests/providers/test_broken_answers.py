"""Answers that break off, and answers of which only the form is missing, in every protocol."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import (
    FailureKind,
    FinishReason,
    Item,
    ModelRequest,
    Text,
    Timeouts,
    ToolCall,
    to_json,
)
from agentkit_providers import HttpModel, connect
from agentkit_providers.replay import Answer, Cut, Fault, Garbage, ReplayServer, Reset, Stall
from providers.wire_protocols import PROTOCOLS, answers, read, read_whole


@pytest.mark.parametrize("api", PROTOCOLS)
def test_vp27_a_whole_answer_that_ends_anywhere_inside_is_cut_off(api: str) -> None:
    for answer in answers(api):
        whole = answer.whole or b""
        for end in range(1, len(whole.rstrip())):
            failure = read_whole(api, whole[:end]).failure

            assert failure is not None
            assert failure.kind is FailureKind.STREAM_CUT, whole[:end]
            assert failure.retryable


@pytest.mark.parametrize("api", PROTOCOLS)
@pytest.mark.parametrize("end", ["0.", "-", "1e", "1e+", "tr", '"\\u12', '"\\ud83d\\u', '"x\\'])
def test_vp27_the_end_may_be_inside_any_value(api: str, end: str) -> None:
    failure = read_whole(api, b'{"a":' + end.encode()).failure

    assert failure is not None
    assert failure.kind is FailureKind.STREAM_CUT


@pytest.mark.parametrize("api", PROTOCOLS)
@pytest.mark.parametrize("body", ['{"a" 0', '{"a":0.x', '{"a":tx', '{"a":1..', '{"a":1}}'])
def test_vp27_a_body_that_no_end_could_make_good_breaks_the_protocol(api: str, body: str) -> None:
    failure = read_whole(api, body.encode()).failure

    assert failure is not None
    assert failure.kind is FailureKind.PROTOCOL


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "1" + "0" * 5000])
@pytest.mark.parametrize("place", ['{"x":#}', '{"x":[{"y":#}]}'])
def test_vp35_numbers_that_json_cannot_hold_cost_neither_text_nor_call(
    number: str, place: str
) -> None:
    payload = (
        '{"candidates":[{"content":{"role":"model","parts":[{"text":"answer "},'
        '{"functionCall":{"name":"t","args":' + place.replace("#", number) + "}}]},"
        '"finishReason":"STOP"}]}'
    )
    for response in (
        read("google_generate", payload),
        read_whole("google_generate", payload.encode()),
    ):
        assert response.failure is None
        said, call = response.item.parts
        assert isinstance(said, Text)
        assert isinstance(call, ToolCall)
        assert b"Infinity" not in to_json(call)
        assert call.input["x"] in (None, [{"y": None}])


@pytest.mark.parametrize("value", ["1e999", "-1e999"])
def test_vp35_a_number_of_streamed_arguments_is_not_lost(value: str) -> None:
    payload = (
        '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","partialArgs":'
        '[{"jsonPath":"$.x","numberValue":' + value + "}]}}]},"
        '"finishReason":"STOP"}]}'
    )
    (call,) = read("google_generate", payload).item.tool_calls

    assert call.input == {"x": None}


@pytest.mark.parametrize("number", ["1e999", "NaN", "-Infinity"])
def test_vp35_in_arguments_that_are_text_such_a_number_makes_them_unreadable(number: str) -> None:
    arguments = f'{{"x": {number}}}'
    chat: dict[str, Any] = {
        "choices": [
            {
                "message": {
                    "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": arguments}}]
                },
                "finish_reason": "tool_calls",
            }
        ]
    }
    (call,) = read_whole("openai_chat", chat).item.tool_calls

    assert call.input_error is not None
    assert call.raw_input == arguments


def connected(api: str, server: ReplayServer) -> HttpModel:
    return connect(f"{PROTOCOLS[api].provider}:m", base_url=server.url, api_key="k" * 12)


def ask(api: str, answer: Answer) -> Any:
    with ReplayServer([answer]) as server:
        request = ModelRequest(model="m", items=(Item.user("hi"),))
        request = replace(request, options=replace(request.options, timeouts=Timeouts(idle_s=0.3)))
        return connected(api, server).complete_blocking(request)


FINAL = {"openai_chat": "finish_reason", "anthropic_messages": "stop_reason"}
"""Protocols whose finish reason is final and comes before the end mark, and its name there."""


@pytest.mark.parametrize("api", FINAL)
@pytest.mark.parametrize("fault", [Cut, Reset, Stall, Garbage])
@pytest.mark.parametrize("number", [0, 1])
def test_vp22_a_connection_that_breaks_after_the_finish_reason_changes_nothing(
    api: str, fault: type[Fault], number: int
) -> None:
    answer = answers(api)[number]
    good = ask(api, answer)
    finish = f'"{FINAL[api]}": "'.encode()
    first_end = next(at for at, piece in enumerate(answer.pieces, 1) if finish in piece)

    for end in range(first_end, len(answer.pieces) + 1):
        response = ask(api, answer.with_fault(fault(after_events=end)))

        assert response.failure is None
        assert response.item.parts == good.item.parts
        assert response.item.finish_reason is good.item.finish_reason
    assert response.usage == good.usage

    response = ask(api, answer.with_fault(fault(after_events=first_end - 1)))
    assert response.failure is not None


@pytest.mark.parametrize("api", FINAL)
def test_vp22_what_cannot_be_read_after_the_finish_reason_is_no_matter(api: str) -> None:
    answer = answers(api)[0]
    finish = f'"{FINAL[api]}": "'.encode()
    end = next(at for at, piece in enumerate(answer.pieces, 1) if finish in piece)
    broken = replace(answer, pieces=(*answer.pieces[:end], b'data: {"id":"x","cho\n\n'))

    assert ask(api, broken).failure is None


def google(*parts: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate]}


AFTER_STOP: list[dict[str, Any]] = [
    {"text": "lo wor"},
    {"text": "hm", "thought": True},
    {"functionCall": {"name": "t", "args": {}}},
    {"functionCall": {"name": "t", "willContinue": True}},
    {"executableCode": {"language": "PYTHON", "code": "1"}},
    {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
    {"future": {"x": 1}},
]


@pytest.mark.parametrize("part", AFTER_STOP, ids=lambda part: "-".join(part))
def test_vp24_a_finish_reason_that_content_follows_is_not_the_answers(part: dict[str, Any]) -> None:
    cut = read("google_generate", google({"text": "Hel"}, finish="STOP"), google(part))

    assert cut.failure is not None
    assert cut.failure.kind is FailureKind.STREAM_CUT
    assert len(cut.item.parts) >= 1
    assert cut.item.text.startswith("Hel")

    goes_on = read(
        "google_generate",
        google({"text": "Hel"}, finish="STOP"),
        google(part),
        google({"text": "!"}, finish="STOP"),
    )
    assert goes_on.failure is None
    assert goes_on.item.finish_reason in (FinishReason.COMPLETED, FinishReason.TOOL_CALL)


def test_vp24_chunks_without_content_leave_the_finish_reason_as_it_is() -> None:
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    response = read(
        "google_generate",
        google({"text": "Hello"}, finish="STOP"),
        google({"text": ""}),
        {"candidates": [{"content": {"role": "model"}}]},
        {"usageMetadata": usage},
    )

    assert response.failure is None
    assert response.usage.exact
