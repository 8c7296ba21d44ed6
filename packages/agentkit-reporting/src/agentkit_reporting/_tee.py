"""A reporter that passes events to several others."""

from __future__ import annotations

from agentkit_loop import ReporterFailed
from agentkit_loop.events import Envelope
from agentkit_loop.ports import Reporter
from agentkit_reporting._guard import FailurePolicy, GuardedReporter


class TeeReporter:
    """Passes each event to several reporters, in order, each isolated from the others."""

    __slots__ = ("__weakref__", "reporters")

    def __init__(self, *reporters: Reporter, policy: FailurePolicy = FailurePolicy.LOG) -> None:
        """Combine reporters.

        Args:
            reporters: The reporters, in order. A `GuardedReporter` keeps its own policy.
            policy: What happens if one of the others fails.
        """
        self.reporters = tuple(
            reporter if isinstance(reporter, GuardedReporter) else GuardedReporter(reporter, policy)
            for reporter in reporters
        )

    def __call__(self, envelope: Envelope) -> None:
        """Pass one event to all reporters.

        Raises:
            ReporterFailed: One of them stops the run. It is raised after all reporters got the
                event; if there are several, it is the first one.
        """
        first_failure: ReporterFailed | None = None
        for reporter in self.reporters:
            try:
                reporter(envelope)
            except ReporterFailed as failure:
                first_failure = first_failure or failure
        if first_failure is not None:
            raise first_failure

    @property
    def failures(self) -> int:
        """The number of failures of all reporters together."""
        return sum(reporter.failures for reporter in self.reporters)
