"""A clock that a test sets by hand."""

from __future__ import annotations


class ManualClock:
    """A clock that stands still until someone waits or moves it; waiting takes no time.

    Args:
        now_ms: Where it starts, in milliseconds since the Unix epoch.
    """

    def __init__(self, now_ms: int = 0) -> None:
        self._now_ms: float = now_ms
        self.slept_s: list[float] = []
        """How long was waited each time."""

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return round(self._now_ms)

    def advance(self, seconds: float) -> None:
        """Move it."""
        self._now_ms += seconds * 1000

    async def sleep(self, seconds: float, /) -> None:
        """Move it by the wait, and let others work meanwhile."""
        from anyio.lowlevel import checkpoint

        await checkpoint()
        self.sleep_blocking(seconds)

    def sleep_blocking(self, seconds: float, /) -> None:
        """Move it by the wait."""
        self.slept_s.append(seconds)
        self.advance(seconds)
