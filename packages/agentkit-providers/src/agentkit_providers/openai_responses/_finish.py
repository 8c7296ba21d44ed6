"""How answers end: the vendors' statuses, and the failures that they mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import FailureKind, FinishReason, JsonValue, ProviderFailure
from agentkit_providers.failures._classify import classify_error

SENDER: Final = "Responses"
"""What people call the protocol."""

_INCOMPLETE: Final[Mapping[str, FinishReason]] = {
    "max_output_tokens": FinishReason.MAX_TOKENS,
    "max_tokens": FinishReason.MAX_TOKENS,
    "length": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.BLOCKED,
}
"""Why an answer is incomplete."""

_FAILED: Final = frozenset({"failed", "cancelled", "canceled", "expired", "error"})

_OF_THE_REQUEST: Final = ("invalid_", "image_", "unsupported_", "empty_", "failed_to_download_")
"""How codes begin that blame the request although the answer had begun."""


def finish_reason(status: str, why: str, *, calls: bool, refused: bool) -> FinishReason:
    """Map the status that an answer ended with.

    Args:
        status: The vendor's own; it is none of those that `failed_status` knows.
        why: Why the answer is incomplete, if it is and the vendor says so.
        calls: Whether the answer has calls for the client.
        refused: Whether the model refused.
    """
    if refused:
        return FinishReason.BLOCKED
    if status == "incomplete":
        return _INCOMPLETE.get(why, FinishReason.OTHER)
    if status != "completed":
        return FinishReason.OTHER
    return FinishReason.TOOL_CALL if calls else FinishReason.COMPLETED


def failed_status(status: str) -> bool:
    """Whether a status means that the answer failed."""
    return status in _FAILED


def failure_of(error: JsonValue, status: str) -> ProviderFailure:
    """Say what the error of an answer means.

    Args:
        error: The error object, or the event that holds it; None where there is none.
        status: The answer's status.
    """
    if not error:
        return ProviderFailure(
            kind=FailureKind.SERVER,
            message=f"the provider ended the answer with the status {status!r}",
            retryable=True,
            code=status,
        )
    failure = classify_error(error)
    if failure.code is not None and failure.code.startswith(_OF_THE_REQUEST):
        return classify_error(error, status=400)
    return failure


def in_band(event: Mapping[str, Any]) -> ProviderFailure:
    """Say what an `error` event means, whose facts stand in it or in its `error`."""
    if event.get("error") or event.get("type") != "error":
        return failure_of(dict(event), "failed")
    flat = {name: value for name, value in event.items() if name != "type"}
    return replace(failure_of(flat, "failed"), raw=dict(event))


def without_output() -> ProviderFailure:
    """A whole answer that answers nothing."""
    return ProviderFailure(
        kind=FailureKind.PROTOCOL, message="the answer holds no output", retryable=True
    )
