"""What a caller learns of a failed attempt that is followed by another."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from agentkit_core import ProviderFailure, Usage


class AttemptFailed(Struct, frozen=True, kw_only=True):
    """An attempt failed, and another one follows.

    Attributes:
        attempt: The number of the attempt, from 1.
        failure: How it failed.
        wait_s: The wait before the next attempt, in seconds.
        usage: What the attempt used, as far as it is known. The response's usage is only that of
            the last attempt.
    """

    attempt: int
    failure: ProviderFailure
    wait_s: float
    usage: Usage


OnRetry = Callable[[AttemptFailed], None]
"""Called with each failed attempt that is followed by another, before the wait. What it raises
reaches the caller of the model."""
