"""A reporter that runs another reporter on a thread of its own."""

from __future__ import annotations

from collections import deque
from threading import Condition, Thread

from agentkit_core.settings import member_of, number_of
from agentkit_core.values import StringEnum
from agentkit_loop.events import Envelope
from agentkit_loop.ports import Reporter
from agentkit_reporting._closable import Closable
from agentkit_reporting._guard import FailurePolicy, GuardedReporter


class QueueOverflow(StringEnum):
    """What happens to an event if the queue of a background reporter is full."""

    DROP_OLDEST = "drop_oldest"
    """Drop the oldest event in the queue."""
    DROP_NEWEST = "drop_newest"
    """Drop the new event."""
    BLOCK = "block"
    """Wait until the queue has room; the run waits too."""


class BackgroundReporter(Closable):
    """Runs a slow reporter on a thread of its own, so that the run does not wait for it.

    The thread starts with the first event and ends with `close`.
    """

    __slots__ = (
        "__weakref__",
        "_capacity",
        "_changed",
        "_closed",
        "_guarded",
        "_overflow",
        "_queue",
        "_stopped_by",
        "_thread",
        "dropped",
    )

    def __init__(
        self,
        reporter: Reporter,
        *,
        capacity: int = 10_000,
        overflow: QueueOverflow = QueueOverflow.DROP_OLDEST,
        policy: FailurePolicy = FailurePolicy.LOG,
    ) -> None:
        """Run a reporter in the background.

        Args:
            reporter: The reporter; one thread calls it, with the events in order.
            capacity: How many events the queue holds, at least 1.
            overflow: What happens to an event if the queue is full.
            policy: What happens if the reporter fails. `fail_fast` stops the run at the next event
                after the failure.
        """
        self._guarded = GuardedReporter(reporter, policy)
        self._capacity = int(number_of(capacity, "capacity", whole=True, least=1))
        self._overflow = member_of(QueueOverflow, overflow, "overflow")
        self._queue: deque[Envelope] = deque()
        self._changed = Condition()
        self._thread: Thread | None = None
        self._closed = False
        self._stopped_by: Exception | None = None
        self.dropped = 0
        """The number of events that were dropped."""

    @property
    def failures(self) -> int:
        """The number of events at which the reporter failed."""
        return self._guarded.failures

    def take_errors(self) -> list[Exception]:
        """Return the collected errors; see `GuardedReporter.take_errors`."""
        return self._guarded.take_errors()

    def __call__(self, envelope: Envelope) -> None:
        """Put an event in the queue; after `close` the event is dropped.

        Raises:
            ReporterFailed: The reporter failed at an earlier event, and the policy is `fail_fast`.
        """
        with self._changed:
            if self._stopped_by is not None:
                failure, self._stopped_by = self._stopped_by, None
                raise failure
            if self._make_room():
                self._queue.append(envelope)
                self._changed.notify_all()
            else:
                self.dropped += 1
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._work, name="agentkit-reporter", daemon=True)
                self._thread.start()

    def close(self, timeout_s: float | None = 10.0) -> None:
        """Wait until the reporter has processed all events in the queue, and end the thread.

        Args:
            timeout_s: How long to wait, in seconds; None means no limit. After that time, the
                thread still processes the remaining events, as long as the process lives.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _make_room(self) -> bool:
        """Make room according to `overflow`; return whether the new event fits in the queue."""
        if self._closed:
            return False
        if len(self._queue) < self._capacity:
            return True
        match self._overflow:
            case QueueOverflow.DROP_NEWEST:
                return False
            case QueueOverflow.DROP_OLDEST:
                self._queue.popleft()
                self.dropped += 1
            case QueueOverflow.BLOCK:
                self._changed.wait_for(lambda: len(self._queue) < self._capacity or self._closed)
        return not self._closed

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closed)
                if not self._queue:
                    return
                envelope = self._queue.popleft()
                self._changed.notify_all()
            try:
                self._guarded(envelope)
            except Exception as failure:
                with self._changed:
                    self._stopped_by = self._stopped_by or failure
