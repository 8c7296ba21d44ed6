"""A provider that rejects what its own model wrote has not rejected the request."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit_core import FailureKind, JsonValue, to_json
from agentkit_providers.failures._classify import classify_error, classify_http

GROQ = {
    "message": "Failed to call a function. Please adjust your prompt.",
    "type": "invalid_request_error",
    "code": "tool_use_failed",
    "failed_generation": '<function=get_weather={"city": "Oslo"}</function>',
}
REJECTIONS: dict[str, tuple[int, dict[str, Any]]] = {
    "Groq, a call": (400, {"error": GROQ}),
    "Groq, without a code": (400, {"error": {"message": GROQ["message"]}}),
    "Groq, JSON": (
        400,
        {
            "error": {
                "message": "Failed to generate JSON. Please adjust your prompt.",
                "type": "invalid_request_error",
                "code": "json_validate_failed",
            }
        },
    ),
    "Groq, a schema": (
        400,
        {"error": {"message": "Tool call validation failed: tool call validation failed: …"}},
    ),
    "OpenRouter in front of it": (
        400,
        {
            "error": {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {"raw": '{"error":{"message":"Failed to call a function."}}'},
            }
        },
    ),
    "Ollama": (500, {"error": "error parsing tool call: raw='{\"a\":1}]', err=invalid character"}),
    "Ollama, as OpenAI": (
        500,
        {"error": {"message": "error parsing tool call: raw='{', err=…", "type": "api_error"}},
    ),
    "llama.cpp": (
        500,
        {
            "error": {
                "code": 500,
                "message": "Failed to parse tool call arguments as JSON: parse error at line 1",
                "type": "server_error",
            }
        },
    ),
    "llama.cpp, a call in another form": (
        500,
        {
            "error": {
                "code": 500,
                "message": "Failed to parse input at pos 184: <tool_call>bash",
                "type": "server_error",
            }
        },
    ),
}


@pytest.mark.parametrize(("status", "body"), REJECTIONS.values(), ids=REJECTIONS)
@pytest.mark.parametrize("advice", [None, "true", "false"])
def test_vp11_the_request_may_be_sent_again(
    status: int, body: JsonValue, advice: str | None
) -> None:
    headers = {} if advice is None else {"x-should-retry": advice}

    failure = classify_http(status, headers, to_json(body))

    assert (failure.kind, failure.retryable) == (FailureKind.INVALID_ANSWER, True)


@pytest.mark.parametrize(("status", "body"), REJECTIONS.values(), ids=REJECTIONS)
def test_vp11_the_same_in_the_middle_of_a_stream(status: int, body: JsonValue) -> None:
    failure = classify_error(body)

    assert (failure.kind, failure.retryable) == (FailureKind.INVALID_ANSWER, True)


@pytest.mark.parametrize(
    "message",
    [
        "Invalid schema for function 'f': schema must be of type object",
        "tools.0.function.name: string does not match the pattern",
        "messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
        "Could not parse the JSON body of your request",
        "Failed to parse the request body as JSON",
        "messages.3: invalid tool call from the model: arguments must be an object",
        "tool_calls[0]: the model produced an invalid id",
    ],
)
def test_vp11_a_request_that_is_wrong_stays_one(message: str) -> None:
    failure = classify_http(400, {}, to_json({"error": {"message": message}}))

    assert (failure.kind, failure.retryable) == (FailureKind.INVALID_REQUEST, False)
