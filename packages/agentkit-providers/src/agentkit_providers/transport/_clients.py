"""Which HTTP client is used: one per event loop and route, and one per route for blocking calls.

Connections belong to the event loop that opened them, so no client outlives its loop, and no two
loops share one. All models share the clients; the pool inside keeps hosts apart. A route is a
proxy, or none, with TLS or without: what one needs of the environment must not disturb another.
"""

from __future__ import annotations

import atexit
import os
import socket
import threading
from asyncio import AbstractEventLoop
from collections.abc import AsyncGenerator
from typing import Any, Final, NamedTuple

import anyio
import httpx
from anyio.lowlevel import current_token

from agentkit_providers.transport._deadlines import DeadlineBackend
from agentkit_providers.transport._environment import (
    ProxyRoute,
    UnusableSetting,
    proxy_for,
    tls_context,
)

_LIMITS: Final = httpx.Limits(
    max_connections=None,  # the caller decides how many calls run at once
    max_keepalive_connections=100,
    keepalive_expiry=30.0,  # a tool round between two calls may take some seconds
)


def _keep_alive_options() -> list[tuple[int, int, int]]:
    """Socket options that show a silent connection to be alive, before middleboxes drop it."""
    idle = "TCP_KEEPIDLE" if hasattr(socket, "TCP_KEEPIDLE") else "TCP_KEEPALIVE"  # at Apple
    values = ((idle, 60), ("TCP_KEEPINTVL", 60), ("TCP_KEEPCNT", 5))
    return [
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        *(
            (socket.IPPROTO_TCP, getattr(socket, name), value)
            for name, value in values
            if hasattr(socket, name)
        ),
    ]


class _Route(NamedTuple):
    proxy: ProxyRoute | None
    tls: bool


class _LoopClients(NamedTuple):
    clients: dict[_Route, httpx.AsyncClient]
    keeper: AsyncGenerator[None, None]


_of_loop: Final[dict[object, _LoopClients]] = {}
_blocking: Final[dict[_Route, httpx.Client]] = {}
_lock = threading.Lock()


def _route(url: str) -> _Route:
    return _Route(proxy_for(url), tls=url.startswith("https:"))


def _options(route: _Route) -> dict[str, Any]:
    """What the client of a route is made with."""
    verify = tls_context() if route.tls else False
    proxy = None
    if route.proxy is not None:
        is_tls = route.proxy.url.startswith("https:")
        proxy = httpx.Proxy(route.proxy.url, ssl_context=tls_context() if is_tls else None)
    return {
        "verify": verify,
        "trust_env": False,
        "limits": _LIMITS,
        "proxy": proxy,
        "socket_options": _keep_alive_options(),
    }


async def concurrent_client(url: str) -> httpx.AsyncClient:
    """Return the running event loop's client for a URL; make it on first use.

    Raises:
        UnusableSetting: A variable of the environment that the URL needs cannot be used.
    """
    route = _route(url)
    loop = current_token().native_token
    known = _of_loop.get(loop)
    if known is None:
        _forget_closed_loops()
        known = _of_loop[loop] = _LoopClients({}, _keep(loop))
        await anext(known.keeper)
    client = known.clients.get(route)
    if client is None:
        transport = _make(httpx.AsyncHTTPTransport, route)
        client = known.clients[route] = httpx.AsyncClient(transport=transport, trust_env=False)
    return client


def _make(transport: Any, route: _Route) -> Any:
    options = _options(route)
    try:
        return transport(**options)
    except (ImportError, ValueError) as error:
        variable = "the proxy" if route.proxy is None else route.proxy.variable
        raise UnusableSetting(f"{variable} cannot be used: {error}") from error


async def _keep(loop: object) -> AsyncGenerator[None, None]:
    # The only hook that an event loop offers for its end is that it closes open generators. So
    # this generator stays open as long as the loop.
    try:
        yield
    finally:
        known = _of_loop.pop(loop, None)
        with anyio.CancelScope(shield=True):
            for client in () if known is None else known.clients.values():
                await client.aclose()


def _forget_closed_loops() -> None:
    # A loop that was closed without closing its generators; `asyncio.run` and trio leave none.
    for loop in list(_of_loop):
        if isinstance(loop, AbstractEventLoop) and loop.is_closed():
            _of_loop.pop(loop, None)


def blocking_client(url: str) -> httpx.Client:
    """Return the process's client for blocking calls to a URL; make it on first use.

    Any thread may call it.

    Raises:
        UnusableSetting: A variable of the environment that the URL needs cannot be used.
    """
    route = _route(url)
    with _lock:
        client = _blocking.get(route)
        if client is None:
            transport = _make(httpx.HTTPTransport, route)
            pool = transport._pool  # httpx has no parameter for the network backend
            pool._network_backend = DeadlineBackend(pool._network_backend)
            client = _blocking[route] = httpx.Client(transport=transport, trust_env=False)
            atexit.register(client.close)
        return client


def _after_fork() -> None:
    # The child process must not use the parent's connections.
    global _lock
    _lock = threading.Lock()
    _blocking.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
