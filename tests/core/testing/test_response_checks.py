"""The checks of a response and of its origin pass what is good and catch what is not."""

from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import (
    Custom,
    FailureKind,
    FinishReason,
    Item,
    ModelRequest,
    ModelResponse,
    Provenance,
    ProviderFailure,
    Text,
    TokenUsage,
    ToolCall,
    ToolCallId,
    Usage,
)
from agentkit_core.provider import WireRequest
from agentkit_core.testing import check_origin, check_response
from support.small_protocol import SmallProjection

ORIGIN = Provenance("small", "small", "a-model")
LOOK = ToolCall(ToolCallId("c1"), "look")
FOREIGN = Text("hi", metadata={"another_api.signature": "QQ"})
USED = Usage(TokenUsage(input=5, output=7), requests=1, reported_requests=1)


def answer(*parts: Any, **fields: Any) -> ModelResponse:
    values = {
        "provenance": ORIGIN,
        "finish_reason": FinishReason.COMPLETED,
        "usage": USED,
        **fields,
    }
    return ModelResponse(replace(Item.assistant(*parts), **values))


def called(*parts: Any) -> ModelResponse:
    return answer(*parts, finish_reason=FinishReason.TOOL_CALL)


@pytest.mark.parametrize(
    "response",
    [
        answer("hi"),
        answer(),
        called("hi", LOOK),
        answer(LOOK, finish_reason=FinishReason.MAX_TOKENS),
        answer("hi", usage=None),
        answer("hi", Custom("small.block")),
        ModelResponse(
            Item.assistant("half"), ProviderFailure(kind=FailureKind.SERVER, message="no")
        ),
    ],
)
def test_a_good_response_passes(response: ModelResponse) -> None:
    check_response(response)


@pytest.mark.parametrize(
    ("response", "rule"),
    [
        (called(replace(LOOK, id=ToolCallId(""))), "'look'. has no id"),
        (called(LOOK, replace(LOOK, name="find")), "have the same id 'c1'"),
        (answer("hi", provenance=None), "has no provenance"),
        (answer("hi", provenance=replace(ORIGIN, provider=" ")), "has no provider"),
        (answer("hi", provenance=replace(ORIGIN, api="")), "has no api"),
        (answer("hi", provenance=replace(ORIGIN, model="b")), "instead of the requested 'a-model'"),
        (answer(FOREIGN), r"the parts have metadata of \['another_api'\]"),
        (answer(Custom("another_api.block")), r"the parts have metadata of \['another_api'\]"),
        (answer("hi", finish_reason=None), "has no finish reason"),
        (answer("hi", finish_reason=FinishReason.ERROR), "its finish reason is error"),
        (answer("hi", finish_reason=FinishReason.TOOL_CALL), "the response has no tool call"),
        (answer(LOOK), "its finish reason is completed"),
        (answer("hi", usage=replace(USED, requests=0)), "counts 0 requests"),
        (answer("hi", usage=replace(USED, requests=2)), "counts 2 requests"),
        (answer("hi", usage=replace(USED, reported_requests=2)), "reports more than one"),
        (answer("hi", usage=replace(USED, tokens=TokenUsage(output=-1))), "-1 tokens of output"),
    ],
)
def test_a_response_that_breaks_a_rule_is_caught(response: ModelResponse, rule: str) -> None:
    with pytest.raises(AssertionError, match=rule):
        check_response(response, model="a-model")


@pytest.mark.parametrize("field", ["provider", "api", "model"])
def test_an_origin_that_the_encoder_does_not_know_is_caught(field: str) -> None:
    request = ModelRequest(model="a-model")

    check_origin(SmallProjection(), request, ORIGIN)
    with pytest.raises(AssertionError, match="the encoder sends reasoning back to"):
        check_origin(SmallProjection(), request, replace(ORIGIN, **{field: "another"}))


def test_nothing_is_asked_of_a_projection_that_compares_no_origins() -> None:
    class Plain(SmallProjection):
        def encode(self, request: ModelRequest, /) -> WireRequest:
            return WireRequest(path="/", body=b"{}")

    check_origin(Plain(), ModelRequest(model="a-model"), replace(ORIGIN, api="another"))
