"""Calls a function again and again while something is shown that moves."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Ticker:
    """A thread that lives between `start` and `stop`, and never keeps a process from ending."""

    __slots__ = ("_call", "_interval_s", "_stop")

    def __init__(self, call: Callable[[], object], interval_s: float) -> None:
        """Call a function, which raises nothing, every `interval_s` seconds."""
        self._call = call
        self._interval_s = interval_s
        self._stop: threading.Event | None = None

    def start(self) -> None:
        """Begin, unless it has; where there are no threads, nothing happens."""
        if self._stop is not None:
            return
        self._stop = threading.Event()
        thread = threading.Thread(
            target=self._run, args=(self._stop,), name="agentkit-terminal-view", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            self._stop = None

    def stop(self) -> None:
        """End; a call that is under way may finish."""
        if self._stop is not None:
            self._stop.set()
            self._stop = None

    def _run(self, stop: threading.Event) -> None:
        while not stop.wait(self._interval_s):
            self._call()
