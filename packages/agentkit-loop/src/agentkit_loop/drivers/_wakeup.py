"""Lets tasks wait until something about a session changes."""

from __future__ import annotations

import anyio


class Wakeup:
    """Wakes all tasks that wait at this moment; may be used any number of times."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event: anyio.Event | None = None

    def notify(self) -> None:
        """Wake all tasks that wait."""
        event, self._event = self._event, None
        if event is not None:
            event.set()

    async def wait(self) -> None:
        """Wait for the next `notify`."""
        if self._event is None:
            self._event = anyio.Event()
        await self._event.wait()
