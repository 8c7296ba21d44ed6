"""The timers of calls, one for each driver; see `CallTimer`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

from agentkit_loop.drivers._clock import SystemClock
from agentkit_loop.ports import Clock

T = TypeVar("T")


class LateCallTimer:
    """Measures how long calls take, and stops none: there is no event loop.

    Args:
        clock: The session's clock. The machine's own may be set while a call runs, so its time is
            not used.
    """

    __slots__ = ("_now_s",)

    def __init__(self, clock: Clock) -> None:
        is_machines = isinstance(clock, SystemClock)
        self._now_s: Callable[[], float] = (
            monotonic if is_machines else lambda: clock.now_ms() / 1000
        )

    def now_s(self) -> float:
        """Return the time in seconds, from any fixed moment."""
        return self._now_s()

    async def within(self, seconds: float, work: Awaitable[T], /) -> T:
        """Await work that never waits."""
        return await work


class StoppingCallTimer(LateCallTimer):
    """Measures how long calls take, and cancels child calls that take too long."""

    __slots__ = ()

    async def within(self, seconds: float, work: Awaitable[T], /) -> T:
        """Await work for so many seconds.

        Raises:
            TimeoutError: It took longer and was cancelled.
        """
        from anyio import fail_after  # imported late: the blocking driver never needs it

        with fail_after(seconds):
            return await work
