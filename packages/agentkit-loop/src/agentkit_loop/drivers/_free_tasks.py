"""Tasks that belong to the event loop, and not to the task that happens to start them.

A task group, or a cancel scope, has to be left by the task that has entered it. A host may leave a
session from another one: Python closes a generator that was left early in a task of its own. So
whatever outlives one call of the host runs here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, Final

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
