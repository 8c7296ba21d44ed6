"""Addresses: a base URL, which may have a query, and the path of a request below it.

Azure and gateways give addresses with a query (anthropics/anthropic-sdk-typescript#923). The path
of a request goes before it, and the request's own query beside it.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from agentkit_core import AgentkitError
from agentkit_providers._secrets._in_urls import mask_url
from agentkit_providers._secrets._secret import MASK


class MissingBaseUrl(AgentkitError):
    """There is no base URL for a provider, or the base URL is not valid."""

    def __init__(self, provider: str, base_url: str) -> None:
        shown = mask_url(base_url.partition("#")[0]).rpartition("@")[2].partition("?")[0]
        what = f"{shown!r} is not a valid base URL" if base_url else "there is no base URL"
        if MASK in base_url:
            what = f"{shown!r} is masked and not the whole base URL"
        super().__init__(
            f"{what} for {provider!r}; pass base_url=…, beginning with https:// or http:// "
            f"and without a fragment (#…)"
        )
        self.provider = provider


def check_base_url(provider: str, url: object) -> str:
    """Check a base URL; return it without slashes at the end of its path.

    Raises:
        MissingBaseUrl: It is not a string, or no paths can be put below it: it is not one of HTTP,
            has a fragment, or is the masked form of another.
    """
    if not isinstance(url, str):
        raise MissingBaseUrl(provider, f"a value of type {type(url).__name__}")
    try:
        host, _ = urlsplit(url).hostname, urlsplit(url).port  # may raise, with the URL in the text
    except ValueError:
        raise MissingBaseUrl(provider, url) from None
    if not host or not url.startswith(("https://", "http://")) or "#" in url or MASK in url:
        raise MissingBaseUrl(provider, url)
    return without_end_slash(url)


def without_end_slash(url: str) -> str:
    """A base URL without slashes at the end of its path."""
    path, mark, query = url.partition("?")
    return path.rstrip("/") + mark + query


def join_url(base_url: str, path: str) -> str:
    """Put a path below a base URL.

    Args:
        base_url: The base URL; may have a query.
        path: Begins with a slash; may have a query of its own, whose fields win.

    Returns:
        The URL with the base URL's query, and the request's own after it.
    """
    base, _, base_query = base_url.partition("?")
    own_path, _, own_query = path.partition("?")
    own = [field for field in own_query.split("&") if field]
    names = {field.partition("=")[0] for field in own}
    shared = [
        field for field in base_query.split("&") if field and field.partition("=")[0] not in names
    ]
    query = "&".join((*shared, *own))
    return base.rstrip("/") + own_path + (f"?{query}" if query else "")
