"""Retries, for a model that is used on its own; in a run, the loop retries.

`wait_before_retry_s` of `agentkit_core.provider` decides whether and how long to wait; this module
waits and counts. A failed attempt is reported and then forgotten: its content is never joined to
that of the next attempt.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncGenerator, Callable, Generator
from inspect import iscoroutine, iscoroutinefunction
from typing import Final

import anyio

from agentkit_core import ProviderFailure, RetryPolicy, Usage
from agentkit_core.provider import ModelEvent, ResponseFold, wait_before_retry_s
from agentkit_providers.model._attempt import AttemptFailed, OnRetry
from agentkit_providers.transport._concurrent import BatchStream

_ASYNC: Final = "on_retry is asynchronous and nobody awaits it; pass a plain function"

Batch = tuple[ModelEvent, ...]
Batches = Generator[Batch, None, None]


class Retries:
    """The attempts at one request.

    Args:
        policy: How often to try and how long to wait.
        on_retry: Called with each attempt that is followed by another.

    Raises:
        TypeError: `on_retry` is async; nobody would await what it returns.
    """

    def __init__(self, policy: RetryPolicy, on_retry: OnRetry | None) -> None:
        if iscoroutinefunction(on_retry):
            raise TypeError(_ASYNC)
        self._policy = policy
        self._on_retry = on_retry
        self._attempt = 1

    def wait_s(self, failure: ProviderFailure | None, usage: Usage) -> float | None:
        """Decide whether another attempt follows, and call `on_retry` if it does.

        Args:
            failure: How the last attempt failed; None where it did not.
            usage: What the last attempt used.

        Returns:
            The wait before the next attempt in seconds; None where there is no other attempt.
        """
        if failure is None:
            return None
        jitter = random.random()  # noqa: S311 - spreads clients, guards nothing
        wait_s = wait_before_retry_s(self._policy, failure, attempt=self._attempt, jitter=jitter)
        if wait_s is not None:
            if self._on_retry is not None:
                returned: object = self._on_retry(
                    AttemptFailed(
                        attempt=self._attempt, failure=failure, wait_s=wait_s, usage=usage
                    )
                )
                if iscoroutine(returned):
                    returned.close()
                    raise TypeError(_ASYNC)
            self._attempt += 1
        return wait_s


class _Attempt:
    """The events of one attempt, held back while the attempt may still be forgotten."""

    def __init__(self, retries: Retries) -> None:
        self._retries = retries
        self._fold = ResponseFold()
        self._held: Batch = ()
        self._shown = False
        self.wait_s: float | None = None
        """The wait before the next attempt; None while none is needed."""

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


async def retry_stream(
    first: BatchStream, attempt: Callable[[], BatchStream], retries: Retries
) -> AsyncGenerator[Batch, None]:
    """Yield the batches of the first attempt that has content, or of the last one.

    Args:
        first: The first attempt.
        attempt: Starts another attempt.
        retries: Decides about further attempts.
    """
    stream = first
    while True:
        current = _Attempt(retries)
        try:
            async for events in stream:
                if shown := current.take(events):
                    yield shown
        finally:
            await stream.aclose()
        if current.wait_s is None:
            return
        await anyio.sleep(current.wait_s)
        stream = attempt()


def retry_stream_blocking(
    first: Batches, attempt: Callable[[], Batches], retries: Retries
) -> Batches:
    """Do the same as `retry_stream` without an event loop."""
    stream = first
    while True:
        current = _Attempt(retries)
        try:
            for events in stream:
                if shown := current.take(events):
                    yield shown
        finally:
            stream.close()
        if current.wait_s is None:
            return
        time.sleep(current.wait_s)
        stream = attempt()
