"""The HTTP client that blocking calls use by default; it works like `_concurrent_client`.

Any thread may use it: an idle connection is taken out by one thread, and belongs to it until it is
given back.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import cast

import httpcore

from agentkit_providers.transport._call import Call
from agentkit_providers.transport._connection_trace import ConnectionTrace
from agentkit_providers.transport._deadlines import DeadlineBackend, drain
from agentkit_providers.transport._idle_connections import IdleConnections
from agentkit_providers.transport._network_streams import BlockingJoiningStream
from agentkit_providers.transport._pool_limits import IDLE_S, KEEP_ALIVE, MAX_IDLE
from agentkit_providers.transport._wire_exchange import (
    Target,
    build_request,
    is_chunked,
    readable_headers,
    target_of,
)


class BlockingConnection:
    """A connection to one server, for one request at a time.

    Args:
        target: A request that it is opened for.
        stream: The open connection.
    """

    __slots__ = ("framing", "http", "server")

    def __init__(self, target: Target, stream: httpcore.NetworkStream) -> None:
        joining = BlockingJoiningStream(stream)
        self.framing = joining.framing
        self.http = httpcore.HTTP11Connection(target.origin, joining)
        self.server = target.server

    def can_be_kept(self) -> bool:
        """Whether a response was read to its end, and the server takes another request."""
        return self.http.is_available() and not self.framing.has_rest


class BlockingClient:
    """Sends requests, for all threads.

    Args:
        tls: Gives the certificates that are believed; called for each new connection with TLS.
    """

    def __init__(self, tls: Callable[[], ssl.SSLContext]) -> None:
        self._tls = tls
        self._backend = DeadlineBackend(httpcore.SyncBackend())
        self._idle: IdleConnections[BlockingConnection] = IdleConnections(
            max_count=MAX_IDLE, max_age_s=IDLE_S
        )
        self._lock = threading.Lock()
        self._is_closed = False

    def send(
        self, call: Call, limits: dict[str, float | None], trace: ConnectionTrace
    ) -> BlockingClientExchange:
        """Send a request and read the head of the response.

        Args:
            call: The request; its URL must be plain, see `plain_target`.
            limits: The limits on waiting, by httpcore's names for them, in seconds.
            trace: Learns whether the connection was opened before.
        """
        target = target_of(call.url)
        connection = self._idle_connection(target)
        if connection is None:
            connection = self._open(target, limits)
        else:
            trace.record_reuse()
        connection.framing.begin_response()
        try:
            response = connection.http.handle_request(build_request(call, target, limits))
        except BaseException:
            connection.http.close()
            raise
        return BlockingClientExchange(self, connection, call.method, response)

    def _idle_connection(self, target: Target) -> BlockingConnection | None:
        now = time.monotonic()
        while True:
            with self._lock:
                expired = self._idle.pop_expired(now)
                connection = self._idle.pop(target.server) if expired is None else None
            if expired is not None:
                expired.http.close()
            elif connection is None or not connection.http.has_expired():
                return connection
            else:  # the server has closed it
                connection.http.close()

    def _open(self, target: Target, limits: dict[str, float | None]) -> BlockingConnection:
        scheme, _, port = target.server
        host, timeout = target.url.host.decode(), limits["connect"]
        context = self._tls() if scheme == "https" else None
        stream = self._backend.connect_tcp(host, port, timeout, socket_options=KEEP_ALIVE)
        if context is not None:
            try:
                stream = stream.start_tls(context, host, timeout)
            except BaseException:
                stream.close()
                raise
        return BlockingConnection(target, stream)

    def keep(self, connection: BlockingConnection) -> None:
        """Keep a connection for another request; close the oldest if there are too many."""
        surplus: BlockingConnection | None = connection
        with self._lock:
            if not self._is_closed:
                surplus = self._idle.add(connection.server, connection, time.monotonic())
        if surplus is not None:
            surplus.http.close()

    def close(self) -> None:
        """Close the idle connections now, and each other one after its response."""
        with self._lock:
            self._is_closed = True
            connections = list(iter(self._idle.pop_any, None))
        for connection in connections:
            connection.http.close()


class BlockingClientExchange:
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
        client: BlockingClient,
        connection: BlockingConnection,
        method: str,
        response: httpcore.Response,
    ) -> None:
        self._client = client
        self._connection = connection
        self._response = response
        self.status = response.status
        self.headers = readable_headers(response.headers)
        self.chunks = iter(cast("Iterable[bytes]", response.stream))
        connection.framing.begin_body(chunked=is_chunked(method, self.status, self.headers))

    def leave(self, *, is_whole: bool) -> None:
        """Free the connection.

        Args:
            is_whole: Whether nothing but the end of the body is missing. It is waited for, but not
                for long, since only then the connection can be used again.
        """
        connection = self._connection
        try:
            if is_whole:
                drain(self.chunks)
                with suppress(Exception):
                    self._response.close()
        finally:
            if connection.can_be_kept():
                self._client.keep(connection)
            else:
                connection.http.close()
