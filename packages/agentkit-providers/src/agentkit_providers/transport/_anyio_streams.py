"""Connections of anyio as the HTTP parser takes them, for asyncio and trio.

httpcore has such a class too, which opens a cancel scope with a deadline for each read. A streamed
answer is one read per delta, and the scope is what costs most of it. Here, reads under asyncio
share one timer: it is set rarely, and looks how long the present read has waited when it goes off.
"""

from __future__ import annotations

import math
import ssl
from asyncio import AbstractEventLoop, Task, TimerHandle
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
import httpcore
from anyio.abc import SocketAttribute
from anyio.streams.tls import TLSStream

from agentkit_providers.transport._pool_limits import KEEP_ALIVE


async def connect(
    host: str, port: int, context: ssl.SSLContext | None, timeout: float | None
) -> AnyioStream:
    """Open a connection.

    Args:
        host: The host's name or address.
        port: The port.
        context: The certificates that are believed; None for a connection without TLS.
        timeout: How long to wait for the connection, and again for TLS, in seconds.

    Raises:
        ConnectTimeout: It takes too long.
        ConnectError: It fails.
    """
    with _connecting(timeout):
        stream: anyio.abc.ByteStream = await anyio.connect_tcp(host, port)
    try:
        for option in KEEP_ALIVE:
            _socket_of(stream).setsockopt(*option)
        if context is not None:
            with _connecting(timeout):
                stream = await TLSStream.wrap(
                    stream,
                    hostname=host,
                    ssl_context=context,
                    standard_compatible=False,
                    server_side=False,
                )
    except BaseException:
        with anyio.CancelScope(shield=True):
            await stream.aclose()
        raise
    loop = anyio.lowlevel.current_token().native_token
    if isinstance(loop, AbstractEventLoop):
        return AsyncioStream(stream, loop)
    return AnyioStream(stream)


def _socket_of(stream: anyio.abc.ByteStream) -> Any:
    return stream.extra(SocketAttribute.raw_socket)  # noqa: S610  (not Django's)


@contextmanager
def _connecting(timeout: float | None) -> Iterator[None]:
    try:
        with anyio.fail_after(timeout):
            yield
    except TimeoutError as error:
        raise httpcore.ConnectTimeout(str(error)) from error
    except (OSError, anyio.BrokenResourceError, anyio.EndOfStream) as error:  # of TLS as well
        raise httpcore.ConnectError(str(error)) from error


class AnyioStream(httpcore.AsyncNetworkStream):
    """A connection, for any event loop.

    Args:
        stream: The connection itself, with TLS if it needs any.
    """

    def __init__(self, stream: anyio.abc.ByteStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what has come, at least one byte; return nothing if the server has closed it.

        Raises:
            ReadTimeout: Nothing has come in time.
            ReadError: The connection is broken, or closed here.
        """
        try:
            with anyio.fail_after(timeout):
                return await self._stream.receive(max_bytes)
        except anyio.EndOfStream:
            return b""
        except TimeoutError as error:
            raise httpcore.ReadTimeout(str(error)) from error
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise httpcore.ReadError(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all of the bytes.

        Raises:
            WriteTimeout: They were not taken in time.
            WriteError: The connection is broken, or closed here.
        """
        try:
            with anyio.fail_after(timeout):
                await self._stream.send(buffer)
        except TimeoutError as error:
            raise httpcore.WriteTimeout(str(error)) from error
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise httpcore.WriteError(str(error)) from error

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        """Return the socket, by the name `socket`; None for all else that httpcore may ask."""
        return _socket_of(self._stream) if info == "socket" else None


class AsyncioStream(AnyioStream):
    """A connection for asyncio, whose reads set no timer of their own.

    A read that comes to its limit is ended by closing the connection: it is of no use any more.

    Args:
        stream: The connection itself, with TLS if it needs any.
        loop: The event loop on which it was opened.
    """

    def __init__(self, stream: anyio.abc.ByteStream, loop: AbstractEventLoop) -> None:
        super().__init__(stream)
        self._receive = stream.receive
        self._loop = loop
        self._late_at = math.inf  # when the present read has waited too long, on the loop's clock
        self._timer: TimerHandle | None = None
        self._timer_at = math.inf  # when the timer goes off; never after `_late_at`
        self._closing: Task[None] | None = None  # closes the connection because a read was late

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what has come; see `AnyioStream.read`."""
        if timeout is not None:
            self._late_at = late_at = self._loop.time() + timeout
            if late_at < self._timer_at:
                self._set_timer(late_at)
        try:
            return await self._receive(max_bytes)
        except anyio.EndOfStream:
            return b""
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            if self._closing is not None:
                raise httpcore.ReadTimeout from error
            raise httpcore.ReadError(str(error)) from error
        finally:
            self._late_at = math.inf

    def _set_timer(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = at
        # An empty context: it would keep the one of a caller alive who may have left long ago.
        self._timer = self._loop.call_at(at, self._look, context=Context())

    def _look(self) -> None:
        """See whether the present read is late, now that the timer has gone off."""
        self._timer, self._timer_at = None, math.inf
        if self._loop.time() >= self._late_at:
            # The event loop may have been busy, and what has come in time is on its way to the
            # read, which then ends before this is called.
            self._loop.call_soon(self._close_if_late, context=Context())
        elif self._late_at < math.inf:
            self._set_timer(self._late_at)

    def _close_if_late(self) -> None:
        if self._loop.time() >= self._late_at:
            self._closing = self._loop.create_task(self._stream.aclose())
        elif self._late_at < self._timer_at:
            self._set_timer(self._late_at)

    async def aclose(self) -> None:
        """Close the connection."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self._timer_at = None, math.inf
        await super().aclose()
