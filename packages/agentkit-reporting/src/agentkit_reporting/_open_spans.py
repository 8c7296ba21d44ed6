"""The spans that are open: how they are found, begin and end."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from agentkit_core import SessionId, ToolCallId
from agentkit_core.values import Record
from agentkit_loop.events import Envelope, RunStarted
from agentkit_reporting._spans import (
    ModelCallSpan,
    RunSpan,
    Span,
    SpanStatus,
    ToolCallSpan,
    TurnSpan,
)


class SpanChanges(Record, frozen=True):
    """What one event has begun and ended.

    Attributes:
        began: The spans that began, each before those in it.
        ended: The spans that ended, each after those in it.
    """

    began: tuple[Span, ...] = ()
    ended: tuple[Span, ...] = ()


NO_CHANGES: Final = SpanChanges()
_MOST_LEFT: Final = 10_000
"""How many calls of runs that have ended are remembered, in case that their sessions go on."""


class OpenRun:
    """What is open in a run.

    Attributes:
        span: The run.
        has_started: Whether its `RunStarted` was seen.
        last_ms: The time of its last event.
        last_seq: The number of the envelope of that event.
        last_status: How its last turn ended; `ok` before the first.
        turn: Its open turn; None between turns.
        model_call: Its last model call, open or not: what became of a failed attempt is reported
            after its end.
        calls: Its open tool calls.
    """

    __slots__ = (
        "calls",
        "has_started",
        "last_ms",
        "last_seq",
        "last_status",
        "model_call",
        "span",
        "turn",
    )

    def __init__(self, span: RunSpan) -> None:
        self.span = span
        self.has_started = False
        self.last_ms = span.started_ms
        self.last_seq = 0
        self.last_status = SpanStatus.OK
        self.turn: TurnSpan | None = None
        self.model_call: ModelCallSpan | None = None
        self.calls: dict[ToolCallId, ToolCallSpan] = {}


class OpenSpans:
    """The open runs, and what is open in them; what is asked for and not there begins.

    Attributes:
        by_session: The open runs, in the order in which they began.
    """

    __slots__ = ("_began", "_ended", "_keeps", "_left", "by_session")

    def __init__(self, *, keeps_ended: bool) -> None:
        self.by_session: dict[SessionId, OpenRun] = {}
        self._keeps = keeps_ended
        self._began: list[Span] = []
        self._ended: list[Span] = []
        self._left: dict[tuple[SessionId, ToolCallId], ToolCallSpan] = {}
        """Calls that had no result when their runs ended."""

    def take_changes(self) -> SpanChanges:
        """Return what has begun and ended since this was asked last."""
        if not self._began and not self._ended:
            return NO_CHANGES
        changes = SpanChanges(tuple(self._began), tuple(self._ended))
        self._began.clear()
        self._ended.clear()
        return changes

    def run(self, envelope: Envelope, started: RunStarted | None = None) -> OpenRun:
        """Return the open run of an event's session."""
        run = self.by_session.get(envelope.session_id)
        if run is not None:
            return run
        parent = None if started is None else self._parent(envelope, started)
        span = RunSpan(
            session_id=envelope.session_id,
            started_ms=envelope.at,
            continues=started is None,
            parent=parent,
            parent_session_id=None if started is None else started.parent_session_id,
            parent_call_id=None if started is None else started.parent_call_id,
        )
        run = self.by_session[envelope.session_id] = OpenRun(span)
        self._begin(span)
        return run

    def turn(self, envelope: Envelope) -> TurnSpan:
        """Return the open turn of an event; another turn of its session ends."""
        run = self.run(envelope)
        if run.turn is not None and run.turn.turn_id == envelope.turn_id:
            return run.turn
        if run.turn is not None:
            self.end(run.turn, envelope.at, None)
        run.turn = TurnSpan(
            session_id=envelope.session_id,
            turn_id=envelope.turn_id,
            started_ms=envelope.at,
            continues=True,
            parent=run.span,
        )
        self._begin(run.turn)
        return run.turn

    def begin_model_call(self, envelope: Envelope, call: int, attempt: int) -> ModelCallSpan:
        """Begin an attempt at a model call; the one before it in its session ends."""
        turn, run = self.turn(envelope), self.run(envelope)
        if run.model_call is not None:
            self.end(run.model_call, envelope.at, None)
        run.model_call = ModelCallSpan(
            session_id=envelope.session_id,
            turn_id=envelope.turn_id,
            started_ms=envelope.at,
            parent=turn,
            call=call,
            attempt=attempt,
        )
        self._begin(run.model_call)
        return run.model_call

    def call(
        self, envelope: Envelope, call_id: ToolCallId, name: str, *, in_turn: bool = True
    ) -> ToolCallSpan:
        """Return an open tool call.

        Args:
            envelope: The event about it.
            call_id: The call.
            name: The tool.
            in_turn: Whether it is a call of the event's turn, if it was not seen before.
        """
        run = self.run(envelope)
        span = run.calls.get(call_id)
        if span is not None:
            return span
        in_turn = in_turn and envelope.turn_id is not None
        parent: Span = self.turn(envelope) if in_turn else run.span
        return self._begin_call(run, parent, call_id, name, envelope.at)

    def known_call(self, envelope: Envelope, call_id: ToolCallId) -> ToolCallSpan | None:
        """Return an open tool call, or one that goes on from an earlier run; else None."""
        run = self.by_session.get(envelope.session_id)
        if run is not None and (span := run.calls.get(call_id)) is not None:
            return span
        left = self._left.get((envelope.session_id, call_id))
        if left is None:
            return None
        return self.call(envelope, call_id, left.name, in_turn=not left.is_background)

    def end(
        self,
        span: Span,
        at: int,
        status: SpanStatus | None,
        *,
        unfinished: SpanStatus = SpanStatus.UNFINISHED,
    ) -> None:
        """End a span and what is open in it.

        Args:
            span: The span; nothing happens if it has ended.
            at: When it ended, in milliseconds since the Unix epoch.
            status: How it ended; None if nothing says so.
            unfinished: How everything ends of which nothing says how, and that does not wait for a
                person.
        """
        if span.has_ended:
            return
        run = self.by_session[span.session_id]
        inside = span.children[::-1]
        if isinstance(span, RunSpan):  # a call in the background may be in a turn that has ended
            inside += run.calls.values()
        found: list[SpanStatus] = []
        for child in inside:
            goes_on = isinstance(child, ToolCallSpan) and child.is_background
            if not child.has_ended and not (goes_on and isinstance(span, TurnSpan)):
                self.end(child, at, None, unfinished=unfinished)
                found.append(child.status)
        span.ended_ms = max(at, span.started_ms)
        span.status = status or (SpanStatus.PAUSED if _waits(span, found) else unfinished)
        self._ended.append(span)
        match span:
            case RunSpan():
                del self.by_session[span.session_id]
            case TurnSpan():
                run.turn, run.last_status = None, span.status
            case ToolCallSpan():
                del run.calls[span.call_id]
                if span.result is None:
                    self._remember(span)
        if not self._keeps and span.parent is not None:
            span.parent.children.remove(span)

    def _remember(self, span: ToolCallSpan) -> None:
        # No more of it than a span that goes on with it needs: arguments may be long.
        alone = ToolCallSpan(
            session_id=span.session_id,
            started_ms=span.started_ms,
            call_id=span.call_id,
            name=span.name,
            is_background=span.is_background,
            approvals=[wait for wait in span.approvals if wait.until_ms is None],
        )
        self._left[span.session_id, span.call_id] = alone
        if len(self._left) > _MOST_LEFT:
            del self._left[next(iter(self._left))]

    def _parent(self, envelope: Envelope, started: RunStarted) -> ToolCallSpan | None:
        """Return the call that a run answers; None if it answers none, or one of no open run."""
        session_id, call_id = started.parent_session_id, started.parent_call_id
        if session_id is None or call_id is None or session_id not in self.by_session:
            return None
        run = self.by_session[session_id]
        if (span := run.calls.get(call_id)) is not None:
            return span
        left = self._left.get((session_id, call_id))
        if left is None:
            return None
        return self._begin_call(run, run.turn or run.span, call_id, left.name, envelope.at)

    def _begin_call(
        self, run: OpenRun, parent: Span, call_id: ToolCallId, name: str, at: int
    ) -> ToolCallSpan:
        span = run.calls[call_id] = ToolCallSpan(
            session_id=run.span.session_id,
            turn_id=parent.turn_id,
            started_ms=at,
            continues=True,
            parent=parent,
            call_id=call_id,
            name=name,
        )
        if (left := self._left.pop((span.session_id, call_id), None)) is not None:
            span.is_background = left.is_background
            span.approvals = [replace(wait) for wait in left.approvals]
        self._begin(span)
        return span

    def _begin(self, span: Span) -> None:
        self._began.append(span)
        if span.parent is not None:
            span.parent.children.append(span)


def _waits(span: Span, inside: list[SpanStatus]) -> bool:
    """Whether a person is all that the span waits for."""
    if isinstance(span, ToolCallSpan) and span.is_waiting:
        return True
    return bool(inside) and all(status is SpanStatus.PAUSED for status in inside)
