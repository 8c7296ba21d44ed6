"""The transport for event loops: one read of the network, one batch of events.

Runs on asyncio and trio. There is no task, queue or lock: the consumer's own `await` reads. However
a response ends (read to its end, left early, failed, cancelled, or dropped), its connection is
closed or goes back to the pool.
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
from agentkit_providers.transport._connection_trace import ConnectionTrace
from agentkit_providers.transport._environment import UnusableSetting
from agentkit_providers.transport._hidden_url import hide_secrets
from agentkit_providers.transport._reading import DRAIN_S, MAX_ERROR_BODY, MAX_SENDS, Reading

Batch = tuple[ModelEvent, ...]
T = TypeVar("T")


def respond(call: Call, client: httpx.AsyncClient | None) -> BatchStream:
    """Send a call and read the response.

    Args:
        call: The call.
        client: The caller's own client, which stays open; None uses the one of the event loop.
    """
    return BatchStream(_batches(call, client))


class BatchStream:
    """The batches of events of one response, in order, none of them empty; the last one ends it.

    Iterate to the end, or leave early and call `aclose`; both free the connection. Dropping the
    stream does so too, a little later.

    Args:
        batches: An asynchronous generator of batches.
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
        # asyncio closes a dropped generator by itself. trio does so too, but warns, since a dropped
        # generator cannot wait there. Closing ours takes only a moment, under a shield.
        trio = sys.modules.get("trio")
        if trio is not None and self._batches.ag_frame is not None:
            with suppress(RuntimeError):  # not within trio
                trio.lowlevel.spawn_system_task(_close_quietly, self._batches)


async def _close_quietly(batches: AsyncGeneratorType[Batch, None]) -> None:
    with suppress(Exception):  # no caller is left to report it to
        await batches.aclose()


async def _batches(call: Call, client: httpx.AsyncClient | None) -> AsyncIterator[Batch]:
    now = time.monotonic
    reading = Reading(call, now())
    watched, feed = reading.limits.watched, reading.feed
    response: httpx.Response | None = None
    chunks = _no_chunks()
    failed: Batch = ()
    cancelled = False
    try:
        try:
            client = client or await concurrent_client(call.url)
            response = await _in_time(reading, _send(client, call, reading))
            headers = dict(response.headers)
            chunks = response.aiter_raw()
            if not reading.take_head(response.status_code, headers, now()):
                body = await _error_body(reading, chunks)
                failed = reading.end_with_error_response(response.status_code, headers, body)
        except _Overdue as overdue:
            failed = reading.end_with_timeout(overdue.limit)
        except UnusableSetting as error:
            failed = reading.end_with_setting(error)
        except Exception as error:
            failed = reading.end_with_exception(error, now())

        pull = chunks.__anext__
        while not reading.ended:
            try:
                chunk = await (_in_time(reading, pull()) if watched else pull())
            except StopAsyncIteration:
                break
            except _Overdue as overdue:
                failed = reading.end_with_timeout(overdue.limit)
                break
            except Exception as error:
                failed = reading.end_with_exception(error, now())
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
    """Send the request, and again where the connection turns out to have been closed."""
    for left in reversed(range(MAX_SENDS)):
        trace = ConnectionTrace()
        request = client.build_request(
            call.method,
            call.url,
            content=call.body,
            headers=call.headers,
            extensions={"timeout": reading.limits.http, "trace": trace.record_async},
        )
        if isinstance(request.stream, httpx.AsyncByteStream):
            request.stream = _Body(call.body)
        reading.sent_headers = request.headers
        hide_secrets(request)
        try:
            return await client.send(request, stream=True, follow_redirects=False)
        except Exception as error:
            if not left or not reading.may_send_again(error, trace):
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


class _Body(httpx.AsyncByteStream):
    """A request's body. The client's own is a generator, which a cancelled write leaves open."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _SingleChunk(self._body)


class _SingleChunk:
    def __init__(self, body: bytes) -> None:
        self._rest = [body]

    def __aiter__(self) -> _SingleChunk:
        return self

    async def __anext__(self) -> bytes:
        if not self._rest:
            raise StopAsyncIteration
        return self._rest.pop()


async def _no_chunks() -> AsyncIterator[bytes]:
    return
    yield


async def _error_body(reading: Reading, chunks: AsyncIterator[bytes]) -> bytes:
    """Read the body of an error response, up to `MAX_ERROR_BODY` or an exception."""
    body = bytearray()
    with suppress(Exception):  # the status is known, and says enough
        while len(body) < MAX_ERROR_BODY:
            body += await _in_time(reading, chunks.__anext__())
    return bytes(body[:MAX_ERROR_BODY])


class _Overdue(Exception):
    def __init__(self, limit: str) -> None:
        self.limit = limit


async def _in_time(reading: Reading, awaited: Awaitable[T]) -> T:
    """Wait, but not longer than the limits that the HTTP client does not check.

    Raises:
        _Overdue: One of these limits passed.
    """
    deadline = reading.limits.deadline()
    if deadline is None:
        return await awaited
    with anyio.move_on_after(deadline.at - time.monotonic()):
        return await awaited
    raise _Overdue(deadline.limit)


async def _leave(response: httpx.Response, chunks: AsyncIterator[bytes], *, whole: bool) -> None:
    """Give the connection back to the pool where the body can be read to its end, else close it."""
    is_returned = False
    try:
        if whole:
            with anyio.move_on_after(DRAIN_S, shield=True):
                await _exhaust(chunks)
                is_returned = response.is_closed
    finally:
        if not is_returned:
            await _close(response, chunks)


async def _close(response: httpx.Response, chunks: AsyncIterator[bytes]) -> None:
    connection = _connection(response)
    with anyio.CancelScope(shield=True):
        if connection is not None and not connection.is_idle():
            await connection.aclose()
        await response.aclose()
    # The client's generators may still be in the middle of a read. The garbage collector would
    # close them later, with tasks and warnings. Reading once more from the closed connection ends
    # them now.
    with anyio.move_on_after(DRAIN_S, shield=True):
        await _exhaust(chunks)


def _connection(response: httpx.Response) -> Any:
    """Find the pool's connection of a response that was not read to its end; None if not found.

    The pool closes connections under a shield, but asyncio's own `Task.cancel` ignores shields.
    Cancelled again at that moment, the pool would keep the connection for ever, neither usable nor
    closed. The connection's own `aclose` does what matters before its first await.
    """
    if response.http_version != "HTTP/1.1":
        return None  # other responses may be using the connection
    holder: Any = response.stream
    for name in ("_stream", "_httpcore_stream", "_pool_request", "connection"):
        holder = getattr(holder, name, None)  # private to httpx, so any of them may be missing
    return holder


async def _exhaust(chunks: AsyncIterator[bytes]) -> None:
    with suppress(Exception):  # the response was complete before
        async for _ in chunks:
            pass
