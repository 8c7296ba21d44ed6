"""Answers that break off or cannot be read: the failures that every protocol may meet."""

from __future__ import annotations

from typing import Final

from agentkit_core import FailureKind, ProviderFailure

_SHOWN: Final = 200
"""How much of a payload that cannot be read is shown."""
_RAW: Final = 8192
"""How much of it is kept."""


def unreadable(payload: bytes, error: Exception, sender: str) -> ProviderFailure:
    """An event that is no JSON, or not of the shape that the protocol has.

    Args:
        payload: The event, or the body.
        error: What reading it came to.
        sender: What people call the protocol.
    """
    shown = payload[:_SHOWN].decode("utf-8", "replace")
    return ProviderFailure(
        kind=FailureKind.PROTOCOL,
        message=f"the answer is not what {sender} send ({error}): {shown}",
        raw=payload[:_RAW].decode("utf-8", "replace"),
    )


def cut_off() -> ProviderFailure:
    """A body that is over before its answer is."""
    return ProviderFailure(
        kind=FailureKind.STREAM_CUT,
        message="the answer ended before its end mark",
        retryable=True,
    )
