"""Tasks that belong to the event loop, and not to the task that happens to start them.

A task group, or a cancel scope, has to be left by the task that has entered it. A host may leave a
session from another one: Python closes a generator that was left early in a task of its own. So
whatever outlives one call of the host runs here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from contextvars import Context
from functools import partial
from typing import Any, Final

import anyio

from agentkit_loop.drivers._wakeup import Wakeup

_RUNNING: Final[set[Any]] = set()
"""Tasks of asyncio, which itself keeps only weak references to them."""


def start_free_task(
    work: Callable[[], Coroutine[Any, Any, None]], context: Context, on_end: Callable[[], None]
) -> None:
    """Start a task on the running event loop, which may be that of asyncio or of trio.

    Args:
        work: What to do; it raises nothing but the event loop's own cancellation.
        context: The context variables of the task.
        on_end: Called once when the task has ended, even if it was cancelled before it began.
    """
    trio: Any = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_run():

        async def work_and_end() -> None:
            try:
                await work()
            finally:
                on_end()

        trio.lowlevel.spawn_system_task(work_and_end, context=context)
        return
    asyncio: Any = sys.modules["asyncio"]
    task = asyncio.get_running_loop().create_task(work(), context=context)
    _RUNNING.add(task)

    def end(ended: Any) -> None:
        _RUNNING.discard(ended)
        on_end()

    task.add_done_callback(end)


class FreeTasks:
    """The tasks of one session that belong to no task of the host; they are stopped together."""

    __slots__ = ("_ended", "_scopes")

    def __init__(self) -> None:
        # Most sessions have none, and an empty dict takes a quarter of the memory of a set.
        self._scopes: dict[anyio.CancelScope, None] = {}
        """One for each task that has not ended."""
        self._ended: Wakeup | None = None

    def start(
        self, work: Callable[[anyio.CancelScope], Coroutine[Any, Any, None]], context: Context
    ) -> None:
        """Start a task.

        Args:
            work: What to do. It enters the scope around whatever may wait, and raises nothing but
                the event loop's own cancellation.
            context: The context variables of the task.
        """
        scope = anyio.CancelScope()
        self._scopes[scope] = None
        start_free_task(partial(work, scope), context, partial(self._end, scope))

    def cancel(self) -> None:
        """Cancel all tasks, without waiting for their end."""
        for scope in list(self._scopes):
            scope.cancel()

    async def stop(self) -> None:
        """Cancel all tasks and wait until they have ended, even if the host is cancelled."""
        if not self._scopes:
            return
        cancelled: BaseException | None = None
        ended = self._ended = self._ended or Wakeup()
        self.cancel()
        with anyio.CancelScope(shield=True):
            while self._scopes:
                try:
                    await ended.wait()
                except anyio.get_cancelled_exc_class() as error:  # asyncio's own passes a shield
                    cancelled = error
        if cancelled is not None:
            raise cancelled

    def _end(self, scope: anyio.CancelScope) -> None:
        self._scopes.pop(scope, None)
        if not self._scopes:
            self._scopes.clear()  # a dict that was emptied keeps its size
        if self._ended is not None:
            self._ended.notify()
