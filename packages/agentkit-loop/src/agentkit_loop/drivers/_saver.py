"""Saves an engine's outbox to a store, on an event loop."""

from __future__ import annotations

from typing import Final

import anyio

from agentkit_loop.drivers._engine import Engine
from agentkit_loop.drivers._save_steps import begin_save, end_save, resolve_doubt
from agentkit_loop.persistence._records import CancellableStore
from agentkit_loop.ports import Store

CLOSE_TIMEOUT_S: Final = 5.0
"""How long a cancelled host still waits: for a model to close a response, for a store to save."""
_LOCK_TIMEOUT_S: Final = 0.25
"""How long a cancelled host still waits for somebody else who saves to the same store."""


class Saver:
    """Saves what an engine has decided, one save at a time.

    Args:
        engine: The session's engine.
        store: Where to save; None if the session is not stored.
    """

    __slots__ = ("_engine", "_is_cancellable", "_lock", "_store")

    def __init__(self, engine: Engine, store: Store | None) -> None:
        self._engine = engine
        self._store = store
        self._lock: anyio.Lock | None = None
        self._is_cancellable = _is_cancellable(store)

    async def flush(self) -> None:
        """Save what was decided and carry it out, until nothing is left.

        Raises:
            Exception: It could not be saved; the engine does nothing any more.
        """
        engine = self._engine
        if not engine.outbox:
            return
        if self._lock is None:
            self._lock = anyio.Lock()
        async with self._lock:
            while engine.outbox and engine.save_error is None:
                await self._save()
                engine.runner.after_step()

    async def flush_shielded(self) -> None:
        """Save what was decided, even if the task is cancelled.

        Does nothing once the session is over: a stream that was never closed may come here when
        its session has long been left.
        """
        if self._engine.save_error is None and not self._engine.is_over:
            # What has begun to be written is finished even after that time; the rest is saved
            # when the session goes on.
            wait_s = _LOCK_TIMEOUT_S if self._is_cancellable else CLOSE_TIMEOUT_S
            with anyio.move_on_after(wait_s, shield=True):
                await self.flush()

    async def _save(self) -> None:
        engine, store = self._engine, self._store
        assert store is not None  # noqa: S101  (without a store the outbox is always empty)
        session_id, in_doubt = engine.state.session_id, engine.outbox.in_doubt
        try:
            # A save that has begun is waited for: only then is it known what is stored. One that
            # was cancelled is in doubt, and what is stored is read before the next one.
            with anyio.CancelScope(shield=not self._is_cancellable):
                if in_doubt:
                    stored = await store.load(session_id)
                else:
                    save, head = begin_save(engine)
                    seq = engine.outbox.saves + 1
                    await store.save(session_id, seq=seq, head=head, log=save.log)
        except Exception as error:
            engine.fail_save(error)
            engine.runner.after_step()
            raise
        if in_doubt:
            resolve_doubt(engine, stored)
        else:
            end_save(engine, save)


def _is_cancellable(store: object) -> bool:
    return isinstance(store, CancellableStore) and store.save_is_cancellable


def close_deadline() -> float:
    """Return the moment until which a cancelled host waits, on the event loop's clock."""
    return anyio.current_time() + CLOSE_TIMEOUT_S
