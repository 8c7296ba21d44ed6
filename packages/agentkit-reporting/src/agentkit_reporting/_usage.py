"""Sums up the usage of a run: per turn, per model, in total."""

from __future__ import annotations

from msgspec import field

from agentkit_core import SessionId, TurnId, Usage
from agentkit_core.values import Record
from agentkit_loop.events import Envelope, ModelCallFinished, ModelCallStarted, ToolResultReceived


class UsageSummary(Record, frozen=True):
    """The usage so far.

    If a `Usage` is `exact`, its tokens are complete; if it is `fully_priced`, its cost is.
    Otherwise they are a lower bound.

    Attributes:
        total: The usage of all model calls, including those that failed or were superseded.
        turns: The usage by session and turn, in order of their first call.
        models: The usage by model, as named in the request.
        tools: The usage of model calls that tools made; not part of `total`.
    """

    total: Usage = Usage()
    turns: dict[tuple[SessionId, TurnId | None], Usage] = field(default_factory=dict)
    models: dict[str, Usage] = field(default_factory=dict)
    tools: Usage = Usage()

    @property
    def exact(self) -> bool:
        """Whether every call reported all its tokens."""
        return self.total.exact and self.tools.exact

    @property
    def fully_priced(self) -> bool:
        """Whether the cost of every call is known."""
        return self.total.fully_priced and self.tools.fully_priced


class UsageReporter:
    """Sums up usage. Each model call counts once, with its final usage."""

    __slots__ = ("__weakref__", "_models", "_requested_models", "_tools", "_total", "_turns")

    def __init__(self) -> None:
        """Start with no usage."""
        self._total = Usage()
        self._tools = Usage()
        self._turns: dict[tuple[SessionId, TurnId | None], Usage] = {}
        self._models: dict[str, Usage] = {}
        self._requested_models: dict[SessionId, str] = {}

    def __call__(self, envelope: Envelope) -> None:
        """Take one event."""
        event = envelope.event
        if type(event) is ModelCallStarted:
            self._requested_models[envelope.session_id] = event.model
        elif type(event) is ModelCallFinished:
            self._count(envelope, event)
        elif type(event) is ToolResultReceived and event.result.usage is not None:
            self._tools += event.result.usage

    def summary(self) -> UsageSummary:
        """Return the usage so far; later events do not change the result."""
        return UsageSummary(self._total, dict(self._turns), dict(self._models), self._tools)

    def _count(self, envelope: Envelope, finished: ModelCallFinished) -> None:
        answered_by = finished.provenance.model if finished.provenance else "unknown"
        model = self._requested_models.pop(envelope.session_id, answered_by)
        turn = (envelope.session_id, envelope.turn_id)
        self._total += finished.usage
        self._turns[turn] = self._turns.get(turn, Usage()) + finished.usage
        self._models[model] = self._models.get(model, Usage()) + finished.usage
