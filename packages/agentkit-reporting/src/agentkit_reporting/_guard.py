"""What a reporter's failure means, reporter by reporter.

A driver already isolates reporters: it logs and goes on. Wrap one in a `GuardedReporter` where
its failures mean something else.
"""

from __future__ import annotations

import logging
from typing import Final

from agentkit_core.values import StringEnum
from agentkit_loop import ReporterFailed
from agentkit_loop.events import Envelope, RunFinished
from agentkit_loop.ports import Reporter

_log: Final = logging.getLogger("agentkit_reporting")
_MAX_KEPT: Final = 100


class FailurePolicy(StringEnum):
    """What to do when a reporter raises."""

    IGNORE = "ignore"
    """Count it."""
    LOG = "log"
    """Log the first one with its traceback, count the others, and log their number at the end."""
    ACCUMULATE = "accumulate"
    """Keep it for `take_errors`."""
    FAIL_FAST = "fail_fast"
    """Stop the run: the driver cancels the turn and raises `ReporterFailed` to the host."""


class GuardedReporter:
    """Hands events to a reporter, and deals with what it raises as the policy says."""

    def __init__(self, reporter: Reporter, policy: FailurePolicy = FailurePolicy.LOG) -> None:
        """Guard `reporter`, which goes on being told after it failed."""
        self.reporter = reporter
        self.policy = policy
        self.failures = 0
        """How often it has failed."""
        self._errors: list[Exception] = []

    def __call__(self, envelope: Envelope) -> None:
        """Hand one event on.

        Raises:
            ReporterFailed: It failed and the policy is `fail_fast`; or it raised this itself,
                which no policy holds back.
        """
        try:
            self.reporter(envelope)
        except ReporterFailed:
            self.failures += 1
            raise
        except Exception as error:
            self.failures += 1
            self._failed(error)
        if type(envelope.event) is RunFinished:
            self._sum_up()

    def take_errors(self) -> list[Exception]:
        """Return the errors kept so far, oldest first, and forget them.

        Empty unless the policy is `accumulate`. At most 100 are kept; `failures` counts all.
        """
        taken, self._errors = self._errors, []
        return taken

    def _failed(self, error: Exception) -> None:
        match self.policy:
            case FailurePolicy.IGNORE:
                pass
            case FailurePolicy.LOG:
                if self.failures == 1:
                    _log.error("%s failed and is told on", _named(self.reporter), exc_info=error)
            case FailurePolicy.ACCUMULATE:
                if len(self._errors) < _MAX_KEPT:
                    self._errors.append(error)
            case FailurePolicy.FAIL_FAST:
                raise ReporterFailed(
                    f"{_named(self.reporter)} failed: {type(error).__name__}: {error}; "
                    f"mend it, or give it another failure policy"
                ) from error

    def _sum_up(self) -> None:
        if self.policy is FailurePolicy.LOG and self.failures > 1:
            _log.error("%s failed %d times in all", _named(self.reporter), self.failures)


def _named(reporter: Reporter) -> str:
    return f"reporter {getattr(reporter, '__qualname__', type(reporter).__qualname__)}"
