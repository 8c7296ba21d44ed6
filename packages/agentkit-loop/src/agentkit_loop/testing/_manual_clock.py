"""A clock that a test sets."""

from __future__ import annotations


class ManualClock:
    """A clock that moves only when somebody waits or advances it; a wait takes no real time.

    Args:
        now_ms: The time that it starts with, in milliseconds since the Unix epoch.

    Attributes:
        slept_s: The length of each wait so far, in seconds, in order.
    """

    __slots__ = ("__weakref__", "_now_ms", "slept_s")

    def __init__(self, now_ms: int = 0) -> None:
        self._now_ms: float = now_ms
        self.slept_s: list[float] = []

    def now_ms(self) -> int:
        """Return the time in milliseconds since the Unix epoch."""
        return round(self._now_ms)

    def advance(self, seconds: float) -> None:
        """Advance the clock."""
        self._now_ms += seconds * 1000

    async def sleep(self, seconds: float, /) -> None:
        """Advance the clock by the wait, and let other tasks run meanwhile."""
        from anyio.lowlevel import checkpoint

        await checkpoint()
        self.sleep_blocking(seconds)

    def sleep_blocking(self, seconds: float, /) -> None:
        """Advance the clock by the wait."""
        self.slept_s.append(seconds)
        self.advance(seconds)
