"""The checks for projections find what they are for."""

from typing import Any

import pytest

from agentkit_core import FinishReason, ModelRequest
from agentkit_core.provider import ModelEvent, ResponseFinished, WireRequest
from agentkit_providers.anthropic_messages import AnthropicMessages
from agentkit_providers.google_generate import GoogleGenerate
from agentkit_providers.openai_chat import OpenAIChat, Quirks
from agentkit_providers.openai_responses import OpenAIResponses
from agentkit_providers.replay import Answer, openai_chat
from agentkit_providers.testing import check_over_http
from support.tiny_chat import TinyChat, TinyDecoder, tiny_answer


def test_a_projection_that_keeps_the_laws_passes() -> None:
    assert check_over_http(TinyChat(), tiny_answer("a", "é")).item.text == "aé"


@pytest.mark.parametrize(
    "answer",
    [
        openai_chat.text("Grüße an alle", reasoning="hm"),
        openai_chat.tool_calls([("add", {"a": 1, "b": [2]})], said="Let me see."),
        openai_chat.error_in_stream({"message": "overloaded"}, after="So"),
        Answer.error(429, retry_after=3),
    ],
    ids=["text", "tool calls", "error in the stream", "error"],
)
def test_our_own_protocol_passes(answer: Answer) -> None:
    check_over_http(OpenAIChat("checked", Quirks()), answer)


CALLS_WITHOUT_IDS: dict[type[Any], Any] = {
    OpenAIChat: {
        "choices": [
            {
                "message": {"tool_calls": [{"function": {"name": "add", "arguments": "{}"}}] * 2},
                "finish_reason": "tool_calls",
            }
        ]
    },
    OpenAIResponses: {
        "status": "completed",
        "output": [{"type": "function_call", "name": "add", "arguments": "{}"}] * 2,
    },
    AnthropicMessages: {
        "type": "message",
        "content": [{"type": "tool_use", "name": "add", "input": {}}] * 2,
        "stop_reason": "tool_use",
    },
    GoogleGenerate: {
        "candidates": [
            {
                "content": {"parts": [{"functionCall": {"name": "add"}}] * 2},
                "finishReason": "STOP",
            }
        ]
    },
}
"""Whole answers with two calls each, to which the vendor gives no ids."""


@pytest.mark.parametrize("protocol", CALLS_WITHOUT_IDS)
def test_calls_of_later_responses_get_new_ids_where_the_vendor_gives_none(
    protocol: type[Any],
) -> None:
    response = check_over_http(protocol("checked"), Answer.json(CALLS_WITHOUT_IDS[protocol]))

    assert [call.id for call in response.item.tool_calls] == ["call_0", "call_1"]


def test_a_decoder_to_which_cuts_matter_is_found() -> None:
    class Careless(TinyDecoder):
        def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
            return super().feed(chunk if chunk.endswith(b"\n") else chunk + b"\n")

    class Projection(TinyChat):
        def decoder(self, request: ModelRequest, /) -> TinyDecoder:
            return Careless(request)

    with pytest.raises((AssertionError, ValueError)):
        check_over_http(Projection(), tiny_answer("a", "b"))


def test_a_decoder_that_reads_half_an_answer_as_complete_is_found() -> None:
    class Trusting(TinyDecoder):
        def finish(self) -> tuple[ModelEvent, ...]:
            if self._ended or not self._begun:
                return super().finish()
            return self._end(ResponseFinished(FinishReason.COMPLETED))

    class Projection(TinyChat):
        def decoder(self, request: ModelRequest, /) -> TinyDecoder:
            return Trusting(request)

    answer = tiny_answer("a", "b")
    with pytest.raises(AssertionError, match="decoded as a whole response"):
        check_over_http(Projection(), answer)


def test_an_encoder_that_is_not_pure_is_found() -> None:
    class Counting(TinyChat):
        count = 0

        def encode(self, request: ModelRequest, /) -> WireRequest:
            self.count += 1
            return WireRequest(path="/tiny", body=b'{"stream": true, "n": %d}' % self.count)

    with pytest.raises(AssertionError, match="different bodies"):
        check_over_http(Counting(), tiny_answer("a"))
