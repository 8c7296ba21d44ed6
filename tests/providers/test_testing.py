"""The checks for projections find what they are for."""

import pytest

from agentkit_core import FinishReason, ModelRequest
from agentkit_core.provider import ModelEvent, ResponseFinished, WireRequest
from agentkit_providers.openai_chat import OpenAIChat, Quirks
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
            return (ResponseFinished(FinishReason.COMPLETED),)

    class Projection(TinyChat):
        def decoder(self, request: ModelRequest, /) -> TinyDecoder:
            return Trusting(request)

    answer = tiny_answer("a", "b")
    with pytest.raises(AssertionError, match="read as a complete one"):
        check_over_http(Projection(), answer)


def test_an_encoder_that_is_not_pure_is_found() -> None:
    class Counting(TinyChat):
        count = 0

        def encode(self, request: ModelRequest, /) -> WireRequest:
            self.count += 1
            return WireRequest(path="/tiny", body=b'{"stream": true, "n": %d}' % self.count)

    with pytest.raises(AssertionError, match="different bodies"):
        check_over_http(Counting(), tiny_answer("a"))
