"""How responses end: the vendors' statuses, and the failures that some of them mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import FailureKind, FinishReason, JsonValue, ProviderFailure
from agentkit_providers._protocol_kit._lenient_values import text_or_empty
from agentkit_providers.failures._classify import classify_error

_INCOMPLETE: Final[Mapping[str, FinishReason]] = {
    "max_output_tokens": FinishReason.MAX_TOKENS,
    "max_tokens": FinishReason.MAX_TOKENS,
    "length": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.BLOCKED,
}
"""Why a response is incomplete, in the vendor's word."""

_GROWING: Final = frozenset(
    {"queued", "in_progress", "pending", "processing", "running", "created", "starting"}
)
"""Statuses of a response that is not there yet, as with `background`."""
_FAILED: Final = frozenset({"failed", "cancelled", "canceled", "expired", "error"})

_REQUEST_CODES: Final = ("invalid_", "image_", "unsupported_", "empty_", "failed_to_download_")
"""How codes begin that blame the request, although the response had begun."""


_RUN_BY_CLIENT: Final = frozenset(
    {"computer_call", "local_shell_call", "shell_call", "apply_patch_call"}
)
"""Types of items that the client runs, unless the response has their output."""


def is_growing(status: str) -> bool:
    """Whether a response is not there yet: it grows in the background."""
    return status in _GROWING


def pending_failure(awaited: str) -> ProviderFailure:
    """Make the failure for a response that cannot go on by itself.

    Args:
        awaited: What it waits for: the status of a response that is not there yet, or the type of
            an item that the client must run or answer.
    """
    if is_growing(awaited):
        message = (
            f"the response is not there yet (status {awaited!r}); leave out the option "
            f"'background', since what grows in the background is not waited for"
        )
    else:
        message = (
            f"the response waits until the client runs or answers its item {awaited!r}; answer it "
            f"with an item of your own, or leave out the tool that it belongs to"
        )
    return ProviderFailure(kind=FailureKind.INVALID_REQUEST, message=message, code=awaited)


def awaited_item(items: Iterable[Mapping[str, Any]]) -> str | None:
    """Find an item that the client must run or answer before the response can go on.

    The vendor runs a `shell_call` in a container and a `tool_search_call` unless it names the
    client (`environment`, `execution`); see https://platform.openai.com/docs/guides/tools-shell and
    https://platform.openai.com/docs/guides/tools-tool-search.

    Args:
        items: The output items of a response.

    Returns:
        The item's type; None where nothing is awaited.
    """
    known = list(items)
    answered = {
        text_or_empty(item.get(name))
        for item in known
        for name in ("call_id", "approval_request_id")
        if str(item.get("type")).endswith(("_output", "_response")) or name != "call_id"
    } - {""}
    for item in known:
        kind = text_or_empty(item.get("type"))
        item_id = item.get("id") if kind.endswith("approval_request") else item.get("call_id")
        if _waits_for_client(kind, item) and text_or_empty(item_id) not in answered:
            return kind
    return None


def _waits_for_client(kind: str, item: Mapping[str, Any]) -> bool:
    if kind == "shell_call":
        environment = item.get("environment")
        place = environment.get("type") if isinstance(environment, Mapping) else None
        return not str(place).startswith("container")
    if kind == "tool_search_call":
        return item.get("execution") == "client"
    return kind in _RUN_BY_CLIENT or kind.endswith("approval_request")


def finish_reason(status: str, detail: str, *, calls: bool, refused: bool) -> FinishReason:
    """Map a vendor's status to our finish reason.

    Args:
        status: The vendor's status; not one of a failed response.
        detail: Why the response is incomplete; empty where it is complete or the vendor does not
            say.
        calls: Whether the response has tool calls or other items for the client.
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
