"""Asking again, for models that are used on their own; in a run, the loop does it.

How long to wait, if at all, is the policy's to say (`wait_before_retry_s` of
`agentkit_core.provider`); here is waited and counted. A failed attempt is told and then forgotten:
what it brought is never joined to what the next one brings.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncGenerator, Callable, Generator

import anyio

from agentkit_core import ProviderFailure, RetryPolicy, Usage
from agentkit_core.provider import ModelEvent, ResponseFold, wait_before_retry_s
from agentkit_providers.model._attempt import AttemptFailed, OnRetry
from agentkit_providers.transport._concurrent import BatchStream

Batch = tuple[ModelEvent, ...]
Batches = Generator[Batch, None, None]


class Retries:
    """The attempts at one request.

    Args:
        policy: How often to ask and how long to wait.
        on_retry: Is told of each attempt that is followed by another.
    """

    def __init__(self, policy: RetryPolicy, on_retry: OnRetry | None) -> None:
        self._policy = policy
        self._on_retry = on_retry
        self._attempt = 1

    def wait_s(self, failure: ProviderFailure | None, usage: Usage) -> float | None:
        """Say how long to wait before the next attempt, and tell that there will be one.

        Args:
            failure: How the last attempt ended; None where it did not fail.
            usage: What it used.

        Returns:
            Seconds, or None where what has come is the answer.
        """
        if failure is None:
            return None
        jitter = random.random()  # noqa: S311 - spreads clients, guards nothing
        wait_s = wait_before_retry_s(self._policy, failure, attempt=self._attempt, jitter=jitter)
        if wait_s is not None:
            if self._on_retry is not None:
                self._on_retry(
                    AttemptFailed(
                        attempt=self._attempt, failure=failure, wait_s=wait_s, usage=usage
                    )
                )
            self._attempt += 1
        return wait_s


class _Attempt:
    """What one attempt has brought while nothing of it is shown: it may yet be forgotten."""

    def __init__(self, retries: Retries) -> None:
        self._retries = retries
        self._fold = ResponseFold()
        self._held: Batch = ()
        self._shown = False
        self.wait_s: float | None = None
        """How long to wait before the next attempt; None while there is no need of one."""

    def take(self, events: Batch) -> Batch:
        """Take the next events; return those that can be shown, which may be none."""
        if self._shown:
            return events
        self._held += events
        self._fold.feed(events)
        if self._fold.failure is not None:
            self.wait_s = self._retries.wait_s(self._fold.failure, self._fold.finish().usage)
            self._shown = self.wait_s is None
        else:
            self._shown = self._fold.has_content or self._fold.ended
        return self._held if self._shown else ()


async def retried(
    first: BatchStream, again: Callable[[], BatchStream], retries: Retries
) -> AsyncGenerator[Batch, None]:
    """Give the batches of the first attempt of which something can be shown, or of the last one."""
    stream = first
    while True:
        attempt = _Attempt(retries)
        try:
            async for events in stream:
                if shown := attempt.take(events):
                    yield shown
        finally:
            await stream.aclose()
        if attempt.wait_s is None:
            return
        await anyio.sleep(attempt.wait_s)
        stream = again()


def retried_blocking(first: Batches, again: Callable[[], Batches], retries: Retries) -> Batches:
    """Do the same without an event loop."""
    stream = first
    while True:
        attempt = _Attempt(retries)
        try:
            for events in stream:
                if shown := attempt.take(events):
                    yield shown
        finally:
            stream.close()
        if attempt.wait_s is None:
            return
        time.sleep(attempt.wait_s)
        stream = again()
