"""The clock of the machine, for drivers; the kernel has none."""

from __future__ import annotations


class SystemClock:
    """The machine's own clock."""

    def __init__(self) -> None:
        import time  # loaded late: whoever embeds the kernel alone may have none

        self._time_ns, self._sleep = time.time_ns, time.sleep

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, UTC."""
        return self._time_ns() // 1_000_000

    async def sleep(self, seconds: float, /) -> None:
        """Wait, cancellably, on whatever event loop runs."""
        from anyio import sleep  # loaded late: whoever sleeps on an event loop has it already

        await sleep(max(seconds, 0.0))

    def sleep_blocking(self, seconds: float, /) -> None:
        """Block the thread."""
        self._sleep(max(seconds, 0.0))
