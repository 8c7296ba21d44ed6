"""The transport for event loops: one read of the network, one batch of events.

Runs on asyncio and trio. There is no task, queue or lock here: the consumer's own await is
what reads. However an answer is left (to its end, early, by a failure, by cancellation, or
dropped), its connection is closed or goes back to the pool.
"""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import suppress
from types import AsyncGeneratorType
from typing import Any, TypeVar, cast

import anyio
import httpx

from agentkit_core.provider import ModelEvent
from agentkit_providers.transport._call import Call
from agentkit_providers.transport._clients import concurrent_client
from agentkit_providers.transport._policy import (
    DRAIN_S,
    MAX_ERROR_BODY,
    MOST_SENT,
    Reading,
    Way,
)

Batch = tuple[ModelEvent, ...]
T = TypeVar("T")


def respond(call: Call, client: httpx.AsyncClient | None) -> BatchStream:
    """Send a request and read its answer.

    Args:
        call: The request.
        client: The caller's own client, which stays open; None takes the event loop's.
    """
    return BatchStream(_batches(call, client))


class BatchStream:
    """The batches of one answer, in order, none of them empty; the last ends it.

    Iterate to the end, or leave early and `aclose`; both free the connection. So does dropping
    it, a little later.

    Args:
        batches: What is iterated; an asynchronous generator.
    """

    __slots__ = ("_batches",)

    def __init__(self, batches: AsyncIterator[Batch]) -> None:
        self._batches = cast("AsyncGeneratorType[Batch, None]", batches)

    def __aiter__(self) -> BatchStream:
        return self

    def __anext__(self) -> Coroutine[Any, Any, Batch]:
        return self._batches.__anext__()

    def aclose(self) -> Coroutine[Any, Any, None]:
        """Free the connection; calling it again does nothing."""
        return self._batches.aclose()

    def __del__(self) -> None:
        # asyncio closes a dropped generator by itself. trio does so too, but warns, since code
        # on its way out cannot wait there; ours needs no more than a moment under a shield.
        trio = sys.modules.get("trio")
        if trio is not None and self._batches.ag_frame is not None:
            with suppress(RuntimeError):  # not within trio
                trio.lowlevel.spawn_system_task(_close_quietly, self._batches)


async def _close_quietly(batches: AsyncGeneratorType[Batch, None]) -> None:
    with suppress(Exception):  # nobody is left who could be told
        await batches.aclose()


async def _batches(call: Call, client: httpx.AsyncClient | None) -> AsyncIterator[Batch]:
    now = time.monotonic
    client = client or await concurrent_client()
    reading = Reading(call, now())
    watched, feed = reading.watched, reading.feed
    response: httpx.Response | None = None
    chunks = _nothing()
    failed: Batch = ()
    cancelled = False
    try:
        try:
            sending = _send(client, call, reading)
            response = await (_in_time(reading, sending) if watched else sending)
            headers = dict(response.headers)
            chunks = response.aiter_raw()
            if not reading.opened(response.status_code, headers, now()):
                body = await _error_body(reading, chunks)
                failed = reading.refused(response.status_code, headers, body)
        except _Overdue as overdue:
            failed = reading.overdue(overdue.limit)
        except Exception as error:
            failed = reading.broken(error, now())

        pull = chunks.__anext__
        while not reading.ended:
            try:
                chunk = await (_in_time(reading, pull()) if watched else pull())
            except StopAsyncIteration:
                break
            except _Overdue as overdue:
                failed = reading.overdue(overdue.limit)
                break
            except Exception as error:
                failed = reading.broken(error, now())
                break
            except BaseException:
                cancelled = True
                raise
            events = feed(chunk, now()) if watched else feed(chunk)
            if events:
                yield events
        last = failed or reading.finish()
        if last:
            yield last
    finally:
        if response is not None and (cancelled or not response.is_closed):
            await _leave(response, chunks, whole=reading.ended and not failed)


async def _send(client: httpx.AsyncClient, call: Call, reading: Reading) -> httpx.Response:
    """Send the request; again, where it met a connection that was closed before."""
    for left in reversed(range(MOST_SENT)):
        way = Way()
        request = client.build_request(
            call.method,
            call.url,
            content=call.body,
            headers=call.headers,
            extensions={"timeout": reading.limits, "trace": way.note_later},
        )
        if isinstance(request.stream, httpx.AsyncByteStream):
            request.stream = _Body(call.body)
        try:
            return await client.send(request, stream=True, follow_redirects=False)
        except Exception as error:
            if not left or not reading.may_send_again(error, way):
                raise
    raise AssertionError("the last attempt returns or raises")


class _Body(httpx.AsyncByteStream):
    """A request's body. The client's own is a generator, which a cancelled write leaves open."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _Once(self._body)


class _Once:
    def __init__(self, body: bytes) -> None:
        self._left = [body]

    def __aiter__(self) -> _Once:
        return self

    async def __anext__(self) -> bytes:
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop()


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield


async def _error_body(reading: Reading, chunks: AsyncIterator[bytes]) -> bytes:
    """Read the body of an error answer, as much of it as comes and is worth reading."""
    body = bytearray()
    # Whatever ends it: the status says enough.
    with suppress(Exception):
        while len(body) < MAX_ERROR_BODY:
            body += await _in_time(reading, chunks.__anext__())
    return bytes(body[:MAX_ERROR_BODY])


class _Overdue(Exception):
    def __init__(self, limit: str) -> None:
        self.limit = limit


async def _in_time(reading: Reading, awaited: Awaitable[T]) -> T:
    """Wait, but no longer than our own limits allow."""
    deadline = reading.deadline()
    if deadline is None:
        return await awaited
    with anyio.move_on_after(deadline.at - time.monotonic()):
        return await awaited
    raise _Overdue(deadline.limit)


async def _leave(response: httpx.Response, chunks: AsyncIterator[bytes], *, whole: bool) -> None:
    """Give the connection back where the body can be read to its end, else close it."""
    given_back = False
    try:
        if whole:
            with anyio.move_on_after(DRAIN_S, shield=True):
                await _exhaust(chunks)
                given_back = response.is_closed
    finally:
        if not given_back:
            await _close(response, chunks)


async def _close(response: httpx.Response, chunks: AsyncIterator[bytes]) -> None:
    connection = _connection(response)
    with anyio.CancelScope(shield=True):
        if connection is not None and not connection.is_idle():
            await connection.aclose()
        await response.aclose()
    # The client's generators may still be in the middle of a read. Left like that they are
    # closed by the garbage collector, with tasks and warnings; asked again, on a connection
    # that is closed, they end here and now.
    with anyio.move_on_after(DRAIN_S, shield=True):
        await _exhaust(chunks)


def _connection(response: httpx.Response) -> Any:
    """The pool's connection below an answer that has not been read to its end, if it shows.

    The pool closes connections under a shield, but asyncio's own `Task.cancel` goes through
    shields: cancelled again in that moment, it keeps the connection for ever, neither open to
    others nor closed. Its `aclose` does what matters before it first waits.
    """
    if response.http_version != "HTTP/1.1":
        return None  # others may be using it
    found: Any = response.stream
    for name in ("_stream", "_httpcore_stream", "_pool_request", "connection"):
        found = getattr(found, name, None)
    return found


async def _exhaust(chunks: AsyncIterator[bytes]) -> None:
    with suppress(Exception):  # the answer has been told already
        async for _ in chunks:
            pass
