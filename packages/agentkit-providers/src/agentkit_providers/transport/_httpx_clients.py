"""Clients of httpx, for what our own client leaves to it: proxies, and URLs that need escaping."""

from __future__ import annotations

from typing import Any, Final

import httpx

from agentkit_providers.transport._deadlines import DeadlineBackend
from agentkit_providers.transport._environment import ProxyRoute, UnusableSetting, tls_context
from agentkit_providers.transport._pool_limits import IDLE_S, KEEP_ALIVE, MAX_IDLE

_LIMITS: Final = httpx.Limits(
    max_connections=None, max_keepalive_connections=MAX_IDLE, keepalive_expiry=IDLE_S
)


def new_concurrent_client(proxy: ProxyRoute | None, *, tls: bool) -> httpx.AsyncClient:
    """Make a client for an event loop.

    Args:
        proxy: The proxy that requests go through, if any.
        tls: Whether servers have certificates.

    Raises:
        UnusableSetting: A variable of the environment cannot be used.
    """
    transport = _make(httpx.AsyncHTTPTransport, proxy, tls)
    return httpx.AsyncClient(transport=transport, trust_env=False)


def new_blocking_client(proxy: ProxyRoute | None, *, tls: bool) -> httpx.Client:
    """Make a client for blocking calls; its connections keep to the deadline of their thread.

    Args:
        proxy: The proxy that requests go through, if any.
        tls: Whether servers have certificates.

    Raises:
        UnusableSetting: A variable of the environment cannot be used.
    """
    transport = _make(httpx.HTTPTransport, proxy, tls)
    pool = transport._pool  # httpx has no parameter for the network backend
    pool._network_backend = DeadlineBackend(pool._network_backend)
    return httpx.Client(transport=transport, trust_env=False)


def _make(transport: Any, proxy: ProxyRoute | None, tls: bool) -> Any:
    """Make a transport of httpx.

    Args:
        transport: Its class.
        proxy: The proxy that requests go through, if any.
        tls: Whether servers have certificates.
    """
    of_httpx = None
    if proxy is not None:
        is_tls = proxy.url.startswith("https:")
        of_httpx = httpx.Proxy(proxy.url, ssl_context=tls_context() if is_tls else None)
    try:
        return transport(
            verify=tls_context() if tls else False,
            trust_env=False,
            limits=_LIMITS,
            proxy=of_httpx,
            socket_options=KEEP_ALIVE,
        )
    except (ImportError, ValueError) as error:
        variable = "the proxy" if proxy is None else proxy.variable
        raise UnusableSetting(f"{variable} cannot be used: {error}") from error
