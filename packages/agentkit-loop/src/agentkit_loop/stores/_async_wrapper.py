"""The two forms of a store: what blocks is written once, what is awaited runs it in a thread."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from threading import Event, Lock
from typing import TypeVar

from agentkit_core import SessionId
from agentkit_loop.persistence._records import LogEntry, Saved

T = TypeVar("T")


class BothForms(ABC):
    """A store in its blocking form, which gets the form to await from here."""

    @abstractmethod
    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        """Read all that is stored of a session; see `BlockingStore.load_blocking`."""

    @abstractmethod
    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Save a session; see `BlockingStore.save_blocking`."""

    @abstractmethod
    def session_ids_blocking(self) -> tuple[SessionId, ...]:
        """Name all sessions that were saved, sorted."""

    @abstractmethod
    def delete_blocking(self, session_id: SessionId, /) -> None:
        """Forget a session, or do nothing when there is none; its next save is number 1."""

    async def load(self, session_id: SessionId, /) -> Saved | None:
        """Read all that is stored of a session; see `BlockingStore.load_blocking`."""
        return await self._awaited(partial(self.load_blocking, session_id))

    async def save(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Save a session; see `BlockingStore.save_blocking`.

        A save that has begun is finished even when it is cancelled.
        """
        await self._awaited(partial(self.save_blocking, session_id, seq=seq, head=head, log=log))

    async def session_ids(self) -> tuple[SessionId, ...]:
        """Name all sessions that were saved, sorted."""
        return await self._awaited(self.session_ids_blocking)

    async def delete(self, session_id: SessionId, /) -> None:
        """Forget a session, or do nothing when there is none; its next save is number 1."""
        await self._awaited(partial(self.delete_blocking, session_id))

    async def _awaited(self, work: Callable[[], T]) -> T:
        return await _in_thread(work)


async def _in_thread(work: Callable[[], T]) -> T:
    from anyio import CancelScope, get_cancelled_exc_class  # who blocks never loads it
    from anyio.to_thread import run_sync

    # Of the two, one is the first to take it: the thread that begins, or whoever gives up before.
    claim, over = Lock(), Event()

    def claimed() -> T:
        if not claim.acquire(blocking=False):
            raise RuntimeError("given up before it began")
        try:
            return work()
        finally:
            over.set()

    try:
        return await run_sync(claimed, abandon_on_cancel=False)
    except get_cancelled_exc_class():
        # `asyncio.Task.cancel` goes through any shield, and leaves the thread to itself.
        if not claim.acquire(blocking=False):
            with CancelScope(shield=True):
                await run_sync(over.wait, abandon_on_cancel=False)
        raise
