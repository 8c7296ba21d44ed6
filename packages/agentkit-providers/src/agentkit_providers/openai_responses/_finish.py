"""How responses end: the vendors' statuses, and the failures that some of them mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import FailureKind, FinishReason, JsonValue, ProviderFailure
from agentkit_providers.failures._classify import classify_error

_INCOMPLETE: Final[Mapping[str, FinishReason]] = {
    "max_output_tokens": FinishReason.MAX_TOKENS,
    "max_tokens": FinishReason.MAX_TOKENS,
    "length": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.BLOCKED,
}
"""Why a response is incomplete, in the vendor's word."""

_FAILED: Final = frozenset({"failed", "cancelled", "canceled", "expired", "error"})

_REQUEST_CODES: Final = ("invalid_", "image_", "unsupported_", "empty_", "failed_to_download_")
"""How codes begin that blame the request, although the response had begun."""


def finish_reason(status: str, detail: str, *, calls: bool, refused: bool) -> FinishReason:
    """Map a vendor's status to our finish reason.

    Args:
        status: The vendor's status; not one of a failed response.
        detail: Why the response is incomplete; empty where it is complete or the vendor does not
            say.
        calls: Whether the response has tool calls for the client.
        refused: Whether the model refused.
    """
    if refused:
        return FinishReason.BLOCKED
    if status == "incomplete":
        return _INCOMPLETE.get(detail, FinishReason.OTHER)
    if status != "completed":
        return FinishReason.OTHER
    return FinishReason.TOOL_CALL if calls else FinishReason.COMPLETED


def failed_finish(status: str, error: JsonValue) -> ProviderFailure | None:
    """The failure that a response ended with; None for a response that did not fail.

    Args:
        status: The response's status.
        error: The response's error; None where it has none.
    """
    if status in _FAILED or error:
        return status_failure(error, status)
    return None


def status_failure(error: JsonValue, status: str) -> ProviderFailure:
    """Classify the error of a response.

    Args:
        error: The error object, or the event that holds it; None where there is none.
        status: The response's status.
    """
    if not error:
        return ProviderFailure(
            kind=FailureKind.SERVER,
            message=f"the provider ended the response with the status {status!r}",
            retryable=True,
            code=status,
        )
    failure = classify_error(error)
    if failure.code is not None and failure.code.startswith(_REQUEST_CODES):
        return classify_error(error, status=400)
    return failure


def error_event_failure(event: Mapping[str, Any]) -> ProviderFailure:
    """Classify an `error` event, whose facts stand in the event itself or in its `error`."""
    if event.get("error") or event.get("type") != "error":
        return status_failure(dict(event), "failed")
    error = {name: value for name, value in event.items() if name != "type"}
    return replace(status_failure(error, "failed"), raw=dict(event))
