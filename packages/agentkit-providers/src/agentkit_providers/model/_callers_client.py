"""The HTTP client that a caller brings along."""

from __future__ import annotations

from typing import Any


class CallersClient:
    """An HTTP client of the caller's. Its headers and proxies may hold keys, so it is not shown.

    Args:
        client: An `httpx.AsyncClient` or an `httpx.Client`; None for none.
    """

    __slots__ = ("_client",)

    def __init__(self, client: Any) -> None:
        self._client = client

    def for_loop(self) -> Any:
        """The client if it is one for event loops; None otherwise."""
        return self._client if hasattr(self._client, "aclose") else None

    def for_blocking(self) -> Any:
        """The client if it is one for blocking calls; None otherwise."""
        return self._client if hasattr(self._client, "close") else None

    def __reduce__(self) -> tuple[type[CallersClient], tuple[None]]:
        if self._client is not None:
            raise TypeError(
                "a model with an HTTP client of its own cannot be pickled; make the model again "
                "with `connect` where it is needed"
            )
        return CallersClient, (None,)
