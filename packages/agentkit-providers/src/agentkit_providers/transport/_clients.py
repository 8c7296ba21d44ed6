"""Which HTTP client is used: one per event loop, closed with the loop, and one for blocking calls.

Connections belong to the event loop that opened them, so no client outlives its loop, and no two
loops share one. All models share the clients; the pool inside keeps hosts apart.
"""

from __future__ import annotations

import atexit
import os
import ssl
import threading
from asyncio import AbstractEventLoop
from collections.abc import AsyncGenerator
from functools import lru_cache
from typing import Final

import anyio
import httpx
from anyio.lowlevel import current_token

_LIMITS: Final = httpx.Limits(
    max_connections=None,  # the caller decides how many calls run at once
    max_keepalive_connections=100,
    keepalive_expiry=30.0,  # a tool round between two calls may take some seconds
)
_of_loop: Final[dict[object, tuple[httpx.AsyncClient, AsyncGenerator[None, None]]]] = {}
_blocking: httpx.Client | None = None
_lock = threading.Lock()


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # reads all certificates: some 10 ms


async def concurrent_client() -> httpx.AsyncClient:
    """Return the running event loop's client; make it on first use."""
    loop = current_token().native_token
    known = _of_loop.get(loop)
    if known is not None:
        return known[0]
    _forget_closed_loops()
    client = httpx.AsyncClient(verify=_tls(), limits=_LIMITS)
    keeper = _keep(loop, client)
    _of_loop[loop] = client, keeper
    await anext(keeper)
    return client


async def _keep(loop: object, client: httpx.AsyncClient) -> AsyncGenerator[None, None]:
    # The only hook that an event loop offers for its end is that it closes open generators. So
    # this generator stays open as long as the loop.
    try:
        yield
    finally:
        _of_loop.pop(loop, None)
        with anyio.CancelScope(shield=True):
            await client.aclose()


def _forget_closed_loops() -> None:
    # A loop that was closed without closing its generators; `asyncio.run` and trio leave none.
    for loop in list(_of_loop):
        if isinstance(loop, AbstractEventLoop) and loop.is_closed():
            _of_loop.pop(loop, None)


def blocking_client() -> httpx.Client:
    """Return the process's client for blocking calls; make it on first use. Any thread may."""
    global _blocking
    with _lock:
        if _blocking is None:
            _blocking = httpx.Client(verify=_tls(), limits=_LIMITS)
            atexit.register(_blocking.close)
        return _blocking


def _after_fork() -> None:
    # The child process must not use the parent's connections.
    global _blocking, _lock
    _blocking, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
