"""Addresses: a base URL, which may have a query, and the path of a request below it.

Azure and gateways give addresses with a query (anthropics/anthropic-sdk-typescript#923). The path
of a request goes before it, and the request's own query beside it.
"""

from __future__ import annotations


def is_base_url(url: str) -> bool:
    """Whether paths can be put below a URL: it is one of HTTP and has no fragment."""
    return url.startswith(("https://", "http://")) and "#" not in url


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
