"""Waits that end: after a limit by an error, or when the caller is cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Final

from agentkit_loop.persistence._records import StoreLocked

_FIRST_PAUSE_S: Final = 0.001
_LONGEST_PAUSE_S: Final = 0.05
_thread: Final = threading.local()
"""Has `cancelled`, an event, in threads that work for a task of an event loop."""


class WaitCancelled(Exception):
    """The caller was cancelled while its thread waited; nothing was written."""


@contextmanager
def cancelled_by(event: threading.Event) -> Iterator[None]:
    """Let an event end the waits of this thread."""
    _thread.cancelled = event
    try:
        yield
    finally:
        del _thread.cancelled


def wait_until(attempt: Callable[[], bool], *, path: str, timeout_s: float) -> None:
    """Repeat an attempt until it succeeds.

    Args:
        attempt: Returns whether it succeeded; it must not wait.
        path: What is waited for, for the error.
        timeout_s: For how long to try, in seconds.

    Raises:
        StoreLocked: It did not succeed in time.
        WaitCancelled: The caller was cancelled.
    """
    cancelled: threading.Event | None = getattr(_thread, "cancelled", None)
    end, pause = monotonic() + timeout_s, _FIRST_PAUSE_S
    while True:
        if cancelled is not None and cancelled.is_set():
            raise WaitCancelled
        if attempt():
            return
        left = end - monotonic()
        if left <= 0:
            raise StoreLocked(path, timeout_s)
        sleep(min(pause, left))
        pause = min(2 * pause, _LONGEST_PAUSE_S)
