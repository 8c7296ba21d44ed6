"""The lease of a stored session: held by this process while it works on the session."""

from __future__ import annotations

from agentkit_core import SessionId
from agentkit_loop.persistence._records import Lease, LeasingStore


class SessionLease:
    """Takes the lease of one session when it is needed, and gives it back.

    Not thread-safe: it is used where no other thread steps.

    Args:
        store: Where the session is saved; without a lease if it is no `LeasingStore`.
        session_id: The session.
    """

    __slots__ = ("_lease", "_session_id", "_store")

    def __init__(self, store: object = None, session_id: SessionId | None = None) -> None:
        self._store = store if isinstance(store, LeasingStore) else None
        self._session_id = session_id
        self._lease: Lease | None = None

    def take(self) -> None:
        """Take the lease, unless it is held already.

        Raises:
            SessionInUse: Somebody else has it.
        """
        if self._lease is None and self._store is not None and self._session_id is not None:
            self._lease = self._store.lease(self._session_id)

    def release(self) -> None:
        """Give the lease back if it is held."""
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.release()
