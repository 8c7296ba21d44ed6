"""Waits before another attempt: bounded, at least what the provider asks for, or none at all."""

from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import FailureKind, ProviderFailure, RetryPolicy
from agentkit_core.provider import wait_before_retry_s

POLICY = RetryPolicy(max_attempts=5, first_wait_s=1.0, max_wait_s=60.0)


def failure(retry_after_s: float | None = None, *, retryable: bool = True) -> ProviderFailure:
    return ProviderFailure(
        kind=FailureKind.RATE_LIMIT,
        message="slow down",
        retryable=retryable,
        retry_after_s=retry_after_s,
    )


def wait(attempt: int = 1, jitter: float = 1.0, retry_after_s: float | None = None) -> float | None:
    return wait_before_retry_s(POLICY, failure(retry_after_s), attempt=attempt, jitter=jitter)


def test_the_wait_doubles_with_each_attempt() -> None:
    assert [wait(attempt) for attempt in (1, 2, 3, 4)] == [1.0, 2.0, 4.0, 8.0]


def test_what_is_not_worth_a_retry_gets_none_and_neither_does_the_last_attempt() -> None:
    hopeless = failure(retryable=False)

    assert wait_before_retry_s(POLICY, hopeless, attempt=1, jitter=0.5) is None
    assert wait(attempt=5) is None


def test_x01_what_the_provider_asks_for_is_a_minimum_and_a_longer_wait_is_not_waited() -> None:
    assert wait(retry_after_s=7.0) == 7.0
    assert wait(attempt=4, retry_after_s=1.5) == 8.0
    assert wait(retry_after_s=86400.0) is None
    assert wait(retry_after_s=float("nan")) is None


@given(st.integers(1, 4), st.floats(), st.none() | st.floats(0, 60))
def test_any_wait_is_between_what_was_asked_for_and_the_longest(
    attempt: int, jitter: float, retry_after_s: float | None
) -> None:
    result = wait(attempt, jitter, retry_after_s)

    assert result is not None
    assert max(2.0 ** (attempt - 1) / 2, retry_after_s or 0.0) <= result <= POLICY.max_wait_s


def test_a_very_late_attempt_waits_no_longer_than_the_longest() -> None:
    patient = RetryPolicy(max_attempts=10_000)

    assert wait_before_retry_s(patient, failure(), attempt=5_000, jitter=1.0) == patient.max_wait_s
