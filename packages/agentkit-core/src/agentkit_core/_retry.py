"""Retries: whether a failed model call is worth another attempt, and after how long.

One policy for whoever asks again: the loop, and model clients that are used on their own. Pure:
the chance is an argument, and the waiting is done elsewhere.
"""

from __future__ import annotations

from agentkit_core._failure import ProviderFailure
from agentkit_core.values import Record


class RetryPolicy(Record, frozen=True, kw_only=True, omit_defaults=True):
    """How often a model is asked again, and how long to wait before it.

    Attributes:
        max_attempts: Attempts at one model call, the first included; 1 means never again.
        first_wait_s: The wait after the first attempt; it doubles after each further one.
        max_wait_s: The longest wait. A provider that asks for a longer one is not asked again, and
            the failure says for how long it asked.
    """

    max_attempts: int = 3
    first_wait_s: float = 0.5
    max_wait_s: float = 60.0


def wait_before_retry_s(
    policy: RetryPolicy, failure: ProviderFailure, *, attempt: int, jitter: float
) -> float | None:
    """Say how many seconds to wait before the next attempt; None to give up.

    The wait grows exponentially and is shortened at random by up to a half, so that many
    clients do not come back all at once. What the provider asks for is a minimum.

    Args:
        policy: How often and how long.
        failure: What went wrong.
        attempt: The attempt that failed, from 1.
        jitter: A random number between 0 (shortest) and 1 (longest); clamped.
    """
    if not failure.retryable or attempt >= policy.max_attempts:
        return None
    least = failure.retry_after_s or 0.0
    if not least <= policy.max_wait_s:  # nor if it is no number
        return None
    # Any exponent beyond this is longer than any wait, and a float holds it.
    doublings = min(attempt - 1, 64)
    wait = min(policy.first_wait_s * 2.0**doublings, policy.max_wait_s)
    return max(least, wait * (1 + min(1.0, max(0.0, jitter))) / 2)
