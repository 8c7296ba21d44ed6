"""Which connections wait for another request: how many, and for how long."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

C = TypeVar("C", bound=Hashable)


class IdleConnections(Generic[C]):
    """The idle connections of one client; it opens and closes none itself.

    Each method takes the same time however many connections there are.

    Args:
        max_count: How many may be idle, for all servers together.
        max_age_s: How long one may be idle, in seconds.
    """

    def __init__(self, *, max_count: int, max_age_s: float) -> None:
        self._max_count = max_count
        self._max_age_s = max_age_s
        self._since: OrderedDict[C, tuple[Hashable, float]] = OrderedDict()  # oldest first
        self._of_server: dict[Hashable, dict[C, None]] = {}  # oldest first

    def __len__(self) -> int:
        return len(self._since)

    def add(self, server: Hashable, connection: C, now: float) -> C | None:
        """Add a connection.

        Args:
            server: Where it leads.
            connection: The connection.
            now: A monotonic clock, in seconds.

        Returns:
            The oldest connection if there are too many now; the caller must close it.
        """
        self._since[connection] = (server, now)
        self._of_server.setdefault(server, {})[connection] = None
        return self._pop_oldest() if len(self._since) > self._max_count else None

    def pop(self, server: Hashable) -> C | None:
        """Take out the connection to a server that was added last; None if there is none."""
        known = self._of_server.get(server)
        if known is None:
            return None
        connection, _ = known.popitem()
        if not known:
            del self._of_server[server]
        del self._since[connection]
        return connection

    def pop_expired(self, now: float) -> C | None:
        """Take out a connection that was idle for too long; the caller must close it."""
        if not self._since:
            return None
        _, since = next(iter(self._since.values()))
        return self._pop_oldest() if now - since > self._max_age_s else None

    def pop_any(self) -> C | None:
        """Take out any connection; None if there is none."""
        return self._pop_oldest() if self._since else None

    def _pop_oldest(self) -> C:
        connection, (server, _) = self._since.popitem(last=False)
        known = self._of_server[server]
        del known[connection]
        if not known:
            del self._of_server[server]
        return connection
