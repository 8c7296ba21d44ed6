"""The transport for callers without an event loop: a plain generator.

It works like `_concurrent`, but cannot interrupt a read. So the connections of our own clients ask
before each read how long the call may still take. With a client of the caller's own, `total_s` and
`no_content_s` are checked when something arrives, and limit each single read.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from agentkit_core.provider import ModelEvent
from agentkit_providers.transport._call import Call
from agentkit_providers.transport._clients import blocking_client
from agentkit_providers.transport._connection_trace import ConnectionTrace
from agentkit_providers.transport._deadlines import ending_at
from agentkit_providers.transport._environment import UnusableSetting
from agentkit_providers.transport._exchange import BlockingExchange, BlockingSender
from agentkit_providers.transport._reading import MAX_ERROR_BODY, MAX_SENDS, Reading

if TYPE_CHECKING:  # takes 60 ms to import, and is needed only for clients of its kind
    import httpx

Batch = tuple[ModelEvent, ...]


def respond(call: Call, client: httpx.Client | None) -> Generator[Batch, None, None]:
    """Send a call and read the response.

    Args:
        call: The call.
        client: The caller's own client, which stays open; None uses the one of the process.

    Returns:
        The batches of events, in order, none of them empty; the last batch ends the response.
        Leaving it early, by `close` or by dropping it, frees the connection.
    """
    now = time.monotonic
    reading = Reading(call, now())
    watched, feed = reading.limits.watched, reading.feed
    exchange: BlockingExchange | None = None
    chunks: Iterator[bytes] = iter(())
    failed: Batch = ()
    at_end = False  # whether the body was read to its end
    try:
        try:
            sender = _sender(call, client)
            with ending_at(reading.limits.end()):
                exchange = _send(sender, call, reading)
            chunks = exchange.chunks
            if not reading.take_head(exchange.status, exchange.headers, now()):
                with ending_at(reading.limits.end()):
                    body, at_end = _error_body(chunks)
                failed = reading.end_with_error_response(exchange.status, exchange.headers, body)
        except UnusableSetting as error:
            failed = reading.end_with_setting(error)
        except Exception as error:
            failed = reading.end_with_exception(error, now())

        while not reading.ended:
            try:
                if watched:
                    with ending_at(reading.limits.end()):
                        chunk = next(chunks, None)
                else:
                    chunk = next(chunks, None)
            except Exception as error:
                failed = reading.end_with_exception(error, now())
                break
            if chunk is None:
                at_end = True
                break
            events = feed(chunk, now()) if watched else feed(chunk)
            if events:
                yield events
            if watched and not reading.ended:
                deadline = reading.limits.deadline()
                if deadline is not None and now() >= deadline.at:
                    failed = reading.end_with_timeout(deadline.limit)
        last = failed or reading.finish()
        if last:
            yield last
    finally:
        if exchange is not None:
            exchange.leave(is_whole=at_end or (reading.ended and not failed))


def _sender(call: Call, client: httpx.Client | None) -> BlockingSender:
    if client is None:
        return blocking_client(call.url)
    from agentkit_providers.transport._httpx_blocking import BlockingHttpxSender

    return BlockingHttpxSender(client)


def _send(sender: BlockingSender, call: Call, reading: Reading) -> BlockingExchange:
    """Send the request, and again where the connection turns out to have been closed."""
    for left in reversed(range(MAX_SENDS)):
        trace = ConnectionTrace()
        try:
            return sender.send(call, reading.limits.http, trace)
        except Exception as error:
            if not left or not reading.may_send_again(error, trace):
                raise
        finally:
            reading.sent_headers = trace.sent_headers
    raise AssertionError("unreachable: the last attempt returns or raises")


def _error_body(chunks: Iterator[bytes]) -> tuple[bytes, bool]:
    """Read the body of an error response, up to `MAX_ERROR_BODY` or an exception.

    Returns:
        The start of the body, and whether it was read to its end.
    """
    body, at_end = bytearray(), False
    try:
        while len(body) < MAX_ERROR_BODY:
            body += next(chunks)
    except StopIteration:
        at_end = True
    except Exception:  # noqa: S110 - the status is known, and says enough
        pass
    return bytes(body[:MAX_ERROR_BODY]), at_end
