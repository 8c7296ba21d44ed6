"""Requests whose key a function gives: the key is fetched first, and once more if it is refused.

A token may expire between two requests, and what fetches tokens may not notice. So the first answer
that refuses the key is not shown: the function is called again and the request is sent again, once.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, closing
from typing import Any

import anyio
from msgspec.structs import replace

from agentkit_core import FailureKind, ProviderFailure
from agentkit_core.provider import ModelEvent, ResponseFailed
from agentkit_providers._secrets._secret import Secret
from agentkit_providers.failures._refused_key import refuses_key
from agentkit_providers.model._key_function import KeyFunction
from agentkit_providers.transport import _blocking, _concurrent
from agentkit_providers.transport._call import Call

Batch = tuple[ModelEvent, ...]


class _Sending:
    """The attempts to send one request with a key that is accepted: at most two.

    Args:
        call: The call, without a key.
        add_key: Puts a key into a call.
    """

    def __init__(self, call: Call, add_key: Callable[[Call, Secret], None]) -> None:
        self._call = call
        self._add_key = add_key
        self._refused: ProviderFailure | None = None
        call.began_at = time.monotonic()

    def time_left(self) -> tuple[float | None, str]:
        """How long the key may take, in seconds, and the field of `Timeouts` that says so."""
        timeouts, spent_s = self._call.timeouts, time.monotonic() - (self._call.began_at or 0.0)
        limits = [(timeouts.first_byte_s, "first_byte_s")]
        if timeouts.total_s is not None:
            limits.append((timeouts.total_s - spent_s, "total_s"))
        known = [(seconds, name) for seconds, name in limits if seconds is not None]
        return min(known, default=(None, ""))

    def take_key(self, given: Secret | ProviderFailure | None, limit: str) -> Batch:
        """Take what the function gave.

        Args:
            given: The key, or a failure; None where it did not come in time.
            limit: The field of `Timeouts` that passed in this case.

        Returns:
            The end of the response where there is no key; else nothing, and the call has the key.
        """
        if isinstance(given, Secret):
            self._add_key(self._call, given)
            return ()
        if given is None:
            seconds = getattr(self._call.timeouts, limit)
            given = ProviderFailure(
                kind=FailureKind.TIMEOUT,
                message=f"no key from the function in api_key= within {seconds:g} s "
                f"(timeouts.{limit})",
                retryable=True,
            )
        if self._refused is not None:
            message = f"{given.message}; the key before was refused: {self._refused.describe()}"
            given = replace(given, message=message, status=self._refused.status)
        return (ResponseFailed(given, self._call.metadata),)

    def is_refused(self, first: Batch) -> bool:
        """Whether the first batch of a response refuses the key, for the first time."""
        last = first[-1]
        if self._refused is not None or not isinstance(last, ResponseFailed):
            return False
        if not refuses_key(last.failure):
            return False
        self._refused = last.failure
        return True


async def respond(
    call: Call, function: KeyFunction, add_key: Callable[[Call, Secret], None], client: Any
) -> AsyncGenerator[Batch, None]:
    """Fetch the key, send a call and read the response.

    Args:
        call: The call, without a key.
        function: Gives the key.
        add_key: Puts a key into the call.
        client: The caller's own client; None uses the one of the event loop.

    Raises:
        UnusableKey: The function gives something that is not a key.
    """
    sending = _Sending(call, add_key)
    while True:
        given = None
        seconds, limit = sending.time_left()
        with anyio.move_on_after(seconds):
            given = await function.fetch()
        if failed := sending.take_key(given, limit):
            yield failed
            return
        async with aclosing(_concurrent.respond(call, client)) as stream:
            first = await anext(stream, ())
            if not (first and sending.is_refused(first)):
                if first:
                    yield first
                async for events in stream:
                    yield events
                return


def respond_blocking(
    call: Call, function: KeyFunction, add_key: Callable[[Call, Secret], None], client: Any
) -> Generator[Batch, None, None]:
    """Do the same as `respond` without an event loop; it cannot interrupt the function."""
    sending = _Sending(call, add_key)
    while True:
        given: Secret | ProviderFailure | None = function.fetch_blocking()
        seconds, limit = sending.time_left()
        if limit == "total_s" and seconds is not None and seconds <= 0:
            given = None
        if failed := sending.take_key(given, limit):
            yield failed
            return
        with closing(_blocking.respond(call, client)) as stream:
            first = next(stream, ())
            if not (first and sending.is_refused(first)):
                if first:
                    yield first
                yield from stream
                return
