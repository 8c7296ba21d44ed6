"""Code for both worlds: one coroutine, awaited on an event loop or run at once without one.

The executor and the drivers write what they do once, as coroutines. Without an event loop nothing
in them may suspend, and `run_at_once` runs them to their end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from inspect import isawaitable, iscoroutine
from typing import Any, TypeVar

from agentkit_core import AgentkitError

T = TypeVar("T")

__all__ = ["NeedsEventLoop", "await_if_needed", "require_no_awaitable", "run_at_once"]


class NeedsEventLoop(AgentkitError, RuntimeError):
    """Something async was called where there is no event loop.

    An agent was put together for asyncio or trio and is run without. No call and no model gets to
    hear of it: it is raised to the host.
    """


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


def require_no_awaitable(value: T, what: str) -> T:
    """Return what a plain function returned, if it is not an awaitable that nobody would await.

    Args:
        value: What the function returned.
        what: Whose value it is, for the error: `the tool 'read'`.

    Raises:
        NeedsEventLoop: It is an awaitable.
    """
    if not isawaitable(value):
        return value
    if iscoroutine(value):
        value.close()
    raise NeedsEventLoop(
        f"{what} is asynchronous, but it is called where nobody can wait for it; make it a plain "
        f"function, or use `Agent.run` or `Agent.session` on an event loop if that calls it there"
    )
