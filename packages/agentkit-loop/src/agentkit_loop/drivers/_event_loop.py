"""The event loop on which sessions run, and the way to it from other threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

import anyio
import anyio.from_thread
from anyio.lowlevel import RunVar, current_token


class EventLoop:
    """The running event loop; all sessions on it share one of these."""

    __slots__ = ("_thread", "_token")

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._token = current_token()

    def call(self, action: Callable[[], None]) -> None:
        """Run an action on the thread of the event loop; it has run when this returns."""
        if threading.get_ident() == self._thread or self._has_moved_here():
            action()
        else:
            anyio.from_thread.run_sync(action, token=self._token)

    def _has_moved_here(self) -> bool:
        """Whether the event loop runs on the present thread, and ran on another one before.

        A host may run one asyncio loop on one thread after another.
        """
        try:
            is_here = current_token() == self._token
        except anyio.NoEventLoopError:
            return False
        if is_here:
            self._thread = threading.get_ident()
        return is_here


_PRESENT: Final[RunVar[EventLoop]] = RunVar("agentkit_event_loop")


def present_loop() -> EventLoop:
    """Return the running event loop."""
    loop = _PRESENT.get(None)
    if loop is None:
        loop = EventLoop()
        _PRESENT.set(loop)
    return loop
