"""A store in memory: the rules of a real one, and nothing outlives the object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import NamedTuple, TypeVar

from agentkit_core import SessionId
from agentkit_loop.persistence._records import LogEntry, Saved, StaleSave
from agentkit_loop.stores._async_wrapper import BothForms
from agentkit_loop.stores._log_codec import decode_entry, encode_entries

T = TypeVar("T")


class _Kept(NamedTuple):
    seq: int
    head: bytes
    log: list[bytes]
    """Entries as JSON, so that what is loaded shares nothing with what was saved."""


class MemoryStore(BothForms):
    """Keeps sessions in memory, for tests and for hosts that want nothing on disk."""

    def __init__(self) -> None:
        self._sessions: dict[SessionId, _Kept] = {}
        self._lock = Lock()

    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        """Read all that is stored of a session; see `BlockingStore.load_blocking`."""
        with self._lock:
            kept = self._sessions.get(session_id)
            if kept is None:
                return None
            log = kept.log.copy()
        return Saved(kept.seq, kept.head, tuple(map(decode_entry, log)))

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Save a session; see `BlockingStore.save_blocking`."""
        with self._lock:
            kept = self._sessions.get(session_id, _Kept(0, b"", []))
            if seq != kept.seq + 1:
                raise StaleSave(session_id, seq, stored=kept.seq)
            kept.log.extend(encode_entries(session_id, log, after=len(kept.log)))
            self._sessions[session_id] = _Kept(seq, bytes(head), kept.log)

    async def _awaited(self, work: Callable[[], T]) -> T:
        return work()  # a thread would take longer than the work

    def session_ids_blocking(self) -> tuple[SessionId, ...]:
        """Name all sessions that were saved, sorted."""
        with self._lock:
            return tuple(sorted(self._sessions))

    def delete_blocking(self, session_id: SessionId, /) -> None:
        """Forget a session, or do nothing when there is none; its next save is number 1."""
        with self._lock:
            self._sessions.pop(session_id, None)
