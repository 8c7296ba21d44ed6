"""Deadlines for blocking connections, which the HTTP client limits only from one read to the next.

A server that sends a byte now and then would never be too late. So our own connections ask before
each read and write how long the call may still take. The deadline is kept for each thread, since a
blocking call does all its work in one.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import httpcore

from agentkit_providers.transport._pool_limits import DRAIN_S

_WRITE_BYTES: Final = 64 * 1024


class _OfThread(threading.local):
    at: float | None = None


_of_thread: Final = _OfThread()


@contextmanager
def ending_at(at: float | None) -> Iterator[None]:
    """End reads and writes of this thread at a moment of the monotonic clock; None for no end."""
    before, _of_thread.at = _of_thread.at, at
    try:
        yield
    finally:
        _of_thread.at = before


def _left(timeout: float | None, late: type[Exception]) -> float | None:
    if _of_thread.at is None:
        return timeout
    left = _of_thread.at - time.monotonic()
    if left <= 0:
        raise late("the time for the whole call is over")
    return left if timeout is None else min(left, timeout)


def drain(chunks: Iterator[bytes]) -> None:
    """Read a body to its end, so that the connection can be used again, but not for long.

    Exceptions are ignored: the response was complete before.
    """
    give_up_at = time.monotonic() + DRAIN_S
    with suppress(Exception), ending_at(give_up_at):
        for _ in chunks:
            if time.monotonic() >= give_up_at:
                return


class DeadlineBackend(httpcore.NetworkBackend):
    """Opens connections that keep to the thread's deadline.

    Args:
        inner: A network backend of httpcore, which opens the connections.
    """

    def __init__(self, inner: httpcore.NetworkBackend) -> None:
        self._inner = inner

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> _DeadlineStream:
        """Open a connection."""
        left = _left(timeout, httpcore.ConnectTimeout)
        return _DeadlineStream(
            self._inner.connect_tcp(host, port, left, local_address, socket_options)
        )

    def sleep(self, seconds: float) -> None:
        """Wait."""
        self._inner.sleep(seconds)


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for at in range(0, len(buffer), _WRITE_BYTES):
            left = _left(timeout, httpcore.WriteTimeout)
            self._inner.write(buffer[at : at + _WRITE_BYTES], left)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> _DeadlineStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
