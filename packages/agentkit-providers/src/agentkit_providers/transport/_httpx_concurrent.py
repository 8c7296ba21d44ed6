"""Clients of httpx or its successors for event loops: the caller's, and those for proxies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx

from agentkit_providers.transport._call import Call
from agentkit_providers.transport._connection_trace import ConnectionTrace
from agentkit_providers.transport._exchange import end_chunks, exhaust
from agentkit_providers.transport._hidden_url import hide_secrets
from agentkit_providers.transport._pool_limits import DRAIN_S


class HttpxSender:
    """Sends requests over a client of httpx.

    Args:
        client: The client; it stays open.
    """

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def send(
        self, call: Call, limits: dict[str, float | None], trace: ConnectionTrace
    ) -> HttpxExchange:
        """Send a request once and read the head of the response."""
        body = call.body.whole()
        request = self._client.build_request(
            call.method,
            call.url,
            content=body,
            headers=call.headers,
            extensions={"timeout": limits, "trace": trace.record_async},
        )
        if isinstance(request.stream, httpx.AsyncByteStream):
            request.stream = _Body(body)
        trace.sent_headers = request.headers
        hide_secrets(request)
        response = await self._client.send(request, stream=True, follow_redirects=False)
        return HttpxExchange(response)

    async def aclose(self) -> None:
        """Close the client."""
        await self._client.aclose()


class HttpxExchange:
    """A request that has been sent, and its response.

    Args:
        response: The response, whose head has been read.

    Attributes:
        status: The HTTP status.
        headers: The headers of the response, names in lower case.
        chunks: The body as it was sent, compressed or not.
    """

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers = dict(response.headers)
        self.chunks = response.aiter_raw()

    async def leave(self, *, is_whole: bool) -> None:
        """Give the connection back if the body can be read to its end, else close it."""
        is_returned = False
        try:
            if is_whole:
                with anyio.move_on_after(DRAIN_S, shield=True):
                    await exhaust(self.chunks)
                    is_returned = self._response.is_closed
        finally:
            if not is_returned:
                await self._close()

    async def _close(self) -> None:
        connection = _connection(self._response)
        with anyio.CancelScope(shield=True):
            if connection is not None and not connection.is_idle():
                await connection.aclose()
            await self._response.aclose()
        await end_chunks(self.chunks)


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
