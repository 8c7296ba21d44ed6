"""A store in memory: it follows the rules of every store, and nothing outlives the object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import NamedTuple, TypeVar

from agentkit_core import SessionId
from agentkit_loop.persistence._records import (
    Lease,
    LogEntry,
    Salvage,
    Saved,
    SessionInUse,
    StaleSave,
)
from agentkit_loop.stores._async_wrapper import AsyncWrapper
from agentkit_loop.stores._log_codec import decode_entry, encode_entries

T = TypeVar("T")


class _Session(NamedTuple):
    seq: int
    head: bytes
    log: list[bytes]
    """Entries as JSON, so that loaded entries share no objects with saved ones."""


class _MemoryLease:
    def __init__(self, leased: set[SessionId], session_id: SessionId) -> None:
        self._leased = leased
        self._session_id: SessionId | None = session_id

    def release(self) -> None:
        session_id, self._session_id = self._session_id, None
        if session_id is not None:
            self._leased.discard(session_id)

    def __del__(self) -> None:
        self.release()


class MemoryStore(AsyncWrapper):
    """Keeps sessions in memory, for tests and for hosts that store nothing on disk."""

    __slots__ = ("_leased", "_lock", "_sessions")

    def __init__(self) -> None:
        self._sessions: dict[SessionId, _Session] = {}
        self._lock = Lock()
        self._leased: set[SessionId] = set()

    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        """Read all that is stored of a session; see `BlockingStore.load_blocking`."""
        with self._lock:
            session = self._sessions.get(session_id)
            if session is None:
                return None
            log = session.log.copy()
        return Saved(session.seq, session.head, tuple(map(decode_entry, log)))

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Save a session; see `BlockingStore.save_blocking`."""
        with self._lock:
            session = self._sessions.get(session_id, _Session(0, b"", []))
            if seq != session.seq + 1:
                raise StaleSave(session_id, seq, stored=session.seq)
            session.log.extend(encode_entries(session_id, log, after=len(session.log)))
            self._sessions[session_id] = _Session(seq, bytes(head), session.log)

    def lease(self, session_id: SessionId, /) -> Lease:
        """Take the lease of a session; see `LeasingStore.lease`."""
        with self._lock:
            if session_id in self._leased:
                raise SessionInUse(session_id)
            self._leased.add(session_id)
        return _MemoryLease(self._leased, session_id)

    def salvage_blocking(self, session_id: SessionId, /) -> Salvage | None:
        """Read all of a session; nothing is damaged in memory."""
        saved = self.load_blocking(session_id)
        return None if saved is None else Salvage(session_id, saved.seq, saved.head, saved.log, ())

    async def _run(self, work: Callable[[], T]) -> T:
        return work()  # starting a thread would take longer than the work

    def session_ids_blocking(self) -> tuple[SessionId, ...]:
        """Return the ids of all saved sessions, sorted."""
        with self._lock:
            return tuple(sorted(self._sessions))

    def delete_blocking(self, session_id: SessionId, /) -> None:
        """Delete a session if there is one; its next save has the number 1."""
        with self._lock:
            self._sessions.pop(session_id, None)
