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

_SHOWN: Final = 2000
"""How many characters of a message are shown."""
_KEPT_WHOLE: Final = 8192
"""Up to how many bytes an error body is kept whole."""

_KIND_OF_CODE: Final = {
    code: kind
    for kind, codes in {
        FailureKind.BILLING: "insufficient_quota billing_error insufficient_balance "
        "insufficient_credits payment_required",
        FailureKind.AUTH: "invalid_api_key api_key_invalid authentication_error permission_error "
        "unauthenticated unauthorized permission_denied forbidden access_denied",
        FailureKind.NOT_FOUND: "not_found_error model_not_found deployment_not_found not_found "
        "invalid_model model_not_supported",
        FailureKind.RATE_LIMIT: "rate_limit_error rate_limit_exceeded rate_limit_reached "
        "rate_limited too_many_requests resource_exhausted",
        FailureKind.OVERLOADED: "overloaded_error overloaded engine_overloaded unavailable "
        "service_unavailable",
        FailureKind.CONTEXT_LENGTH: "context_length_exceeded exceed_context_size_error "
        "request_too_large",
        FailureKind.CONTENT_FILTER: "content_filter content_policy_violation",
        FailureKind.INVALID_ANSWER: "tool_use_failed",
        FailureKind.TIMEOUT: "deadline_exceeded timeout_error timeout",
    }.items()
    for code in codes.replace("_", "").split()
}
"""By code, type or reason, without case and punctuation."""
_KIND_OF_MESSAGE: Final = (
    (r"prompt is too long|maximum context length|context window", 400, FailureKind.CONTEXT_LENGTH),
    (r"(incorrect|invalid|missing|valid) api key|api key not valid", 400, FailureKind.AUTH),
    (r"not a valid model|invalid model", 400, FailureKind.NOT_FOUND),
    (r"flagged|moderation|content policy", 400, FailureKind.CONTENT_FILTER),
    (r"credit balance|requires more credits|current quota", 400, FailureKind.BILLING),
    (r"overloaded|at capacity|temporarily unavailable", 500, FailureKind.OVERLOADED),
)
"""By message, where the status is in this hundred or not known."""
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
        FailureKind.INVALID_ANSWER,
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
    candidates = (inner.get("message"), inner.get("detail"), outer.get("error"), body)
    message = next((text for text in candidates if isinstance(text, str) and text.strip()), "")
    return whole_message(message, body)


def whole_message(message: str, body: Any) -> str:
    """The message of a failure: the vendor's, and then that of the provider behind an aggregator.

    Args:
        message: The vendor's message.
        body: The error body.

    Returns:
        The message without white space around it; of a long one, the first 2000 characters.
    """
    message, metadata = message.strip(), _inner(body).get("metadata")
    behind = metadata.get("raw") if isinstance(metadata, dict) else None
    if isinstance(behind, str) and behind.strip() and behind not in message:
        message = f"{message}: {behind.strip()}" if message else behind.strip()
    return message if len(message) <= _SHOWN else message[:_SHOWN] + "…"


def _reasons(inner: dict[str, Any]) -> list[Any]:
    """The reasons in Google's list of details."""
    details = inner.get("details")
    entries = details if isinstance(details, list) else []
    return [entry.get("reason") for entry in entries if isinstance(entry, dict)]


def _kind(names: list[str], message: str, status: int | None) -> FailureKind:
    for name in names:
        code = re.sub(r"[^a-z0-9]", "", name.lower())
        if code in _KIND_OF_CODE:
            return _KIND_OF_CODE[code]
    for pattern, hundred, kind in _KIND_OF_MESSAGE:
        fits = status is None or (hundred == status // 100 * 100 and status != 429)
        if fits and re.search(pattern, message, re.IGNORECASE):
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
