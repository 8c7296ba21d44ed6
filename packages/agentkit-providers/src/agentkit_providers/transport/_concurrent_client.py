"""The HTTP client of event loops, by default: connections of httpcore, and a list of idle ones.

httpx does more for each request than models need (cookies, redirects, hooks, a search through all
connections), which costs four times as much. What httpx can do besides is left to it, see
`_clients`.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterable, Callable
from contextlib import suppress
from typing import cast

import anyio
import httpcore

from agentkit_providers.transport._anyio_streams import connect
from agentkit_providers.transport._call import Call
from agentkit_providers.transport._connection_trace import ConnectionTrace
from agentkit_providers.transport._exchange import end_chunks, exhaust
from agentkit_providers.transport._idle_connections import IdleConnections
from agentkit_providers.transport._network_streams import JoiningStream
from agentkit_providers.transport._pool_limits import DRAIN_S, IDLE_S, MAX_IDLE
from agentkit_providers.transport._wire_exchange import (
    Target,
    build_request,
    is_chunked,
    readable_headers,
    target_of,
)


class Connection:
    """A connection to one server, for one request at a time.

    Args:
        target: A request that it is opened for.
        stream: The open connection.
    """

    __slots__ = ("framing", "http", "server")

    def __init__(self, target: Target, stream: httpcore.AsyncNetworkStream) -> None:
        joining = JoiningStream(stream)
        self.framing = joining.framing
        self.http = httpcore.AsyncHTTP11Connection(target.origin, joining)
        self.server = target.server

    def can_be_kept(self) -> bool:
        """Whether a response was read to its end, and the server takes another request."""
        return self.http.is_available() and not self.framing.has_rest

    async def close(self) -> None:
        """Close it, also when the task is being cancelled."""
        # asyncio's own `Task.cancel` ignores shields. What matters happens before the first await.
        with anyio.CancelScope(shield=True):
            await self.http.aclose()


class ConcurrentClient:
    """Sends requests; belongs to one event loop.

    Args:
        tls: Gives the certificates that are believed; called for each new connection with TLS.
    """

    def __init__(self, tls: Callable[[], ssl.SSLContext]) -> None:
        self._tls = tls
        self._idle: IdleConnections[Connection] = IdleConnections(
            max_count=MAX_IDLE, max_age_s=IDLE_S
        )
        self._is_closed = False

    async def send(
        self, call: Call, limits: dict[str, float | None], trace: ConnectionTrace
    ) -> ConcurrentExchange:
        """Send a request and read the head of the response.

        Args:
            call: The request; its URL must be plain, see `plain_target`.
            limits: The limits on waiting, by httpcore's names for them, in seconds.
            trace: Learns whether the connection was opened before.
        """
        target = target_of(call.url)
        connection = await self._idle_connection(target)
        if connection is None:
            connection = await self._open(target, limits)
        else:
            trace.record_reuse()
        connection.framing.begin_response()
        try:
            response = await connection.http.handle_async_request(
                build_request(call, target, limits)
            )
        except BaseException:
            await connection.close()
            raise
        return ConcurrentExchange(self, connection, call.method, response)

    async def _idle_connection(self, target: Target) -> Connection | None:
        idle, now = self._idle, time.monotonic()
        while (expired := idle.pop_expired(now)) is not None:
            await expired.close()
        while (connection := idle.pop(target.server)) is not None:
            if not connection.http.has_expired():  # the server has not closed it
                return connection
            await connection.close()
        return None

    async def _open(self, target: Target, limits: dict[str, float | None]) -> Connection:
        scheme, _, port = target.server
        host, timeout = target.url.host.decode(), limits["connect"]
        context = self._tls() if scheme == "https" else None
        return Connection(target, await connect(host, port, context, timeout))

    async def keep(self, connection: Connection) -> None:
        """Keep a connection for another request; close the oldest if there are too many."""
        surplus: Connection | None = connection
        if not self._is_closed:
            surplus = self._idle.add(connection.server, connection, time.monotonic())
        if surplus is not None:
            await surplus.close()

    async def aclose(self) -> None:
        """Close the idle connections now, and each other one after its response."""
        self._is_closed = True
        while (connection := self._idle.pop_any()) is not None:
            await connection.close()


class ConcurrentExchange:
    """A request that has been sent, and its response.

    Args:
        client: The client that has sent it.
        connection: The connection, which nobody else uses meanwhile.
        method: The method of the request.
        response: The response, whose head has been read.

    Attributes:
        status: The HTTP status.
        headers: The headers of the response, names in lower case.
        chunks: The body, one network read at a time, as it was sent.
    """

    __slots__ = ("_client", "_connection", "_response", "chunks", "headers", "status")

    def __init__(
        self,
        client: ConcurrentClient,
        connection: Connection,
        method: str,
        response: httpcore.Response,
    ) -> None:
        self._client = client
        self._connection = connection
        self._response = response
        self.status = response.status
        self.headers = readable_headers(response.headers)
        self.chunks = aiter(cast("AsyncIterable[bytes]", response.stream))
        connection.framing.begin_body(chunked=is_chunked(method, self.status, self.headers))

    async def leave(self, *, is_whole: bool) -> None:
        """Free the connection.

        Args:
            is_whole: Whether nothing but the end of the body is missing. It is waited for, but not
                for long, since only then the connection can be used again.
        """
        connection = self._connection
        try:
            if is_whole:
                await self._finish()
        finally:
            if connection.can_be_kept():
                await self._client.keep(connection)
            else:
                await connection.close()
                await end_chunks(self.chunks)

    async def _finish(self) -> None:
        if self._connection.framing.is_complete:
            await exhaust(self.chunks)  # does not wait: all has been read
        else:
            with anyio.move_on_after(DRAIN_S, shield=True):
                await exhaust(self.chunks)
        with suppress(Exception):
            await self._response.aclose()
