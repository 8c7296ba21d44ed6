"""The transport for callers without an event loop: a plain generator.

It works like `_concurrent`, but cannot interrupt a read. So the connections of our own clients ask
before each read how long the call may still take. With a client of the caller's own, `total_s` and
`no_content_s` are checked when something arrives, and limit each single read.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator

import httpx

from agentkit_core.provider import ModelEvent
from agentkit_providers.transport._call import Call
from agentkit_providers.transport._clients import blocking_client
from agentkit_providers.transport._connection_trace import ConnectionTrace
from agentkit_providers.transport._deadlines import ending_at
from agentkit_providers.transport._environment import UnusableSetting
from agentkit_providers.transport._hidden_url import hide_secrets
from agentkit_providers.transport._reading import DRAIN_S, MAX_ERROR_BODY, MAX_SENDS, Reading

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
    response: httpx.Response | None = None
    chunks: Iterator[bytes] = iter(())
    failed: Batch = ()
    try:
        try:
            client = client or blocking_client(call.url)
            with ending_at(reading.limits.end()):
                response = _send(client, call, reading)
            headers = dict(response.headers)
            chunks = response.iter_raw()
            if not reading.take_head(response.status_code, headers, now()):
                with ending_at(reading.limits.end()):
                    body = _error_body(chunks)
                failed = reading.end_with_error_response(response.status_code, headers, body)
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
        if response is not None:
            if reading.ended and not failed:
                _drain(chunks)
            response.close()


def _send(client: httpx.Client, call: Call, reading: Reading) -> httpx.Response:
    """Send the request, and again where the connection turns out to have been closed."""
    for left in reversed(range(MAX_SENDS)):
        trace = ConnectionTrace()
        request = client.build_request(
            call.method,
            call.url,
            content=call.body,
            headers=call.headers,
            extensions={"timeout": reading.limits.http, "trace": trace.record},
        )
        reading.sent_headers = request.headers
        hide_secrets(request)
        try:
            return client.send(request, stream=True, follow_redirects=False)
        except Exception as error:
            if not left or not reading.may_send_again(error, trace):
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def _error_body(chunks: Iterator[bytes]) -> bytes:
    """Read the body of an error response, up to `MAX_ERROR_BODY` or an exception."""
    body = bytearray()
    try:
        for chunk in chunks:
            body += chunk
            if len(body) >= MAX_ERROR_BODY:
                break
    except Exception:  # noqa: S110 - the status is known, and says enough
        pass
    return bytes(body[:MAX_ERROR_BODY])


def _drain(chunks: Iterator[bytes]) -> None:
    """Read to the end of the body, so that the connection can be used again."""
    give_up_at = time.monotonic() + DRAIN_S
    try:
        for _ in chunks:
            if time.monotonic() >= give_up_at:
                return
    except Exception:  # noqa: S110 - the response was complete before
        pass
