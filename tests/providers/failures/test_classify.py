"""Failures as providers tell them, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import FailureKind, JsonValue, ProviderFailure
from agentkit_providers.failures._classify import (
    RETRYABLE_KINDS,
    classify_error,
    classify_http,
)

NOW_S = 1_750_000_000.0


def http(status: int, body: Any = b"", headers: Mapping[str, str] | None = None) -> ProviderFailure:
    written = body if isinstance(body, bytes) else json.dumps(body).encode()
    return classify_http(status, headers or {}, written, now_s=NOW_S)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "Sun, 15 Jun 2025 15:06:47 GMT"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "86400"}, 86400.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "Sun, 15 Jun 2025 15:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"x-ratelimit-reset-after": "3.5"}, 3.5),
        ({"x-ratelimit-reset": "1750000020", "x-ratelimit-remaining": "0"}, 20.0),
        ({"x-ratelimit-reset": "1750000020000"}, 20.0),
        ({"x-ratelimit-reset": "20", "x-ratelimit-remaining": "3"}, None),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "6m0s",
                "x-ratelimit-remaining-tokens": "10",
                "x-ratelimit-reset-tokens": "9h",
            },
            360.0,
        ),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
    ],
)
def test_x01_every_form_of_retry_after_header_is_read(
    header: dict[str, str], expected: float | None
) -> None:
    failure = http(429, {"error": {"message": "slow down"}}, header)

    assert failure.kind is FailureKind.RATE_LIMIT
    assert failure.retryable
    assert failure.retry_after_s == (None if expected is None else pytest.approx(expected))


def test_x01_a_date_is_read_by_the_responses_own_clock_where_there_is_no_other() -> None:
    headers = {
        "date": "Sun, 15 Jun 2025 15:06:40 GMT",
        "retry-after": "Sun, 15 Jun 2025 15:06:47 GMT",
    }

    assert classify_http(429, headers, b"").retry_after_s == 7.0
    del headers["date"]
    assert classify_http(429, headers, b"").retry_after_s is None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "quota reset after 18h31m10s"}, 66670.0),
        ({"message": "Please retry in 48.939935699s."}, 48.939935699),
        ({"message": "Rate limit reached. Please try again in 6m0s. Visit us."}, 360.0),
        ({"message": "Please try again in 350ms."}, 0.35),
        ({"message": "Please retry after 20 seconds."}, 20.0),
        ({"message": "x", "details": [{"@type": "RetryInfo", "retryDelay": "34.07s"}]}, 34.07),
        ({"message": "x", "retry_after": 3}, 3.0),
        (
            {"message": "x", "metadata": {"headers": {"X-RateLimit-Reset": "1750000005000"}}},
            5.0,
        ),
        ({"message": "try again later"}, None),
        ({"message": "wait for a model that is 5 times smaller"}, None),
    ],
)
def test_x01_waits_in_the_body_are_read(error: Any, expected: float | None) -> None:
    failure = http(429, {"error": error})

    assert failure.retry_after_s == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"error": {"code": "insufficient_quota", "message": "You exceeded your quota"}}),
        (429, {"error": {"type": "insufficient_quota", "message": "try again in 20s"}}),
        (402, {"error": {"code": 402, "message": "This request requires more credits"}}),
        (402, b""),
        (403, {"error": {"message": "Your credit balance is too low"}}),
        (400, {"type": "error", "error": {"type": "billing_error", "message": "pay"}}),
        (
            429,
            {"error": {"message": "insufficient balance", "type": "exceeded_current_quota_error"}},
        ),
    ],
)
def test_x02_an_empty_account_is_no_rate_limit(status: int, body: Any) -> None:
    failure = http(status, body)

    assert failure.kind is FailureKind.BILLING
    assert not failure.retryable


def test_x02_a_quota_per_minute_is_a_rate_limit() -> None:
    failure = http(
        429,
        {
            "error": {
                "code": 429,
                "status": "RESOURCE_EXHAUSTED",
                "message": "You exceeded your current quota, please check your plan and billing "
                "details. Quota exceeded for metric: requests per minute.",
                "details": [{"@type": "t/google.rpc.RetryInfo", "retryDelay": "12s"}],
            }
        },
    )

    assert failure.kind is FailureKind.RATE_LIMIT
    assert failure.retryable
    assert failure.retry_after_s == 12.0


OVERFLOWS = [
    ("anthropic", "prompt is too long: 208310 tokens > 200000 maximum", 208310, 200000),
    ("bedrock", "Input is too long for requested model.", None, None),
    ("openai", "Your input exceeds the context window of this model.", None, None),
    (
        "openai",
        (
            "This model's maximum context length is 8192 tokens. However, your messages "
            "resulted in 9001 tokens. Please reduce the length of the messages."
        ),
        9001,
        8192,
    ),
    ("litellm", "The prompt exceeds the model's maximum context length of 4096 tokens", None, 4096),
    (
        "google",
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1,048,576).",
        1048577,
        1048576,
    ),
    (
        "xai",
        "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
        140000,
        131072,
    ),
    ("groq", "Please reduce the length of the messages or completion.", None, None),
    (
        "openrouter",
        (
            "This endpoint's maximum context length is 32768 tokens. However, you requested about "
            "40000 tokens"
        ),
        40000,
        32768,
    ),
    (
        "together",
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        9000,
        8192,
    ),
    ("copilot", "prompt token count of 70000 exceeds the limit of 64000", 70000, 64000),
    (
        "llamacpp",
        "the request (5000 tokens) exceeds the available context size (4096 tokens), try again",
        5000,
        4096,
    ),
    ("lmstudio", "tokens to keep is greater than the context length", None, None),
    ("minimax", "invalid params, context window exceeds limit", None, None),
    ("moonshot", "Your request exceeded model token limit: 8192 (requested: 9000)", 9000, 8192),
    (
        "mistral",
        (
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 "
            "maximum context length"
        ),
        40000,
        32768,
    ),
    ("zai", "model_context_window_exceeded", None, None),
    (
        "anthropic",
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
        190000,
        200000,
    ),
    ("ollama", "prompt too long; exceeded max context length by 12 tokens", None, None),
    (
        "vllm",
        (
            "This model's maximum context length is 4096 tokens. However, your request has 5000 "
            "input tokens."
        ),
        5000,
        4096,
    ),
    ("alibaba", "Range of input length should be [1, 30720]", None, None),
]


@pytest.mark.parametrize(
    ("message", "tokens", "limit"),
    [row[1:] for row in OVERFLOWS],
    ids=[f"{vendor}-{n}" for n, (vendor, *_) in enumerate(OVERFLOWS)],
)
def test_x10_a_context_overflow_is_known_in_every_vendors_words(
    message: str, tokens: int | None, limit: int | None
) -> None:
    failure = http(400, {"error": {"message": message, "type": "invalid_request_error"}})

    assert failure.kind is FailureKind.CONTEXT_LENGTH
    assert not failure.retryable
    assert (failure.tokens, failure.token_limit) == (tokens, limit)
    assert classify_error({"message": message}).kind is FailureKind.CONTEXT_LENGTH


def test_x10_a_code_a_field_or_413_say_so_too() -> None:
    coded = http(400, {"error": {"code": "context_length_exceeded", "message": "no"}})
    fields = {"n_prompt_tokens": 9000, "n_ctx": 4096, "type": "exceed_context_size_error"}
    local = http(400, {"error": {"code": 400, "message": "too big", **fields}})
    large = http(413, {"error": {"code": "rate_limit_exceeded", "message": "Request too large"}})

    assert coded.kind is local.kind is large.kind is FailureKind.CONTEXT_LENGTH
    assert (local.tokens, local.token_limit) == (9000, 4096)


@pytest.mark.parametrize(
    "message", ["rate limit: too many tokens per minute", "Too many tokens, per day limit", ""]
)
def test_x10_a_rate_limit_on_tokens_is_no_context_overflow(message: str) -> None:
    assert http(429, {"error": {"message": message}}).kind is FailureKind.RATE_LIMIT


KINDS = [
    (401, {"error": {"message": "Missing Authentication header", "code": 401}}, FailureKind.AUTH),
    (400, {"code": "invalid-argument", "error": "Incorrect API key provided."}, FailureKind.AUTH),
    (
        400,
        {
            "error": {
                "code": 400,
                "message": "API key not valid.",
                "status": "INVALID_ARGUMENT",
                "details": [{"reason": "API_KEY_INVALID"}],
            }
        },
        FailureKind.AUTH,
    ),
    (403, {"error": {"code": "forbidden", "message": "Forbidden"}}, FailureKind.AUTH),
    (401, {"detail": "Could not parse your authentication token."}, FailureKind.AUTH),
    (404, {"error": {"code": "DeploymentNotFound", "message": "?"}}, FailureKind.NOT_FOUND),
    (
        400,
        {"object": "error", "type": "invalid_model", "message": "Invalid model: x", "code": "1500"},
        FailureKind.NOT_FOUND,
    ),
    (
        400,
        {"error": {"code": 400, "message": "openai/x is not a valid model ID"}},
        FailureKind.NOT_FOUND,
    ),
    (
        400,
        {
            "error": {
                "code": "content_filter",
                "message": "x",
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
        FailureKind.CONTENT_FILTER,
    ),
    (
        403,
        {"error": {"message": "Your input was flagged", "code": 403, "metadata": {"reasons": []}}},
        FailureKind.CONTENT_FILTER,
    ),
    (400, {"error": {"code": "invalid_image_url", "message": "x"}}, FailureKind.INVALID_REQUEST),
    (422, {"detail": [{"loc": ["body", "n"], "msg": "too big"}]}, FailureKind.INVALID_REQUEST),
    (408, b"", FailureKind.TIMEOUT),
    (409, b"", FailureKind.SERVER),
    (429, b"Too Many Requests", FailureKind.RATE_LIMIT),
    (498, b"", FailureKind.OVERLOADED),
    (500, {"error": {"code": 500, "message": "cannot GET", "type": "x"}}, FailureKind.SERVER),
    (500, {"error": {"message": "The model is overloaded"}}, FailureKind.OVERLOADED),
    (502, b"<html><head><title>502 Bad Gateway</title></head></html>", FailureKind.SERVER),
    (503, b"", FailureKind.OVERLOADED),
    (504, b"", FailureKind.TIMEOUT),
    (
        529,
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        FailureKind.OVERLOADED,
    ),
    (418, b"", FailureKind.INVALID_REQUEST),
]


@pytest.mark.parametrize(("status", "body", "kind"), KINDS)
def test_codes_go_before_the_status_and_words_come_last(
    status: int, body: Any, kind: FailureKind
) -> None:
    failure = http(status, body)

    assert failure.kind is kind
    assert failure.retryable is (kind in RETRYABLE_KINDS)
    assert failure.status == status
    assert failure.message


@pytest.mark.parametrize(
    ("body", "message", "code", "type_"),
    [
        ({"error": {"message": "m", "type": "t", "code": 7, "param": "p"}}, "m", "7", "t"),
        ({"error": "m", "code": "c"}, "m", "c", None),
        ({"object": "error", "message": "m", "type": "t", "code": "1500"}, "m", "1500", "t"),
        ({"message": {"detail": [{"loc": ["body", 0], "msg": "bad"}]}}, "body.0: bad", None, None),
        ({"detail": "m"}, "m", None, None),
        ({"type": "error", "error": {"type": "t", "message": "m"}}, "m", None, "t"),
        ([{"error": {"code": 400, "message": "m", "status": "BAD"}}], "m", "400", "BAD"),
        ({"errors": [{"message": "m", "code": 10000}]}, "m", "10000", None),
        ({"__type": "ThrottlingException", "message": "m"}, "m", None, None),
        (
            {"error": {"message": "Provider returned error", "metadata": {"raw": "upstream"}}},
            "Provider returned error: upstream",
            None,
            None,
        ),
        ("plain JSON text", "plain JSON text", None, None),
    ],
)
def test_error_bodies_of_every_shape_are_read(
    body: Any, message: str, code: str | None, type_: str | None
) -> None:
    failure = http(400, body)

    assert (failure.message, failure.code, failure.type) == (message, code, type_)
    assert failure.raw == body


@pytest.mark.parametrize(
    "body",
    [
        b'data: {"error":{"message":"no","code":"invalid_api_key"}}\n\n',
        b'id:1\nevent:error\n:HTTP_STATUS/400\ndata:{"message":"no","code":"InvalidApiKey"}',
    ],
)
def test_an_error_that_is_sent_as_an_event_is_read(body: bytes) -> None:
    failure = http(400, body)

    assert (failure.kind, failure.message) == (FailureKind.AUTH, "no")


def test_a_body_that_speaks_of_data_is_no_event() -> None:
    assert http(400, b'{"error":{"message":"bad data: x"}}').message == "bad data: x"
    assert http(400, b"bad data: x").message == "bad data: x"
    assert http(400, b"data: x").message == "data: x"


def test_a_body_that_is_no_json_is_shown_without_its_tags() -> None:
    page = b"<html><style>p{}</style><title>Bad\n Gateway</title><p>nginx</html>"

    assert http(502, page).message == "Bad Gateway"
    assert http(502, b"upstream\xff connect error").message == "upstream\ufffd connect error"
    assert http(502, b"").message == "the provider answered with HTTP status 502"


@pytest.mark.parametrize(("advice", "expected"), [("true", True), ("false", False)])
def test_the_providers_own_advice_on_retrying_wins(advice: str, expected: bool) -> None:
    for status in (400, 500):
        assert http(status, b"", {"X-Should-Retry": advice}).retryable is expected


def test_the_name_of_the_request_is_kept_for_the_providers_support() -> None:
    assert http(500, b"", {"X-Request-Id": "r1"}).request_id == "r1"
    assert http(500, {"error": {"message": "m"}, "request_id": "r2"}).request_id == "r2"


def test_long_bodies_are_kept_in_part() -> None:
    failure = http(400, {"error": {"message": "x" * 100_000}})

    assert isinstance(failure.raw, str)
    assert len(failure.raw) <= 8192
    assert len(failure.message) <= 2001


def test_w05_an_error_inside_a_stream_is_known_by_its_type_and_not_by_the_status() -> None:
    failure = classify_error(
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    )

    assert failure.kind is FailureKind.OVERLOADED
    assert failure.retryable
    assert failure.type == "overloaded_error"
    assert failure.status is None


def test_w06_an_aggregators_numeric_code_counts_as_a_status() -> None:
    failure = classify_error({"code": 502, "message": "upstream disconnected"})

    assert failure.kind is FailureKind.SERVER
    assert failure.retryable
    assert (failure.code, failure.message) == ("502", "upstream disconnected")
    assert classify_error({"status_code": 400, "code": "wrong_shape", "message": "m"}).kind is (
        FailureKind.INVALID_REQUEST
    )


@pytest.mark.parametrize("error", [{}, None, [], "", 7, {"error": {}}, {"error": None}])
def test_an_error_that_says_nothing_is_still_a_failure(error: Any) -> None:
    assert classify_error(error).message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "type", "details", "metadata", "status"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(
    status=st.integers(400, 599),
    body=st.binary() | JSON.map(lambda value: json.dumps(value).encode()),
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "x-ratelimit-reset", "date", "retry-after-ms"]), st.text()
    ),
)
def test_whatever_a_provider_sends_is_a_failure_and_never_an_exception(
    status: int, body: bytes, headers: dict[str, str]
) -> None:
    failure = classify_http(status, headers, body, now_s=NOW_S)

    assert failure.status == status
    assert failure.message
    assert failure.retry_after_s is None or failure.retry_after_s >= 0


@given(JSON)
def test_whatever_stands_in_a_stream_is_a_failure_and_never_an_exception(error: Any) -> None:
    assert classify_error(error).message


MEANING = {
    401: FailureKind.AUTH,
    402: FailureKind.BILLING,
    403: FailureKind.AUTH,
    404: FailureKind.NOT_FOUND,
    408: FailureKind.TIMEOUT,
    413: FailureKind.CONTEXT_LENGTH,
    422: FailureKind.INVALID_REQUEST,
    429: FailureKind.RATE_LIMIT,
    500: FailureKind.SERVER,
    503: FailureKind.OVERLOADED,
    504: FailureKind.TIMEOUT,
    529: FailureKind.OVERLOADED,
}


@pytest.mark.parametrize("word", ["api_error", "error", "APIError", "provider_error", "unknown"])
@pytest.mark.parametrize("status", MEANING)
@pytest.mark.parametrize("place", ["type", "code"])
def test_vp23_a_word_that_says_nothing_leaves_it_to_the_status(
    word: str, status: int, place: str
) -> None:
    error: dict[str, JsonValue] = {"message": "Sorry", place: word}
    http = classify_http(status, {}, json.dumps({"error": error}).encode())
    named: list[JsonValue] = [
        {"error": {**error, "status": status}},
        {"error": {**error, "status_code": status}},
        {"error": error, "status": str(status)},
        {"error": error, "code": float(status)},
    ]

    assert http.kind is MEANING[status]
    for value in named:
        assert classify_error(value).kind is MEANING[status]


@pytest.mark.parametrize("status", [status for status in MEANING if status not in (422, 500)])
def test_vp23_that_the_server_failed_says_less_than_a_status_with_a_meaning(status: int) -> None:
    body = json.dumps({"error": {"message": "Sorry", "type": "server_error"}}).encode()

    assert classify_http(status, {}, body).kind is MEANING[status]


def test_vp23_words_that_say_something_still_go_first() -> None:
    body = json.dumps({"error": {"message": "x", "type": "rate_limit_error"}}).encode()
    general = json.dumps({"error": {"message": "x", "type": "api_error", "code": 401}}).encode()

    assert classify_http(401, {}, body).kind is FailureKind.RATE_LIMIT
    assert classify_http(500, {}, general).kind is FailureKind.AUTH
