"""A reporter that passes events on in batches."""

from __future__ import annotations

from collections import deque

from agentkit_loop.events import Envelope
from agentkit_loop.ports import Reporter
from agentkit_reporting._closable import Closable


class BufferedReporter(Closable):
    """Collects events and passes them on in batches; `close` passes on the rest."""

    __slots__ = ("__weakref__", "_buffer", "_capacity", "_reporter")

    def __init__(self, reporter: Reporter, capacity: int = 0) -> None:
        """Buffer events for a reporter.

        Args:
            reporter: The reporter that gets the events, in order, each once.
            capacity: How many events make a batch; 0 collects all events until `flush`.
        """
        self._reporter = reporter
        self._capacity = capacity
        self._buffer: deque[Envelope] = deque()

    def __call__(self, envelope: Envelope) -> None:
        """Collect an event; pass on all events when there are `capacity` of them."""
        self._buffer.append(envelope)
        if len(self._buffer) == self._capacity:
            self.flush()

    def flush(self) -> None:
        """Pass on all collected events.

        If the reporter raises, the exception is raised here; the event counts as passed on, and
        the events after it remain.
        """
        while self._buffer:
            self._reporter(self._buffer.popleft())

    def close(self) -> None:
        """Pass on the rest."""
        self.flush()
