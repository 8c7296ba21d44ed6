"""URLs with a key in the query: sent as they are, and masked in the logs of the HTTP client."""

from __future__ import annotations

import httpx

from agentkit_providers._secrets._in_urls import mask_url


class HiddenUrl(httpx.URL):
    """A URL that is masked where it is printed; what is sent does not come from there."""

    def __str__(self) -> str:
        return mask_url(super().__str__())

    def __repr__(self) -> str:
        return f"URL({str(self)!r})"


def hide_secrets(request: httpx.Request) -> None:
    """Mask the URL of a request where it may hold a key."""
    if request.url.query and isinstance(request.url, httpx.URL):
        request.url = HiddenUrl(request.url)
