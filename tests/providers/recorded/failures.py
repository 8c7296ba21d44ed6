"""Errors of vendors, read plainly: an HTTP error, or an error inside an answer.

The kind follows what the vendors document of their codes, then the message where a vendor's code
says little, then the HTTP status:

- https://platform.openai.com/docs/guides/error-codes
- https://docs.anthropic.com/en/api/errors
- https://ai.google.dev/gemini-api/docs/troubleshooting
- https://openrouter.ai/docs/api-reference/errors
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from agentkit_core import FailureKind, ProviderFailure
from providers.recorded.comparing import unknown
from providers.recorded.exchanges import Exchange

_KEPT_WHOLE: Final = 8192
"""Up to how many bytes an error body is kept whole."""

_KIND_OF_CODE: Final = {
    "insufficient_quota": FailureKind.BILLING,
    "billing_error": FailureKind.BILLING,
    "invalid_api_key": FailureKind.AUTH,
    "API_KEY_INVALID": FailureKind.AUTH,
    "authentication_error": FailureKind.AUTH,
    "permission_error": FailureKind.AUTH,
    "UNAUTHENTICATED": FailureKind.AUTH,
    "PERMISSION_DENIED": FailureKind.AUTH,
    "forbidden": FailureKind.AUTH,
    "not_found_error": FailureKind.NOT_FOUND,
    "model_not_found": FailureKind.NOT_FOUND,
    "DeploymentNotFound": FailureKind.NOT_FOUND,
    "invalid_model": FailureKind.NOT_FOUND,
    "NOT_FOUND": FailureKind.NOT_FOUND,
    "rate_limit_error": FailureKind.RATE_LIMIT,
    "rate_limit_exceeded": FailureKind.RATE_LIMIT,
    "RateLimitReached": FailureKind.RATE_LIMIT,
    "RESOURCE_EXHAUSTED": FailureKind.RATE_LIMIT,
    "overloaded_error": FailureKind.OVERLOADED,
    "UNAVAILABLE": FailureKind.OVERLOADED,
    "context_length_exceeded": FailureKind.CONTEXT_LENGTH,
    "exceed_context_size_error": FailureKind.CONTEXT_LENGTH,
    "request_too_large": FailureKind.CONTEXT_LENGTH,
    "content_filter": FailureKind.CONTENT_FILTER,
    "content_policy_violation": FailureKind.CONTENT_FILTER,
    "DEADLINE_EXCEEDED": FailureKind.TIMEOUT,
    "timeout_error": FailureKind.TIMEOUT,
    "api_error": FailureKind.SERVER,
    "server_error": FailureKind.SERVER,
    "INTERNAL": FailureKind.SERVER,
}
_KIND_OF_MESSAGE: Final = (
    (r"(incorrect|invalid|missing|valid) api key|api key not valid", FailureKind.AUTH),
    (r"not a valid model|invalid model", FailureKind.NOT_FOUND),
    (r"prompt is too long|maximum context length|context window", FailureKind.CONTEXT_LENGTH),
    (r"credit balance|requires more credits", FailureKind.BILLING),
)
_KIND_OF_STATUS: Final = {
    401: FailureKind.AUTH,
    402: FailureKind.BILLING,
    403: FailureKind.AUTH,
    404: FailureKind.NOT_FOUND,
    408: FailureKind.TIMEOUT,
    413: FailureKind.CONTEXT_LENGTH,
    429: FailureKind.RATE_LIMIT,
    503: FailureKind.OVERLOADED,
    504: FailureKind.TIMEOUT,
    529: FailureKind.OVERLOADED,
}
WORTH_A_RETRY: Final = frozenset(
    {
        FailureKind.RATE_LIMIT,
        FailureKind.OVERLOADED,
        FailureKind.SERVER,
        FailureKind.TIMEOUT,
        FailureKind.CONNECTION,
        FailureKind.STREAM_CUT,
    }
)
"""Kinds after which the same request may succeed later."""


def http_failure(exchange: Exchange) -> ProviderFailure:
    """Read an answer whose HTTP status says that it is an error."""
    body = exchange["response"] if "response" in exchange else exchange["sse"]
    return _failure(
        body, exchange["status"], wait=exchange.get("retry_after"), status=exchange["status"]
    )


def failure_inside(error: Any) -> ProviderFailure:
    """Read an error inside an answer whose HTTP status was good."""
    named = [str(_inner(error).get(name)) for name in ("status_code", "code")]
    status = next((int(code) for code in named if re.fullmatch("[45][0-9][0-9]", code)), None)
    return _failure(error, status, wait=None, status=None)


def _failure(body: Any, by_status: int | None, *, wait: Any, status: int | None) -> ProviderFailure:
    outer = body if isinstance(body, dict) else {}
    inner = _inner(body)
    message = _message(inner, outer, body)
    code = inner.get("code", outer.get("code"))
    names = [code, *_reasons(inner), inner.get("type"), inner.get("status")]
    kind = _kind([name for name in names if isinstance(name, str)], message, by_status)
    size = len(json.dumps(body, ensure_ascii=False).encode())
    in_words = kind is FailureKind.CONTEXT_LENGTH
    return ProviderFailure(
        kind=kind,
        message=message,
        retryable=kind in WORTH_A_RETRY,
        retry_after_s=_wait(wait, inner, message),
        status=status,
        code=None if code in (None, "") else str(code),
        type=inner.get("type") or (inner.get("status") if _is_word(inner.get("status")) else None),
        param=inner.get("param") or None,
        request_id=outer.get("request_id") or inner.get("request_id") or None,
        tokens=_count(inner.get("n_prompt_tokens"), "tokens", message, in_words),
        token_limit=_count(inner.get("n_ctx"), "token_limit", message, in_words),
        raw=body if size <= _KEPT_WHOLE else unknown("ProviderFailure.raw", bool),
    )


def _inner(body: Any) -> dict[str, Any]:
    """The error object: in `error`, or the body itself."""
    if not isinstance(body, dict):
        return {}
    error = body.get("error")
    return error if isinstance(error, dict) else body


def _message(inner: dict[str, Any], outer: dict[str, Any], body: Any) -> str:
    """The vendor's message, and after it what the provider behind an aggregator said."""
    candidates = (inner.get("message"), inner.get("detail"), outer.get("error"), body)
    message = next(
        (text for text in candidates if isinstance(text, str) and text.strip()), ""
    ).strip()
    metadata = inner.get("metadata")
    behind = metadata.get("raw") if isinstance(metadata, dict) else None
    if isinstance(behind, str) and behind.strip() and behind not in message:
        return f"{message}: {behind.strip()}" if message else behind.strip()
    return message


def _reasons(inner: dict[str, Any]) -> list[Any]:
    """The reasons in Google's list of details."""
    details = inner.get("details")
    entries = details if isinstance(details, list) else []
    return [entry.get("reason") for entry in entries if isinstance(entry, dict)]


def _kind(names: list[str], message: str, status: int | None) -> FailureKind:
    for name in names:
        if name in _KIND_OF_CODE:
            return _KIND_OF_CODE[name]
    for pattern, kind in _KIND_OF_MESSAGE:
        if status in (None, 400, 402, 403, 422) and re.search(pattern, message, re.IGNORECASE):
            return kind
    if status is None:
        return FailureKind.SERVER
    default = FailureKind.SERVER if status >= 500 else FailureKind.INVALID_REQUEST
    return _KIND_OF_STATUS.get(status, default)


def _wait(header: Any, inner: dict[str, Any], message: str) -> Any:
    if header is not None:
        if str(header).isdigit():
            return float(header)
        return unknown("ProviderFailure.retry_after_s", lambda wait: wait is None)
    details = inner.get("details")
    delays = [
        entry["retryDelay"]
        for entry in (details if isinstance(details, list) else [])
        if isinstance(entry, dict) and "retryDelay" in entry
    ]
    words = re.search(r"(?:retry|try again) in ([0-9.]+) ?s", message)
    if delays:
        return float(delays[0].removesuffix("s"))
    return float(words.group(1)) if words else None


def _count(field: Any, name: str, message: str, in_words: bool) -> Any:
    if isinstance(field, int):
        return field
    numbers = {int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", message)}
    if not in_words:
        return None
    return unknown(f"ProviderFailure.{name}", lambda count: count is None or count in numbers)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value)
