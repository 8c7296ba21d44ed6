"""What happens if a reporter fails.

Drivers already isolate reporters: they log a failure and continue. Wrap a reporter in a
`GuardedReporter` if its failures should have another effect.
"""

from __future__ import annotations

import logging
from typing import Final

from agentkit_core.settings import member_of
from agentkit_core.values import StringEnum
from agentkit_loop import ReporterFailed
from agentkit_loop.events import Envelope, RunFinished
from agentkit_loop.ports import Reporter

_log: Final = logging.getLogger("agentkit_reporting")
# Without a handler, Python prints errors to stderr when a host has configured no logging.
_log.addHandler(logging.NullHandler())
_MAX_ERRORS: Final = 100


class FailurePolicy(StringEnum):
    """What happens if a reporter raises an exception."""

    IGNORE = "ignore"
    """Only count the failure."""
    LOG = "log"
    """Log the first failure with its traceback; count the others, and log the number at the end."""
    ACCUMULATE = "accumulate"
    """Collect the exceptions for `take_errors`."""
    FAIL_FAST = "fail_fast"
    """Stop the run: the driver cancels the turn, and the host gets `ReporterFailed`."""


class GuardedReporter:
    """Passes events to a reporter, and handles its failures according to a policy."""

    __slots__ = ("__weakref__", "_errors", "failures", "policy", "reporter")

    def __init__(self, reporter: Reporter, policy: FailurePolicy = FailurePolicy.LOG) -> None:
        """Guard a reporter.

        Args:
            reporter: The reporter; it continues to get events after a failure.
            policy: What happens if it fails.
        """
        self.reporter = reporter
        self.policy = member_of(FailurePolicy, policy, "policy")
        self.failures = 0
        """The number of events at which the reporter failed."""
        self._errors: list[Exception] = []

    def __call__(self, envelope: Envelope) -> None:
        """Pass one event to the reporter.

        Raises:
            ReporterFailed: The reporter failed and the policy is `fail_fast`; or the reporter
                itself raised this error, which is never held back.
        """
        try:
            self.reporter(envelope)
        except ReporterFailed:
            self.failures += 1
            raise
        except Exception as error:
            self.failures += 1
            self._handle(error)
        if type(envelope.event) is RunFinished:
            self._log_total()

    def take_errors(self) -> list[Exception]:
        """Return the errors collected so far, oldest first, and remove them.

        Empty unless the policy is `accumulate`. At most 100 errors are collected; `failures` counts
        all of them.
        """
        errors, self._errors = self._errors, []
        return errors

    def _handle(self, error: Exception) -> None:
        match self.policy:
            case FailurePolicy.IGNORE:
                pass
            case FailurePolicy.LOG:
                if self.failures == 1:
                    name = _name_of(self.reporter)
                    _log.error("%s failed; it still gets events", name, exc_info=error)
            case FailurePolicy.ACCUMULATE:
                if len(self._errors) < _MAX_ERRORS:
                    self._errors.append(error)
            case FailurePolicy.FAIL_FAST:
                raise ReporterFailed(
                    f"{_name_of(self.reporter)} failed: {type(error).__name__}: {error}; "
                    f"fix it, or use another FailurePolicy"
                ) from error

    def _log_total(self) -> None:
        if self.policy is FailurePolicy.LOG and self.failures > 1:
            _log.error("%s failed %d times in total", _name_of(self.reporter), self.failures)


def _name_of(reporter: Reporter) -> str:
    return f"reporter {getattr(reporter, '__qualname__', type(reporter).__qualname__)}"
