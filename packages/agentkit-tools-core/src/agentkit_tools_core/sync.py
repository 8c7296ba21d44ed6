"""Code for both worlds: one coroutine, awaited on an event loop or run at once without one.

The executor and the drivers write what they do once, as coroutines. Without an event loop nothing
in them may suspend, and `run_at_once` runs them to their end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from inspect import isawaitable
from typing import Any, TypeVar

T = TypeVar("T")

__all__ = ["NeedsEventLoop", "await_if_needed", "run_at_once"]


class NeedsEventLoop(RuntimeError):
    """A coroutine had to wait for something, and there is no event loop."""


async def await_if_needed(value: T | Awaitable[T]) -> T:
    """Return a value, or what it yields if it is an awaitable."""
    if isawaitable(value):
        awaited: T = await value
        return awaited
    return value


def run_at_once(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, without an event loop, and return its result.

    Args:
        work: The coroutine; it is closed if it suspends.

    Raises:
        NeedsEventLoop: It suspended: something in it is asynchronous.
    """
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    raise NeedsEventLoop(
        "something asynchronous was called where there is no event loop; make it a plain "
        "function, or use the asynchronous session"
    )
