"""What a run costs: per turn, per model, in all."""

from __future__ import annotations

from msgspec import field

from agentkit_core import SessionId, TurnId, Usage
from agentkit_core.values import Record
from agentkit_loop.events import Envelope, ModelCallFinished, ModelCallStarted, ToolResultReceived


class UsageSummary(Record, frozen=True):
    """Usage so far.

    A `Usage` counts its requests and for how many of them tokens and a price are known: its
    numbers are whole where it is `exact`, else a lower bound. Money is kept per currency.

    Attributes:
        total: Of all model calls; those that failed or were superseded cost as well.
        turns: Per session and turn, in order of their first call.
        models: Per model, as it was asked for.
        tools: Of the model calls that tools made by themselves; not part of `total`.
    """

    total: Usage = Usage()
    turns: dict[tuple[SessionId, TurnId | None], Usage] = field(default_factory=dict)
    models: dict[str, Usage] = field(default_factory=dict)
    tools: Usage = Usage()

    @property
    def exact(self) -> bool:
        """Whether every call reported its tokens."""
        return self.total.exact and self.tools.exact


class UsageReporter:
    """Adds up usage. Each model call counts once, by the usage it ended with."""

    def __init__(self) -> None:
        """Begin at nothing."""
        self._total = Usage()
        self._tools = Usage()
        self._turns: dict[tuple[SessionId, TurnId | None], Usage] = {}
        self._models: dict[str, Usage] = {}
        self._asked: dict[SessionId, str] = {}

    def __call__(self, envelope: Envelope) -> None:
        """Take one event."""
        event = envelope.event
        if type(event) is ModelCallStarted:
            self._asked[envelope.session_id] = event.model
        elif type(event) is ModelCallFinished:
            self._count(envelope, event)
        elif type(event) is ToolResultReceived and event.result.usage is not None:
            self._tools += event.result.usage

    def summary(self) -> UsageSummary:
        """Say what has been used so far; later events do not change it."""
        return UsageSummary(self._total, dict(self._turns), dict(self._models), self._tools)

    def _count(self, envelope: Envelope, finished: ModelCallFinished) -> None:
        made_by = finished.provenance.model if finished.provenance else "unknown"
        model = self._asked.pop(envelope.session_id, made_by)
        turn = (envelope.session_id, envelope.turn_id)
        self._total += finished.usage
        self._turns[turn] = self._turns.get(turn, Usage()) + finished.usage
        self._models[model] = self._models.get(model, Usage()) + finished.usage
