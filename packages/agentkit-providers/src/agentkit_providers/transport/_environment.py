"""Proxies and certificates as the environment names them, read by us and not by the HTTP client.

The variables are other people's, and the client raises exceptions of its own for what it cannot
read. Here, entries of NO_PROXY that make no sense are passed over, a proxy is only looked at by
requests that go through it, and certificates only by those that need them.
"""

from __future__ import annotations

import os
import ssl
import sys
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

from agentkit_providers._secrets._in_urls import mask_url, secrets_in_url

_SCHEMES: Final = ("http", "https", "socks5", "socks5h")
_TLS_VARIABLES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE", "OPENSSL_CONF")


_PROXY_VARIABLES: Final = (
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    "REQUEST_METHOD",  # set by a web server, whose clients choose HTTP_PROXY
)

_PROXIES_OF_SCHEME: Final = {
    "http": ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"),
    "https": ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
}
_SYSTEM_HAS_PROXIES: Final = sys.platform in ("darwin", "win32")
"""Whether a proxy may be set elsewhere than in variables."""


class UnusableSetting(Exception):
    """A variable of the environment that this request needs cannot be used."""


class ProxyRoute(NamedTuple):
    """A proxy that requests go through.

    Attributes:
        url: Its address, which may hold a password.
        variable: The variable that names it.
    """

    url: str
    variable: str

    def __repr__(self) -> str:
        return f"ProxyRoute({mask_url(self.url)!r}, {self.variable!r})"


def proxy_for(url: str) -> ProxyRoute | None:
    """Find the proxy for a request; None where it needs none.

    Raises:
        UnusableSetting: The variable that names the proxy is not a valid address of one.
    """
    get = os.environ.get
    variables = _PROXIES_OF_SCHEME.get(url.partition(":")[0], _PROXY_VARIABLES)
    if not _SYSTEM_HAS_PROXIES and not any(map(get, variables)):
        return None
    parts = urlsplit(url)
    return _proxy_for(parts.scheme, parts.netloc, tuple(map(get, _PROXY_VARIABLES)))


def secrets_of_proxy(url: str) -> tuple[str, ...]:
    """The user and the password of the proxy for a request; empty where there are none."""
    try:
        route = proxy_for(url)
    except UnusableSetting:
        return ()
    return () if route is None else secrets_in_url(route.url)


@lru_cache(maxsize=256)
def _proxy_for(scheme: str, netloc: str, _: tuple[str | None, ...]) -> ProxyRoute | None:
    """Find the proxy of a host; once for each setting of the variables, for it takes 0.1 ms."""
    proxies = getproxies()
    parts = urlsplit(f"{scheme}://{netloc}")
    name = parts.scheme if proxies.get(parts.scheme) else "all"
    address = proxies.get(name)
    if not address or is_exempt(parts.hostname or "", parts.port, proxies.get("no", "")):
        return None
    variable = _variable(f"{name}_proxy")
    address = address if "://" in address else f"http://{address}"
    _check(address, variable)
    return ProxyRoute(address, variable)


def _variable(name: str) -> str:
    set_ones = [known for known in (name, name.upper()) if os.environ.get(known)]
    return set_ones[0] if set_ones else "the system's proxy settings"


def _check(address: str, variable: str) -> None:
    import httpx  # takes long to import, and is needed for proxies only

    try:
        parts = urlsplit(address)
        port = parts.port  # raises ValueError
        host = (parts.hostname or "").encode("idna")
        is_valid = parts.scheme in _SCHEMES and bool(host) and port != 0
        httpx.Proxy(address)
    except (ValueError, httpx.InvalidURL):
        is_valid = False
    if not is_valid:
        raise UnusableSetting(
            f"{variable} is not a valid address of a proxy; fix it, or put the host into NO_PROXY"
        )


def is_exempt(host: str, port: int | None, no_proxy: str) -> bool:
    """Whether NO_PROXY excepts a host: by its name, a domain above it, its address or network.

    Entries may have a port or a `*` before them. Those that make no sense except nothing.
    """
    entries = (entry.strip().lower() for entry in no_proxy.replace(" ", ",").split(","))
    return any(entry and _matches(host.lower(), port, entry) for entry in entries)


def _matches(host: str, port: int | None, entry: str) -> bool:
    if entry == "*":
        return True
    try:
        return ip_address(host) in ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass
    entry = entry.partition("://")[2] or entry
    name, colon, entry_port = entry.rpartition(":")
    if colon and entry_port.isdigit() and (":" not in name or name.endswith("]")):
        if str(port) != entry_port:
            return False
        entry = name
    entry = entry.strip("[]").removeprefix("*").removeprefix(".")
    return bool(entry) and (host == entry or host.endswith(f".{entry}"))


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Read the certificates; once, since that takes some 10 ms.

    Raises:
        UnusableSetting: A variable names files that cannot be used.
    """
    try:
        return _read_certificates()
    except (OSError, ValueError) as error:
        names = " or ".join(set_tls_variables()) or "the certificates that come with certifi"
        raise UnusableSetting(
            f"the certificates cannot be read: fix {names} ({type(error).__name__}: {error})"
        ) from error


def _read_certificates() -> ssl.SSLContext:
    """Make the same context as httpx, which need not be imported for that."""
    import certifi

    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file:
        context = ssl.create_default_context(cafile=file)
    elif folder:
        context = ssl.create_default_context(capath=folder)
    else:
        context = ssl.create_default_context(cafile=certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


def set_tls_variables() -> list[str]:
    """The variables that say which certificates are believed, as far as they are set."""
    return [name for name in _TLS_VARIABLES if os.environ.get(name)]
