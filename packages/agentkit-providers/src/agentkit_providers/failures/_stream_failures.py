"""Failures that every decoder may find: unreadable payloads, cut-off bodies, errors in a stream."""

from __future__ import annotations

from typing import Any, Final

from agentkit_core import FailureKind, ProviderFailure
from agentkit_providers._framing._lenient_json import read_leniently

_SHOWN: Final = 200
"""How many bytes of an unreadable payload the message shows."""
_RAW: Final = 8192
"""How many bytes of it `raw` keeps."""


def unreadable(payload: bytes, error: Exception, sender: str) -> ProviderFailure:
    """Make the failure for a payload that is not JSON, or not of the protocol's shape.

    Args:
        payload: The event, or the body.
        error: Why it could not be read.
        sender: What people call the protocol.
    """
    shown = payload[:_SHOWN].decode("utf-8", "replace")
    return ProviderFailure(
        kind=FailureKind.PROTOCOL,
        message=f"the response is not valid {sender} ({error}): {shown}",
        raw=payload[:_RAW].decode("utf-8", "replace"),
    )


def cut_off(misfit: ProviderFailure | None = None) -> ProviderFailure:
    """Make the failure for a body that ends before its response is complete.

    Args:
        misfit: The failure for a payload that did not fit, where nothing else came; it says more.
    """
    return misfit or ProviderFailure(
        kind=FailureKind.STREAM_CUT,
        message="the response ended before its end mark",
        retryable=True,
    )


def empty_response(content: str) -> ProviderFailure:
    """Make the failure for a complete response that holds nothing to read.

    Args:
        content: What is missing, in the protocol's word: `choice`, `message`.
    """
    return ProviderFailure(
        kind=FailureKind.PROTOCOL, message=f"the response holds no {content}", retryable=True
    )


def find_error(payload: bytes) -> Any:
    """Find the error that a payload without anything known may be.

    Returns:
        The whole payload as JSON where it has the shape of an error: an `error`, the type or object
        `error`, a `detail`, or a `message` that is a text. None otherwise.
    """
    try:
        value = read_leniently(payload)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and (
        value.get("error")
        or "error" in (value.get("type"), value.get("object"))
        or value.get("detail")
        or isinstance(value.get("message"), str)
    ):
        return value
    return None
