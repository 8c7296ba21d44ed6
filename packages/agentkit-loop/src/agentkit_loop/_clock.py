"""The clock of the machine, for drivers; the kernel has none."""

from __future__ import annotations

import time


class SystemClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, UTC."""
        return time.time_ns() // 1_000_000

    async def sleep(self, seconds: float, /) -> None:
        """Wait, cancellably, on whatever event loop runs."""
        from anyio import sleep  # loaded late: whoever sleeps on an event loop has it already

        await sleep(max(seconds, 0.0))

    def sleep_blocking(self, seconds: float, /) -> None:
        """Block the thread."""
        time.sleep(max(seconds, 0.0))
