"""Makes a store that blocks usable on an event loop, by running its methods in a thread."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from threading import Event, Lock
from typing import TypeVar

from agentkit_core import SessionId
from agentkit_loop.persistence._records import LogEntry, Salvage, Saved
from agentkit_loop.stores._waiting import cancelled_by

T = TypeVar("T")


class AsyncWrapper(ABC):
    """Base class of stores: they implement the blocking methods and inherit the async ones."""

    __slots__ = ("__weakref__",)

    save_is_cancellable = True
    """A save that is cancelled while it waits ends at once; see `CancellableStore`."""

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
        """Return the ids of all saved sessions, sorted."""

    @abstractmethod
    def delete_blocking(self, session_id: SessionId, /) -> None:
        """Delete a session if there is one; its next save has the number 1."""

    @abstractmethod
    def salvage_blocking(self, session_id: SessionId, /) -> Salvage | None:
        """Read what can be read of a session, damaged or not; None if there is none.

        Raises:
            DamagedSave: What is stored under this id is another session, or nothing can be read.
        """

    async def load(self, session_id: SessionId, /) -> Saved | None:
        """Read all that is stored of a session; see `BlockingStore.load_blocking`."""
        return await self._run(partial(self.load_blocking, session_id))

    async def save(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Save a session; see `BlockingStore.save_blocking`.

        A save that has begun to write is finished even if the caller is cancelled. While it waits
        for a lock, it ends and writes nothing.
        """
        await self._run(partial(self.save_blocking, session_id, seq=seq, head=head, log=log))

    async def session_ids(self) -> tuple[SessionId, ...]:
        """Return the ids of all saved sessions, sorted."""
        return await self._run(self.session_ids_blocking)

    async def delete(self, session_id: SessionId, /) -> None:
        """Delete a session if there is one; its next save has the number 1."""
        await self._run(partial(self.delete_blocking, session_id))

    async def salvage(self, session_id: SessionId, /) -> Salvage | None:
        """Read what can be read of a session, damaged or not; see `salvage_blocking`."""
        return await self._run(partial(self.salvage_blocking, session_id))

    async def _run(self, work: Callable[[], T]) -> T:
        return await _in_thread(work)


async def _in_thread(work: Callable[[], T]) -> T:
    from anyio import (  # imported late: blocking hosts never need it
        CancelScope,
        get_cancelled_exc_class,
    )
    from anyio.to_thread import run_sync

    # Taken either by the thread when it begins, or by the caller that is cancelled before that.
    claim, over, cancelled = Lock(), Event(), Event()

    def claim_and_work() -> T:
        if not claim.acquire(blocking=False):
            raise RuntimeError("the caller was cancelled before the thread began")
        try:
            with cancelled_by(cancelled):
                return work()
        finally:
            over.set()

    try:
        return await run_sync(claim_and_work, abandon_on_cancel=True)
    except get_cancelled_exc_class():
        # The thread ends at once if it waits for a lock, and finishes what it has begun to write.
        cancelled.set()
        if not claim.acquire(blocking=False):
            with CancelScope(shield=True):
                await run_sync(over.wait, abandon_on_cancel=False)
        raise
