"""Which HTTP client is used: our own, or one of httpx where a proxy or an unusual URL needs it.

Connections belong to the event loop that opened them, so no client outlives its loop, and no two
loops share one. All models share the clients; the pool inside keeps hosts apart. Of httpx, there is
one client per route: a proxy, or none, with TLS or without. What one needs of the environment must
not disturb another.
"""

from __future__ import annotations

import atexit
import os
import threading
from asyncio import AbstractEventLoop
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Final, NamedTuple

import anyio
from anyio.lowlevel import current_token

from agentkit_providers.transport._blocking_client import BlockingClient
from agentkit_providers.transport._concurrent_client import ConcurrentClient
from agentkit_providers.transport._environment import ProxyRoute, proxy_for, tls_context
from agentkit_providers.transport._wire_exchange import plain_target

if TYPE_CHECKING:
    from agentkit_providers.transport._httpx_blocking import BlockingHttpxSender
    from agentkit_providers.transport._httpx_concurrent import HttpxSender


class _Route(NamedTuple):
    """What a client of httpx is made for; our own client serves all that need none."""

    proxy: ProxyRoute | None
    tls: bool


def _httpx_route(url: str) -> _Route | None:
    proxy = proxy_for(url)
    if proxy is None and plain_target(url) is not None:
        return None
    return _Route(proxy, tls=url.startswith("https:"))


class _LoopClients(NamedTuple):
    own: ConcurrentClient
    of_httpx: dict[_Route, HttpxSender]
    keeper: AsyncGenerator[None, None]


_of_loop: Final[dict[object, _LoopClients]] = {}
_blocking: Final[dict[_Route | None, BlockingClient | BlockingHttpxSender]] = {}
_lock = threading.Lock()


async def concurrent_client(url: str) -> ConcurrentClient | HttpxSender:
    """Return the running event loop's client for a URL; make it on first use.

    Raises:
        UnusableSetting: A variable of the environment that the URL needs cannot be used.
    """
    route = _httpx_route(url)
    loop = current_token().native_token
    known = _of_loop.get(loop)
    if known is None:
        _forget_closed_loops()
        known = _of_loop[loop] = _LoopClients(ConcurrentClient(tls_context), {}, _keep(loop))
        await anext(known.keeper)
    if route is None:
        return known.own
    client = known.of_httpx.get(route)
    if client is None:
        from agentkit_providers.transport._httpx_clients import new_concurrent_client
        from agentkit_providers.transport._httpx_concurrent import HttpxSender

        client = known.of_httpx[route] = HttpxSender(
            new_concurrent_client(route.proxy, tls=route.tls)
        )
    return client


async def _keep(loop: object) -> AsyncGenerator[None, None]:
    # The only hook that an event loop offers for its end is that it closes open generators. So
    # this generator stays open as long as the loop.
    try:
        yield
    finally:
        known = _of_loop.pop(loop, None)
        with anyio.CancelScope(shield=True):
            if known is not None:
                await known.own.aclose()
                for client in known.of_httpx.values():
                    await client.aclose()


def _forget_closed_loops() -> None:
    # A loop that was closed without closing its generators; `asyncio.run` and trio leave none.
    for loop in list(_of_loop):
        if isinstance(loop, AbstractEventLoop) and loop.is_closed():
            _of_loop.pop(loop, None)


def blocking_client(url: str) -> BlockingClient | BlockingHttpxSender:
    """Return the process's client for blocking calls to a URL; make it on first use.

    Any thread may call it.

    Raises:
        UnusableSetting: A variable of the environment that the URL needs cannot be used.
    """
    route = _httpx_route(url)
    with _lock:
        client = _blocking.get(route)
        if client is None:
            client = _blocking[route] = _new_blocking_client(route)
        return client


def _new_blocking_client(route: _Route | None) -> BlockingClient | BlockingHttpxSender:
    if route is None:
        return BlockingClient(tls_context)
    from agentkit_providers.transport._httpx_blocking import BlockingHttpxSender
    from agentkit_providers.transport._httpx_clients import new_blocking_client

    return BlockingHttpxSender(new_blocking_client(route.proxy, tls=route.tls))


def _close_blocking_clients() -> None:
    for client in _blocking.values():
        client.close()


atexit.register(_close_blocking_clients)


def _after_fork() -> None:
    # The child process must not use the parent's connections.
    global _lock
    _lock = threading.Lock()
    _blocking.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
