"""What is told of an attempt that failed, where a model is asked again."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from agentkit_core import ProviderFailure, Usage


class AttemptFailed(Struct, frozen=True, kw_only=True):
    """An attempt failed, and there will be another one.

    Attributes:
        attempt: Which one, from 1.
        wait_s: How long is waited before the next one, in seconds.
        usage: What it used, as far as it is known; the response's usage is that of the last
            attempt.
    """

    attempt: int
    failure: ProviderFailure
    wait_s: float
    usage: Usage


OnRetry = Callable[[AttemptFailed], None]
"""Is told of each attempt that is followed by another, before the wait; what it raises goes on to
whoever asked."""
