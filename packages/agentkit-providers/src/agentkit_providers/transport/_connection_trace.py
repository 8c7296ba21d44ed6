"""Whether a request was sent on a connection of its own, or on one that had been opened before."""

from __future__ import annotations

from collections.abc import Mapping


class ConnectionTrace:
    """Records what an HTTP client does with one request; for httpx it has trace functions.

    If a client does not trace, no connection counts as reused.
    """

    def __init__(self) -> None:
        self._opened = False
        self._sent = False
        self.sent_headers: Mapping[str, str] = {}
        """The headers of the request, if the client has added some of its own."""

    @property
    def was_reused(self) -> bool:
        """Whether the request was sent on a connection that had been opened before."""
        return self._sent and not self._opened

    def record_reuse(self) -> None:
        """Record that the request is about to be sent on a connection that was opened before."""
        self._sent = True

    def record(self, event: str, info: object) -> None:
        """Record an event of a blocking client of httpx."""
        if event.startswith("connection.connect_"):
            self._opened = True
        elif event.endswith(".send_request_headers.started"):
            self._sent = True

    async def record_async(self, event: str, info: object) -> None:
        """Record an event of a client of httpx with an event loop."""
        self.record(event, info)
