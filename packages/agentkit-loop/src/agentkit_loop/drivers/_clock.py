"""The machine's clock, for drivers; the kernel is passed the time."""

from __future__ import annotations


class SystemClock:
    """The machine's own clock."""

    def __init__(self) -> None:
        import time  # imported late: platforms that only embed the kernel may lack it

        self._time_ns, self._sleep = time.time_ns, time.sleep

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, UTC."""
        return self._time_ns() // 1_000_000

    async def sleep(self, seconds: float, /) -> None:
        """Wait, cancellably, on asyncio or trio; not at all if `seconds` is 0 or less."""
        from anyio import sleep  # imported late: the blocking driver never needs it

        await sleep(max(seconds, 0.0))

    def sleep_blocking(self, seconds: float, /) -> None:
        """Block the thread; not at all if `seconds` is 0 or less."""
        self._sleep(max(seconds, 0.0))
