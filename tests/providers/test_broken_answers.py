"""Answers that break off, and answers of which only the form is missing, in every protocol."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit_core import FailureKind, Text, ToolCall, to_json
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
