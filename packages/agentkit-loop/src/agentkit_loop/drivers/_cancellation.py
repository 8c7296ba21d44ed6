"""Notices that whoever runs a session has cancelled the work, even if somebody caught that.

A cancellation is an exception, and code of the host may catch everything: a tool, a hook, a model,
a store. So the driver looks before it begins anything and after it has awaited anything.
"""

from __future__ import annotations

import math
import sys
from time import perf_counter
from typing import Any, Final

import anyio
import anyio.lowlevel

LONG_S: Final = 0.05
"""Code that has taken longer may have kept the event loop from noticing a deadline."""


class Cancellation:
    """Whether the work on one session is cancelled, by a cancel scope or by asyncio's own means.

    Under asyncio, a task counts how often it was cancelled. A host may have caught an earlier
    cancellation and run an agent afterwards, so only what came since the work began counts.
    """

    __slots__ = ("_earlier", "_task")

    def __init__(self) -> None:
        self._task: Any = None
        self._earlier = 0

    def begin_work(self) -> None:
        """Note that the present task works on the session from now on."""
        self._task = _asyncio_task()
        self._earlier = _requests_to_cancel(self._task)

    def change_task(self) -> None:
        """Note the present task if another one has worked on the session so far."""
        if _asyncio_task() is not self._task:
            self.begin_work()

    @property
    def is_requested(self) -> bool:
        """Whether the present task is to end; never in a thread without an event loop."""
        task = _asyncio_task()
        if task is not None and task.cancelling() > (self._earlier if task is self._task else 0):
            return True
        try:
            # Cheaper by far than asking anyio's description of the task, which it makes anew.
            return anyio.current_effective_deadline() == -math.inf
        except anyio.NoEventLoopError:
            return False

    @property
    def was_delivered(self) -> bool:
        """Whether `is_requested` and the task has been told: cheaper, for what is done often.

        Only for the task that was noted last. Before that, it will be told as soon as it waits.
        """
        task = self._task
        return self.is_requested if task is None else bool(task.cancelling() > self._earlier)

    async def raise_if_requested(self, *, since: float | None = None) -> None:
        """Raise the event loop's cancellation in the present task if it is to end.

        Args:
            since: When the last work began, as `perf_counter` says. If that is long ago, the event
                loop gets a chance to notice a deadline; None leaves that out.
        """
        if since is not None and perf_counter() - since > LONG_S:
            # asyncio runs a timer that is due in the turn after the one in which it finds it.
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
        if not self.is_requested:
            return
        await anyio.lowlevel.checkpoint()  # a cancel scope raises here
        raise anyio.get_cancelled_exc_class()


def _asyncio_task() -> Any:
    asyncio: Any = sys.modules.get("asyncio")
    try:
        return None if asyncio is None else asyncio.current_task()
    except RuntimeError:  # trio runs
        return None


def _requests_to_cancel(task: Any) -> int:
    return 0 if task is None else task.cancelling()
