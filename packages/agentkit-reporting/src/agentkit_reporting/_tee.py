"""One reporter that is several."""

from __future__ import annotations

from agentkit_loop import ReporterFailed
from agentkit_loop.events import Envelope
from agentkit_loop.ports import Reporter
from agentkit_reporting._guard import FailurePolicy, GuardedReporter


class TeeReporter:
    """Hands each event to several reporters, in their order, each isolated from the others."""

    def __init__(self, *reporters: Reporter, policy: FailurePolicy = FailurePolicy.LOG) -> None:
        """Join reporters.

        Args:
            reporters: Told in this order; those that are a `GuardedReporter` keep their policy.
            policy: For all the others.
        """
        self.reporters = tuple(
            one if isinstance(one, GuardedReporter) else GuardedReporter(one, policy)
            for one in reporters
        )

    def __call__(self, envelope: Envelope) -> None:
        """Hand one event to all.

        Raises:
            ReporterFailed: One of them wants the run to stop; all have been told before. Of
                several the first is raised.
        """
        stopped: ReporterFailed | None = None
        for reporter in self.reporters:
            try:
                reporter(envelope)
            except ReporterFailed as failure:
                stopped = stopped or failure
        if stopped is not None:
            raise stopped

    @property
    def failures(self) -> int:
        """How often any of them has failed."""
        return sum(reporter.failures for reporter in self.reporters)
