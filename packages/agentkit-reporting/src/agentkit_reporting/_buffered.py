"""Reporters that are told later: in batches, or by a thread of their own."""

from __future__ import annotations

from collections import deque
from threading import Condition, Thread
from types import TracebackType
from typing import Self

from agentkit_core.values import StringEnum
from agentkit_loop.events import Envelope
from agentkit_loop.ports import Reporter
from agentkit_reporting._guard import FailurePolicy, GuardedReporter


class BufferedReporter:
    """Holds events back and hands them on in batches; closing hands on the rest."""

    def __init__(self, reporter: Reporter, capacity: int = 0) -> None:
        """Buffer for `reporter`.

        Args:
            reporter: Told in order, each event once.
            capacity: How many events are held before they are handed on; 0 holds them all
                until `flush`.
        """
        self._reporter = reporter
        self._capacity = capacity
        self._held: deque[Envelope] = deque()

    def __call__(self, envelope: Envelope) -> None:
        """Take an event; hand on all that are held once there are `capacity` of them."""
        self._held.append(envelope)
        if len(self._held) == self._capacity:
            self.flush()

    def flush(self) -> None:
        """Hand on what is held.

        An event at which the reporter raises counts as told; those after it stay held, and
        the exception passes through.
        """
        while self._held:
            self._reporter(self._held.popleft())

    def close(self) -> None:
        """Hand on the rest."""
        self.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class QueueOverflow(StringEnum):
    """What to do with an event when a background reporter is too far behind."""

    DROP_OLDEST = "drop_oldest"
    """Let go of the oldest one that waits."""
    DROP_NEWEST = "drop_newest"
    """Let go of the new one."""
    BLOCK = "block"
    """Wait until there is room; the run waits as well."""


class BackgroundReporter:
    """Tells a slow reporter from a thread of its own, so that the run need not wait for it.

    The thread starts with the first event and ends with `close`.
    """

    def __init__(
        self,
        reporter: Reporter,
        *,
        capacity: int = 10_000,
        overflow: QueueOverflow = QueueOverflow.DROP_OLDEST,
        policy: FailurePolicy = FailurePolicy.LOG,
    ) -> None:
        """Tell `reporter` in the background.

        Args:
            reporter: Told in order, by one thread only.
            capacity: How many events may wait, at least 1.
            overflow: What happens to an event when as many wait already.
            policy: What a failure of the reporter means. `fail_fast` stops the run at the next
                event after the failure.
        """
        self._guarded = GuardedReporter(reporter, policy)
        self._capacity = capacity
        self._overflow = overflow
        self._waiting: deque[Envelope] = deque()
        self._changed = Condition()
        self._thread: Thread | None = None
        self._closed = False
        self._stopped_by: Exception | None = None
        self.dropped = 0
        """How many events were let go of."""

    @property
    def failures(self) -> int:
        """How often the reporter has failed."""
        return self._guarded.failures

    def take_errors(self) -> list[Exception]:
        """Return the errors kept so far; see `GuardedReporter.take_errors`."""
        return self._guarded.take_errors()

    def __call__(self, envelope: Envelope) -> None:
        """Queue an event. After `close` it is dropped.

        Raises:
            ReporterFailed: The reporter failed at an earlier event and the policy is
                `fail_fast`.
        """
        with self._changed:
            if self._stopped_by is not None:
                stopped, self._stopped_by = self._stopped_by, None
                raise stopped
            if self._has_room():
                self._waiting.append(envelope)
                self._changed.notify_all()
            else:
                self.dropped += 1
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._work, name="agentkit-reporter", daemon=True)
                self._thread.start()

    def close(self, timeout_s: float | None = 10.0) -> None:
        """Wait until the events that are queued have been told, and end the thread.

        Args:
            timeout_s: How long to wait at most, in seconds; None is for ever. What is still
                queued then is told as long as the process lives.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _has_room(self) -> bool:
        """Make room as the overflow policy says; whether the new event may be queued."""
        if self._closed:
            return False
        if len(self._waiting) < self._capacity:
            return True
        match self._overflow:
            case QueueOverflow.DROP_NEWEST:
                return False
            case QueueOverflow.DROP_OLDEST:
                self._waiting.popleft()
                self.dropped += 1
            case QueueOverflow.BLOCK:
                self._changed.wait_for(lambda: len(self._waiting) < self._capacity or self._closed)
        return not self._closed

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                envelope = self._waiting.popleft()
                self._changed.notify_all()
            try:
                self._guarded(envelope)
            except Exception as failure:
                with self._changed:
                    self._stopped_by = self._stopped_by or failure
