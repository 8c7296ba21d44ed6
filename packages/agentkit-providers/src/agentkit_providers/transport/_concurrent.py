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
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio

from agentkit_core.provider import ModelEvent
from agentkit_providers.transport._call import Call
from agentkit_providers.transport._clients import concurrent_client
from agentkit_providers.transport._connection_trace import ConnectionTrace
from agentkit_providers.transport._environment import UnusableSetting
from agentkit_providers.transport._exchange import Exchange, Sender
from agentkit_providers.transport._reading import MAX_ERROR_BODY, MAX_SENDS, Reading

if TYPE_CHECKING:  # takes 60 ms to import, and is needed only for clients of its kind
    import httpx

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
    exchange: Exchange | None = None
    chunks = _no_chunks()
    failed: Batch = ()
    at_end = False  # whether the body was read to its end
    try:
        try:
            sender = await _sender(call, client)
            exchange = await _in_time(reading, _send(sender, call, reading))
            chunks = exchange.chunks
            if not reading.take_head(exchange.status, exchange.headers, now()):
                body, at_end = await _error_body(reading, chunks)
                failed = reading.end_with_error_response(exchange.status, exchange.headers, body)
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
                at_end = True
                break
            except _Overdue as overdue:
                failed = reading.end_with_timeout(overdue.limit)
                break
            except Exception as error:
                failed = reading.end_with_exception(error, now())
                break
            events = feed(chunk, now()) if watched else feed(chunk)
            chunk = b""  # of a thousand responses at once, none holds its last read while it waits
            if events:
                yield events
                events = ()
        last = failed or reading.finish()
        if last:
            yield last
    finally:
        if exchange is not None:
            await exchange.leave(is_whole=at_end or (reading.ended and not failed))


async def _sender(call: Call, client: httpx.AsyncClient | None) -> Sender:
    if client is None:
        return await concurrent_client(call.url)
    from agentkit_providers.transport._httpx_concurrent import HttpxSender

    return HttpxSender(client)


async def _send(sender: Sender, call: Call, reading: Reading) -> Exchange:
    """Send the request, and again where the connection turns out to have been closed."""
    for left in reversed(range(MAX_SENDS)):
        trace = ConnectionTrace()
        try:
            return await sender.send(call, reading.limits.http, trace)
        except Exception as error:
            if not left or not reading.may_send_again(error, trace):
                raise
        finally:
            reading.sent_headers = trace.sent_headers
    raise AssertionError("unreachable: the last attempt returns or raises")


async def _no_chunks() -> AsyncIterator[bytes]:
    return
    yield


async def _error_body(reading: Reading, chunks: AsyncIterator[bytes]) -> tuple[bytes, bool]:
    """Read the body of an error response, up to `MAX_ERROR_BODY` or an exception.

    Returns:
        The start of the body, and whether it was read to its end.
    """
    body, at_end = bytearray(), False
    try:
        while len(body) < MAX_ERROR_BODY:
            body += await _in_time(reading, chunks.__anext__())
    except StopAsyncIteration:
        at_end = True
    except Exception:  # noqa: S110 - the status is known, and says enough
        pass
    return bytes(body[:MAX_ERROR_BODY]), at_end


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
