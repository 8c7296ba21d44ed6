"""The time limits of calls: whoever runs an executor brings a clock and a way to stop a wait."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol, TypeVar

T = TypeVar("T")


class CallTimer(Protocol):
    """Measures how long calls take, and stops those of async tools that take too long."""

    def now_s(self) -> float:
        """Return the time in seconds, from any fixed moment; called from any thread."""
        ...

    async def within(self, seconds: float, work: Awaitable[T], /) -> T:
        """Await `work`, and cancel it after `seconds`; called on an event loop only.

        Raises:
            TimeoutError: It was cancelled.
        """
        ...
