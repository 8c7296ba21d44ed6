"""Whether a request was sent on a connection of its own, or on one that had been opened before."""

from __future__ import annotations


class ConnectionTrace:
    """Records what the HTTP client does with one request; its methods are trace functions.

    If a client does not trace, no connection counts as reused.
    """

    def __init__(self) -> None:
        self._opened = False
        self._sent = False

    @property
    def was_reused(self) -> bool:
        """Whether the request was sent on a connection that had been opened before."""
        return self._sent and not self._opened

    def record(self, event: str, info: object) -> None:
        """Record an event of a blocking HTTP client."""
        if event.startswith("connection.connect_"):
            self._opened = True
        elif event.endswith(".send_request_headers.started"):
            self._sent = True

    async def record_async(self, event: str, info: object) -> None:
        """Record an event of an HTTP client with an event loop."""
        self.record(event, info)
