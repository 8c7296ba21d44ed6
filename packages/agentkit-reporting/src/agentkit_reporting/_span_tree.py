"""Builds the spans of runs from their events, one event at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from agentkit_core import (
    FailureKind,
    FinishReason,
    SessionId,
    ToolFailure,
    ToolResult,
)
from agentkit_loop import TurnEnd
from agentkit_loop.events import (
    ApprovalRequired,
    ApprovalResolved,
    AttemptSuperseded,
    ContentDelta,
    Envelope,
    ModelCallFinished,
    ModelCallStarted,
    RetryScheduled,
    RunFinished,
    RunStarted,
    RunSuspended,
    ToolCallRequested,
    ToolDetached,
    ToolExecutionStarted,
    ToolProgress,
    ToolResultReceived,
    TurnFinished,
    TurnStarted,
)
from agentkit_reporting._open_spans import NO_CHANGES, OpenSpans, SpanChanges
from agentkit_reporting._repeats import RepeatFilter
from agentkit_reporting._spans import ApprovalWait, RunSpan, SpanStatus

_NOT_DONE: Final = frozenset({ToolFailure.INTERRUPTED, ToolFailure.SKIPPED})


class SpanTree:
    """The spans of one or more sessions, whose events come in the order of each session.

    Every span ends once, however the run ends: what is open when a run ends, ends with it. Events
    that are reported again after a crash count once. An event about something whose beginning was
    not seen begins it: see `Span.continues`. Other events change nothing.

    Attributes:
        runs: The runs that no known tool call began, in the order in which they began.
    """

    __slots__ = ("__weakref__", "_keeps", "_open", "_repeats", "runs")

    def __init__(self, *, keeps_ended: bool = True) -> None:
        """Start without spans.

        Args:
            keeps_ended: Whether spans stay in `runs` and `children` after they have ended. A
                reporter that lives as long as its process and uses only the changes does without,
                so that memory does not grow.
        """
        self.runs: list[RunSpan] = []
        self._keeps = keeps_ended
        self._open = OpenSpans(keeps_ended=keeps_ended)
        self._repeats = RepeatFilter()

    def take(self, envelope: Envelope) -> SpanChanges:
        """Take one event, and return what began and ended with it."""
        opened = self._open
        if type(envelope.event) is ContentDelta:  # most events are these
            _grow_answer(opened, envelope)
            return NO_CHANGES
        take = _TAKES.get(type(envelope.event))
        if take is not None and not self._repeats.is_repeat(envelope):
            take(opened, envelope, envelope.event)
        if (run := opened.by_session.get(envelope.session_id)) is not None:
            run.last_ms, run.last_seq = envelope.at, envelope.seq
        changes = opened.take_changes()
        if self._keeps and changes.began:
            runs = (span for span in changes.began if isinstance(span, RunSpan))
            self.runs += (run for run in runs if run.parent is None)
        return changes

    def finish(self, session_id: SessionId | None = None) -> SpanChanges:
        """End what is open, because no more events will come.

        What waits for a person ends as `paused`, everything else as `unfinished`; each at the time
        of the last event of its session.

        Args:
            session_id: The session whose spans are ended; None means all sessions.
        """
        # An inner run ends before the call that it answers.
        runs = self._open.by_session
        for each in [session_id] if session_id is not None else reversed(list(runs)):
            if (run := runs.get(each)) is not None:
                self._open.end(run.span, run.last_ms, None)
        return self._open.take_changes()


def spans_of(envelopes: Iterable[Envelope]) -> list[RunSpan]:
    """Return the spans of a whole record: its runs, in the order in which they began."""
    tree = SpanTree()
    for envelope in envelopes:
        tree.take(envelope)
    tree.finish()
    return tree.runs


# What events do. Each finds what it is about, or begins it.


def _start_run(opened: OpenSpans, envelope: Envelope, event: RunStarted) -> None:
    before = opened.by_session.get(envelope.session_id)
    if before is not None and before.has_started:
        opened.end(before.span, before.last_ms, None)
    run = opened.run(envelope, event)
    run.has_started = True
    run.span.continues = event.resumed


def _finish_run(opened: OpenSpans, envelope: Envelope, _: RunFinished) -> None:
    run = opened.run(envelope)
    opened.end(run.span, envelope.at, run.last_status)


def _suspend_run(opened: OpenSpans, envelope: Envelope, _: RunSuspended) -> None:
    run = opened.by_session.get(envelope.session_id)
    # Another object may have gone on with a session that was idle before this one was left.
    if run is not None and envelope.seq > run.last_seq:
        is_idle = run.turn is None and not run.calls
        status = run.last_status if is_idle else None
        opened.end(run.span, envelope.at, status, unfinished=SpanStatus.PAUSED)


def _start_turn(opened: OpenSpans, envelope: Envelope, _: TurnStarted) -> None:
    opened.turn(envelope).continues = False


def _finish_turn(opened: OpenSpans, envelope: Envelope, event: TurnFinished) -> None:
    turn = opened.turn(envelope)
    turn.result = event.result
    status = _STATUS_OF_TURN.get(event.result.end, SpanStatus.ERROR)
    opened.end(turn, envelope.at, status)


def _start_model_call(opened: OpenSpans, envelope: Envelope, event: ModelCallStarted) -> None:
    span = opened.begin_model_call(envelope, event.call, event.attempt)
    span.model, span.provider, span.options = event.model, event.provider, event.options


def _grow_answer(opened: OpenSpans, envelope: Envelope) -> None:
    if (run := opened.by_session.get(envelope.session_id)) is None:
        return
    run.last_ms, run.last_seq = envelope.at, envelope.seq
    if (span := run.model_call) is not None and span.first_delta_ms is None:
        span.first_delta_ms = envelope.at


def _finish_model_call(opened: OpenSpans, envelope: Envelope, event: ModelCallFinished) -> None:
    span = opened.run(envelope).model_call
    if span is None or span.has_ended:
        span = opened.begin_model_call(envelope, event.call, event.attempt)
        span.continues = True
    span.finish_reason = event.finish_reason
    span.usage = event.usage
    span.failure = event.failure
    span.provenance = event.provenance
    if event.provenance is not None:
        span.model = span.model or event.provenance.model
        span.provider = span.provider or event.provenance.provider
    opened.end(span, envelope.at, _status_of_model_call(event))


def _supersede_attempt(opened: OpenSpans, envelope: Envelope, event: AttemptSuperseded) -> None:
    span = opened.run(envelope).model_call
    if span is not None and (span.call, span.attempt) == (event.call, event.attempt):
        span.is_superseded = True


def _schedule_retry(opened: OpenSpans, envelope: Envelope, event: RetryScheduled) -> None:
    span = opened.run(envelope).model_call
    if span is not None and (span.call, span.attempt) == (event.call, event.attempt):
        span.retry_wait_s = event.wait_s


def _request_call(opened: OpenSpans, envelope: Envelope, event: ToolCallRequested) -> None:
    span = opened.call(envelope, event.call.id, event.call.name)
    span.requested_input = event.call.input
    span.continues = False


def _start_tool(opened: OpenSpans, envelope: Envelope, event: ToolExecutionStarted) -> None:
    span = opened.call(envelope, event.call_id, event.name)
    span.input = event.input
    span.run_started_ms = envelope.at


def _take_progress(opened: OpenSpans, envelope: Envelope, event: ToolProgress) -> None:
    run = opened.by_session.get(envelope.session_id)
    if run is not None and (span := run.calls.get(event.call_id)) is not None:
        span.progress_count += 1
        span.last_progress = event.message


def _detach(opened: OpenSpans, envelope: Envelope, event: ToolDetached) -> None:
    opened.call(envelope, event.call_id, event.name).is_background = True


def _finish_call(opened: OpenSpans, envelope: Envelope, event: ToolResultReceived) -> None:
    span = opened.call(envelope, event.call_id, event.name, in_turn=not event.background)
    span.result = event.result
    span.is_background = event.background
    opened.end(span, envelope.at, _status_of_result(event.result))


def _ask(opened: OpenSpans, envelope: Envelope, event: ApprovalRequired) -> None:
    request = event.request
    span = opened.call(envelope, request.call.id, request.call.name, in_turn=not event.background)
    span.is_background = span.is_background or event.background
    waits = (wait for wait in span.approvals if wait.until_ms is None)
    if all(wait.approval_id != request.id for wait in waits):  # else it has waited since before
        span.approvals.append(
            ApprovalWait(approval_id=request.id, since_ms=envelope.at, request=request)
        )


def _resolve(opened: OpenSpans, envelope: Envelope, event: ApprovalResolved) -> None:
    if (span := opened.known_call(envelope, event.call_id)) is None:
        return  # the name of the tool is not known; its result will say it
    for wait in span.approvals:
        if wait.approval_id == event.approval_id and wait.until_ms is None:
            break
    else:
        wait = ApprovalWait(approval_id=event.approval_id, since_ms=envelope.at)
        span.approvals.append(wait)
    wait.until_ms, wait.outcome, wait.is_patched = envelope.at, event.outcome, event.patched


def _status_of_model_call(event: ModelCallFinished) -> SpanStatus:
    failure = event.failure
    if event.finish_reason is FinishReason.CANCELLED:
        return SpanStatus.CANCELLED
    if failure is not None and failure.kind is FailureKind.CANCELLED:
        return SpanStatus.CANCELLED
    failed = failure is not None or event.finish_reason is FinishReason.ERROR
    return SpanStatus.ERROR if failed else SpanStatus.OK


def _status_of_result(result: ToolResult) -> SpanStatus:
    if result.failure in _NOT_DONE:
        return SpanStatus.CANCELLED
    return SpanStatus.ERROR if result.is_error else SpanStatus.OK


_STATUS_OF_TURN: Final[Mapping[TurnEnd, SpanStatus]] = {
    TurnEnd.COMPLETED: SpanStatus.OK,
    TurnEnd.CANCELLED: SpanStatus.CANCELLED,
}

_TAKES: Final[Mapping[type[Any], Callable[[OpenSpans, Envelope, Any], None]]] = {
    RunStarted: _start_run,
    RunFinished: _finish_run,
    RunSuspended: _suspend_run,
    TurnStarted: _start_turn,
    TurnFinished: _finish_turn,
    ModelCallStarted: _start_model_call,
    ModelCallFinished: _finish_model_call,
    AttemptSuperseded: _supersede_attempt,
    RetryScheduled: _schedule_retry,
    ToolCallRequested: _request_call,
    ToolExecutionStarted: _start_tool,
    ToolProgress: _take_progress,
    ToolDetached: _detach,
    ToolResultReceived: _finish_call,
    ApprovalRequired: _ask,
    ApprovalResolved: _resolve,
}
