"""Connections as the HTTP parser sees them: joined chunks when reading, joined pieces when writing.

The network streams of httpcore, wrapped. Those that need no event loop do the same.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from typing import Any, Final

import httpcore

from agentkit_providers.transport._response_framing import ResponseFraming

_MAX_JOINED_WRITE: Final = 64 * 1024
"""Head and body of a request are one write up to this size, in bytes. Copying megabytes would cost
more than a second write, and a piece that is longer is sent at once."""


class _UnsentRequest:
    """The pieces of a request that the parser has written and the network has not got."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def add(self, piece: bytes) -> bool:
        """Add a piece; return whether the pieces are to be sent now.

        Args:
            piece: The next bytes of the request; none say that it is whole.
        """
        if piece:
            self.pieces.append(piece)
        return bool(self.pieces) and (not piece or len(piece) > _MAX_JOINED_WRITE)

    def take(self) -> list[bytes]:
        """Take out the pieces, joined if they are small."""
        pieces, self.pieces = self.pieces, []
        if len(pieces) > 1 and sum(map(len, pieces)) <= _MAX_JOINED_WRITE:
            return [b"".join(pieces)]
        return pieces


def _readiness(inner: Any) -> Callable[[], bool]:
    """Make the function that tells whether a connection has something to read, or was closed.

    httpcore finds the socket anew for each request, which takes ten times as long.
    """
    sock = inner.get_extra_info("socket")
    if sock is None or not hasattr(select, "poll"):
        return lambda: bool(inner.get_extra_info("is_readable"))
    poller = select.poll()
    poller.register(sock.fileno(), select.POLLIN)
    return lambda: sock.fileno() < 0 or bool(poller.poll(0))


class JoiningStream(httpcore.AsyncNetworkStream):
    """A connection for event loops.

    Args:
        inner: The connection itself, with TLS if it needs any.
    """

    def __init__(self, inner: httpcore.AsyncNetworkStream) -> None:
        self._inner = inner
        self._is_readable = _readiness(inner)
        self._unsent = _UnsentRequest()
        self.framing = ResponseFraming()
        """How the bytes of the responses are divided."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read from the network once, or more often as long as nothing comes of it."""
        if self._unsent.pieces:
            await self._send(timeout)
        framing = self.framing
        data = framing.read_on()
        while not data:
            data = await self._inner.read(max_bytes, timeout)
            if not data:
                break  # the server has closed the connection
            data = framing.feed(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Keep a piece of a request; send all pieces with a long one, and at the request's end."""
        if self._unsent.add(buffer):
            await self._send(timeout)

    async def _send(self, timeout: float | None) -> None:
        for piece in self._unsent.take():
            await self._inner.write(piece, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._inner.aclose()

    def get_extra_info(self, info: str) -> Any:
        """Return what httpcore asks about the socket."""
        if info == "is_readable":
            return self._is_readable()
        return self._inner.get_extra_info(info)


class BlockingJoiningStream(httpcore.NetworkStream):
    """A connection for callers without an event loop.

    Args:
        inner: The connection itself, with TLS if it needs any.
    """

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner
        self._is_readable = _readiness(inner)
        self._unsent = _UnsentRequest()
        self.framing = ResponseFraming()
        """How the bytes of the responses are divided."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read from the network once, or more often as long as nothing comes of it."""
        if self._unsent.pieces:
            self._send(timeout)
        framing = self.framing
        data = framing.read_on()
        while not data:
            data = self._inner.read(max_bytes, timeout)
            if not data:
                break  # the server has closed the connection
            data = framing.feed(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Keep a piece of a request; send all pieces with a long one, and at the request's end."""
        if self._unsent.add(buffer):
            self._send(timeout)

    def _send(self, timeout: float | None) -> None:
        for piece in self._unsent.take():
            self._inner.write(piece, timeout)

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:
        """Return what httpcore asks about the socket."""
        if info == "is_readable":
            return self._is_readable()
        return self._inner.get_extra_info(info)
