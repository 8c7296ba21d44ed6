"""Sums up the usage of runs: per turn, model, tool and session, and in total."""

from __future__ import annotations

from collections.abc import Iterator
from threading import RLock
from typing import Final

from msgspec import field

from agentkit_core import (
    CostUsage,
    FinishReason,
    SessionId,
    TokenUsage,
    ToolCallId,
    TurnId,
    Usage,
)
from agentkit_core.values import Record
from agentkit_loop.events import (
    Envelope,
    ModelCallFinished,
    ModelCallStarted,
    RunFinished,
    RunStarted,
    ToolResultReceived,
)
from agentkit_reporting._repeats import RepeatFilter

_Call = tuple[SessionId, ToolCallId]


class UsageSummary(Record, frozen=True):
    """The usage so far.

    If a `Usage` is `exact`, its tokens are complete; if it is `fully_priced`, its cost is.
    Otherwise they are a lower bound.

    Attributes:
        total: The usage of all model calls, including those that failed or were superseded.
        turns: The usage by session and turn, in order of their first call.
        models: The usage by model, as named in the request.
        tools: The usage that tools report in their results; not part of `total`. What the agent of
            a tool has used counts here only if its own run was not reported.
        sessions: The usage of model calls by session, in order of their first call.
        by_tool: The same as `tools`, by the name of the tool.
        interrupted: The usage of attempts that failed or were cancelled; it is part of `total`.
            Providers often do not say what such an attempt has used.
    """

    total: Usage = Usage()
    turns: dict[tuple[SessionId, TurnId | None], Usage] = field(default_factory=dict)
    models: dict[str, Usage] = field(default_factory=dict)
    tools: Usage = Usage()
    sessions: dict[SessionId, Usage] = field(default_factory=dict)
    by_tool: dict[str, Usage] = field(default_factory=dict)
    interrupted: Usage = Usage()

    @property
    def with_tools(self) -> Usage:
        """Everything: `total` and `tools`."""
        return self.total + self.tools

    @property
    def exact(self) -> bool:
        """Whether every call reported all its tokens."""
        return self.total.exact and self.tools.exact

    @property
    def fully_priced(self) -> bool:
        """Whether the cost of every call is known."""
        return self.total.fully_priced and self.tools.fully_priced


_COUNTED: Final = frozenset(
    {RunStarted, RunFinished, ModelCallStarted, ModelCallFinished, ToolResultReceived}
)


class UsageReporter:
    """Sums up the usage of any number of sessions, which may run on several threads.

    Each model call counts once, with its final usage: also if its event is reported again after a
    crash, and if it is part of the usage of a tool that is an agent.
    """

    __slots__ = (
        "__weakref__",
        "_by_tool",
        "_inside",
        "_interrupted",
        "_lock",
        "_models",
        "_parents",
        "_repeats",
        "_requested_models",
        "_sessions",
        "_tools",
        "_total",
        "_turns",
    )

    def __init__(self) -> None:
        """Start with no usage."""
        self._total = Usage()
        self._tools = Usage()
        self._interrupted = Usage()
        self._turns: dict[tuple[SessionId, TurnId | None], Usage] = {}
        self._models: dict[str, Usage] = {}
        self._sessions: dict[SessionId, Usage] = {}
        self._by_tool: dict[str, Usage] = {}
        self._requested_models: dict[SessionId, str] = {}
        self._parents: dict[SessionId, _Call] = {}
        self._inside: dict[_Call, Usage] = {}
        """What runs within an open call have reported."""
        self._repeats = RepeatFilter()
        self._lock = RLock()  # a session may end while another is reported

    def __call__(self, envelope: Envelope) -> None:
        """Take one event."""
        if type(envelope.event) in _COUNTED:
            with self._lock:
                self._take(envelope)

    def _take(self, envelope: Envelope) -> None:
        if self._repeats.is_repeat(envelope):
            return
        match event := envelope.event:
            case RunStarted(parent_session_id=str(outer), parent_call_id=str(call_id)):
                self._parents[envelope.session_id] = (outer, call_id)
            case ModelCallStarted(model=model):
                self._requested_models[envelope.session_id] = model
            case ModelCallFinished():
                self._count(envelope, event)
            case ToolResultReceived():
                self._count_tool(envelope.session_id, event)
            case RunFinished():
                self._parents.pop(envelope.session_id, None)
                self._requested_models.pop(envelope.session_id, None)

    def summary(self) -> UsageSummary:
        """Return the usage so far; later events do not change the result."""
        with self._lock:
            return UsageSummary(
                total=self._total,
                turns=dict(self._turns),
                models=dict(self._models),
                tools=self._tools,
                sessions=dict(self._sessions),
                by_tool=dict(self._by_tool),
                interrupted=self._interrupted,
            )

    def _count(self, envelope: Envelope, finished: ModelCallFinished) -> None:
        session_id, usage = envelope.session_id, finished.usage
        answered_by = finished.provenance.model if finished.provenance else "unknown"
        model = self._requested_models.pop(session_id, answered_by)
        turn = (session_id, envelope.turn_id)
        self._total += usage
        self._turns[turn] = self._turns.get(turn, Usage()) + usage
        self._models[model] = self._models.get(model, Usage()) + usage
        self._sessions[session_id] = self._sessions.get(session_id, Usage()) + usage
        if finished.failure is not None or finished.finish_reason is FinishReason.CANCELLED:
            self._interrupted += usage
        self._count_inside(session_id, usage)

    def _count_tool(self, session_id: SessionId, event: ToolResultReceived) -> None:
        reported = self._inside.pop((session_id, event.call_id), None)
        usage = event.result.usage
        if usage is None:
            return
        if reported is not None:
            usage = _without(usage, reported)
            if usage == Usage():
                return
        self._tools += usage
        self._by_tool[event.name] = self._by_tool.get(event.name, Usage()) + usage
        self._count_inside(session_id, usage)

    def _count_inside(self, session_id: SessionId, usage: Usage) -> None:
        """Note what the results of the calls around a session will report again."""
        for call in self._calls_around(session_id):
            self._inside[call] = self._inside.get(call, Usage()) + usage

    def _calls_around(self, session_id: SessionId) -> Iterator[_Call]:
        while (call := self._parents.get(session_id)) is not None:
            yield call
            session_id = call[0]


def _without(whole: Usage, part: Usage) -> Usage:
    """Return what is left of a usage without a part of it; its metadata are of the whole."""
    requests = max(whole.requests - part.requests, 0)
    if not requests:
        return Usage()
    tokens = {
        name: _less(getattr(whole.tokens, name), getattr(part.tokens, name))
        for name in TokenUsage.__struct_fields__
    }
    amounts = {
        currency: amount - part.cost.amounts.get(currency, 0)
        for currency, amount in whole.cost.amounts.items()
    }
    return Usage(
        tokens=TokenUsage(**tokens),
        cost=CostUsage({currency: amount for currency, amount in amounts.items() if amount > 0}),
        requests=requests,
        reported_requests=max(whole.reported_requests - part.reported_requests, 0),
        priced_requests=max(whole.priced_requests - part.priced_requests, 0),
        metadata=whole.metadata,
    )


def _less(whole: int | None, part: int | None) -> int | None:
    if whole is None or not part:
        return whole
    return max(whole - part, 0) or None
