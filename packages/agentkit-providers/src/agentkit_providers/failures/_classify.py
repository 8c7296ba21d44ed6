"""Failures as providers tell them: an HTTP answer or an error inside a stream, classified.

Pure, and the same for all protocols. `_error_body` reads what was said, `_failure_kinds` says
what kind of failure it is, `_retry_after` how long to wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace

from agentkit_core import FailureKind, JsonValue, ProviderFailure
from agentkit_providers.failures._context_length import overflow_counts
from agentkit_providers.failures._error_body import ErrorFacts, facts_of_body, facts_of_json
from agentkit_providers.failures._kinds import kind_of
from agentkit_providers.failures._retry_after import retry_after_s

RETRYABLE_KINDS: Final = frozenset(
    {
        FailureKind.RATE_LIMIT,
        FailureKind.OVERLOADED,
        FailureKind.SERVER,
        FailureKind.TIMEOUT,
        FailureKind.CONNECTION,
        FailureKind.STREAM_CUT,
    }
)
"""Kinds after which the same request may succeed."""

_REQUEST_IDS: Final = (
    "x-request-id",
    "request-id",
    "apim-request-id",
    "x-amzn-requestid",
    "cf-ray",
)


def classify_http(
    status: int, headers: Mapping[str, str], body: bytes, *, now_s: float | None = None
) -> ProviderFailure:
    """Say what an HTTP answer that is no success means.

    Args:
        status: The HTTP status.
        headers: The response's headers, names in any case.
        body: The body as far as it was read; may be empty, cut, or no JSON.
        now_s: Seconds since 1970, to read waits that are told as a moment; without it they
            are read by the response's own `date` header, if it has one.

    Returns:
        The failure. `retryable` follows `x-should-retry` where the provider sends it. Keys
        that the body repeats are still in it: see `scrubbed`.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    facts = facts_of_body(body)
    failure = _failure(facts, status, lower, now_s)
    request_id = next((lower[name] for name in _REQUEST_IDS if lower.get(name)), None)
    advised = lower.get("x-should-retry", "").strip().lower()
    return replace(
        failure,
        status=status,
        message=facts.message or f"the provider answered with HTTP status {status}",
        retryable=advised == "true" if advised in ("true", "false") else failure.retryable,
        request_id=request_id or facts.request_id,
    )


def classify_error(
    error: JsonValue, *, status: int | None = None, now_s: float | None = None
) -> ProviderFailure:
    """Say what an error inside a stream, or inside a body with a good status, means.

    Args:
        error: The error as JSON: the event that holds it, its error object, or a text.
        status: A status that is known from elsewhere; by default the error's own, if it names
            one. It helps to classify and is not kept, for the HTTP status was a good one.
        now_s: As for `classify_http`.
    """
    facts = facts_of_json(error, raw=error)
    failure = _failure(facts, facts.status if status is None else status, {}, now_s)
    if facts.message:
        return failure
    return replace(failure, message="the provider sent an error without a message")


def _failure(
    facts: ErrorFacts, status: int | None, headers: Mapping[str, str], now_s: float | None
) -> ProviderFailure:
    wait = retry_after_s(headers, facts.error, facts.message, now_s=now_s)
    kind = kind_of(facts, status, told_to_wait=wait is not None)
    tokens, limit = facts.tokens, facts.token_limit
    if kind is FailureKind.CONTEXT_LENGTH:
        said_tokens, said_limit = overflow_counts(facts.message)
        tokens = said_tokens if tokens is None else tokens
        limit = said_limit if limit is None else limit
    return ProviderFailure(
        kind=kind,
        message=facts.message,
        retryable=kind in RETRYABLE_KINDS,
        retry_after_s=wait,
        code=facts.code,
        type=facts.type,
        param=facts.param,
        request_id=facts.request_id,
        tokens=tokens,
        token_limit=limit,
        raw=facts.raw,
    )


def scrub(text: str, secrets: Iterable[str]) -> str:
    """Take secrets out of a text, as they are and as they stand in URLs.

    Args:
        text: Anything that people or logs will see.
        secrets: Keys and tokens; empty ones do nothing.
    """
    spellings = {form for secret in secrets if secret for form in (secret, quote(secret, safe=""))}
    # The longest first: one secret may begin with another.
    for spelling in sorted(spellings, key=len, reverse=True):
        text = text.replace(spelling, "[secret]")
    return text


def scrubbed(failure: ProviderFailure, secrets: Iterable[str]) -> ProviderFailure:
    """Take secrets out of everything that a failure says."""
    known = tuple(secrets)

    def clean(text: str | None) -> str | None:
        return None if text is None else scrub(text, known)

    return replace(
        failure,
        message=scrub(failure.message, known),
        code=clean(failure.code),
        type=clean(failure.type),
        param=clean(failure.param),
        request_id=clean(failure.request_id),
        raw=_scrubbed_json(failure.raw, known),
    )


def _scrubbed_json(value: JsonValue, secrets: tuple[str, ...]) -> JsonValue:
    match value:
        case str():
            return scrub(value, secrets)
        case list():
            return [_scrubbed_json(one, secrets) for one in value]
        case dict():
            return {
                scrub(name, secrets): _scrubbed_json(one, secrets) for name, one in value.items()
            }
        case _:
            return value
