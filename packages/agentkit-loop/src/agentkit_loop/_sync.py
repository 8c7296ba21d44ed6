"""What may wait or not, written once: awaited on an event loop, or run at once without one."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from inspect import isawaitable
from typing import Any, TypeVar

T = TypeVar("T")


class NeedsEventLoop(RuntimeError):
    """Something asynchronous was asked where there is no event loop."""


async def settled(value: T | Awaitable[T]) -> T:
    """Wait for a value that may be an awaitable."""
    if isawaitable(value):
        awaited: T = await value
        return awaited
    return value


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, and return what it returns.

    Raises:
        NeedsEventLoop: It wanted to wait.
    """
    try:
        work.send(None)
    except StopIteration as end:
        found: T = end.value
        return found
    work.close()
    raise NeedsEventLoop("it is asynchronous, and this session runs without an event loop")
