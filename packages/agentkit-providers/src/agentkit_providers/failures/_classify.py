"""Failures as providers report them, classified: an HTTP error response, or an error in a stream.

The same for all protocols, and pure. `_error_body` reads what the provider says, `_kinds` decides
what kind of failure it is, `_retry_after` how long to wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from agentkit_core import FailureKind, JsonValue, ProviderFailure
from agentkit_providers.failures._context_length import overflow_counts
from agentkit_providers.failures._error_body import ErrorFacts, facts_of_body, facts_of_json
from agentkit_providers.failures._kinds import kind_of, more_precise_status
from agentkit_providers.failures._retry_after import retry_after_s

RETRYABLE_KINDS: Final = frozenset(
    {
        FailureKind.RATE_LIMIT,
        FailureKind.OVERLOADED,
        FailureKind.SERVER,
        FailureKind.TIMEOUT,
        FailureKind.CONNECTION,
        FailureKind.STREAM_CUT,
        FailureKind.INVALID_ANSWER,
    }
)
"""Kinds after which the same request may succeed."""

REQUEST_ID_HEADERS: Final = (
    "x-request-id",
    "request-id",
    "apim-request-id",
    "x-amzn-requestid",
)
"""Headers in which providers name a request, the most common first."""


def classify_http(
    status: int, headers: Mapping[str, str], body: bytes, *, now_s: float | None = None
) -> ProviderFailure:
    """Say what kind of failure an HTTP error response is.

    Args:
        status: The HTTP status.
        headers: The response's headers, names in any case.
        body: The body as far as it was read; may be empty, cut, or not JSON.
        now_s: Seconds since 1970, to read waits that name a moment. None goes by the response's own
            `date` header, if it has one.

    Returns:
        The failure. `retryable` follows the header `x-should-retry` where the provider sends it.
        Keys that the body repeats are still in it; see `redact_failure`.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    facts = facts_of_body(body)
    failure = _failure(facts, status, lower, now_s)
    id_headers = (*REQUEST_ID_HEADERS, "cf-ray")
    request_id = next((lower[name] for name in id_headers if lower.get(name)), None)
    advice = lower.get("x-should-retry", "").strip().lower()
    if failure.kind is FailureKind.INVALID_ANSWER:
        advice = ""  # it is about the request, and the request is valid
    return replace(
        failure,
        status=status,
        message=facts.message or f"the provider answered with HTTP status {status}",
        retryable=advice == "true" if advice in ("true", "false") else failure.retryable,
        request_id=request_id or facts.request_id,
    )


def classify_error(
    error: JsonValue, *, status: int | None = None, now_s: float | None = None
) -> ProviderFailure:
    """Say what kind of failure an error is that came with a good HTTP status.

    Args:
        error: The error as JSON: the event that holds it, its error object, or a text.
        status: A status that is known from elsewhere; None takes the one that the error names, if
            any. It helps to classify, but does not become the failure's `status`, since that is the
            HTTP status, which was good.
        now_s: As for `classify_http`.
    """
    facts = facts_of_json(error, raw=error)
    failure = _failure(facts, status, {}, now_s)
    if facts.message:
        return failure
    return replace(failure, message="the provider sent an error without a message")


def _failure(
    facts: ErrorFacts, status: int | None, headers: Mapping[str, str], now_s: float | None
) -> ProviderFailure:
    wait_s = retry_after_s(headers, facts.error, facts.message, now_s=now_s)
    status = more_precise_status(status, facts.status)
    kind = kind_of(facts, status, has_wait=wait_s is not None)
    tokens, limit = facts.tokens, facts.token_limit
    if kind is FailureKind.CONTEXT_LENGTH:
        message_tokens, message_limit = overflow_counts(facts.message)
        tokens = message_tokens if tokens is None else tokens
        limit = message_limit if limit is None else limit
    return ProviderFailure(
        kind=kind,
        message=facts.message,
        retryable=kind in RETRYABLE_KINDS,
        retry_after_s=wait_s,
        code=facts.code,
        type=facts.type,
        param=facts.param,
        request_id=facts.request_id,
        tokens=tokens,
        token_limit=limit,
        raw=facts.raw,
    )
