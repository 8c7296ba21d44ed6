"""Retries: whether to try a failed model call again, and after how many seconds.

The loop and model clients that are used on their own share this policy. The functions are pure: the
random number is an argument, and the caller does the waiting.
"""

from __future__ import annotations

from agentkit_core._failure import ProviderFailure
from agentkit_core.settings import Settings


class RetryPolicy(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """How often to try a model call, and how long to wait between attempts.

    Attributes:
        max_attempts: The number of attempts at one model call, the first included; 1 means no
            retry.
        first_wait_s: The wait after the first attempt, in seconds; it doubles after each further
            attempt.
        max_wait_s: The longest wait, in seconds. If a provider asks for a longer one, there is no
            further attempt; the failure says how long the provider asked for.
    """

    max_attempts: int = 3
    first_wait_s: float = 0.5
    max_wait_s: float = 60.0


def wait_before_retry_s(
    policy: RetryPolicy, failure: ProviderFailure, *, attempt: int, jitter: float
) -> float | None:
    """Return how many seconds to wait before the next attempt; None means to give up.

    The wait grows exponentially and is shortened at random by up to a half, so that many clients
    do not retry at the same moment. It is never shorter than the provider asks for.

    Args:
        policy: How often to try, and how long to wait.
        failure: Why the last attempt failed.
        attempt: The number of the last attempt, from 1.
        jitter: A random number from 0 (shortest wait) to 1 (longest); clamped to that range.
    """
    if not failure.retryable or attempt >= policy.max_attempts:
        return None
    shortest = failure.retry_after_s or 0.0
    if not shortest <= policy.max_wait_s:  # also true for NaN
        return None
    # A larger exponent gives no longer wait, and would overflow a float.
    doublings = min(attempt - 1, 64)
    wait = min(policy.first_wait_s * 2.0**doublings, policy.max_wait_s)
    return max(shortest, wait * (1 + min(1.0, max(0.0, jitter))) / 2)
