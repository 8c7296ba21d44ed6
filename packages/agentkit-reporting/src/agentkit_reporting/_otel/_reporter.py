"""The reporter that tells OpenTelemetry of turns, model calls and tool calls."""

from __future__ import annotations

from threading import RLock
from typing import Final

from opentelemetry import _logs, metrics, trace
from opentelemetry._logs import Logger, LoggerProvider, SeverityNumber
from opentelemetry.context import Context, get_current
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Link, SpanContext, SpanKind, StatusCode, TracerProvider

from agentkit_core import SessionId, TurnId
from agentkit_loop.events import ContentDelta, Diagnostic, Envelope, ToolProgress
from agentkit_reporting._closable import Closable
from agentkit_reporting._open_spans import SpanChanges
from agentkit_reporting._otel import _names as names
from agentkit_reporting._otel._attributes import Attributes, at_begin, at_end, error_type, name_of
from agentkit_reporting._otel._capture import MessageCapture
from agentkit_reporting._otel._conversations import Conversations, answer_in
from agentkit_reporting._otel._metrics import Metrics
from agentkit_reporting._span_tree import SpanTree
from agentkit_reporting._spans import (
    ModelCallSpan,
    RunSpan,
    Span,
    SpanStatus,
    ToolCallSpan,
    TurnSpan,
)

_NS_PER_MS: Final = 1_000_000
_BEFORE_ANSWER: Final = frozenset({Diagnostic, ToolProgress})
"""What may be reported between the end of a model call and its answer."""
_ANSWERS: Final = frozenset({SpanStatus.OK, SpanStatus.CANCELLED})
"""How a model call ends whose answer may enter the transcript."""
_MOST_PAUSED: Final = 1_000
"""How many paused turns are remembered, so that the turns that go on with them can name them."""


class OtelReporter(Closable):
    """Makes spans, metrics and exception events of runs.

        invoke_agent {agent}        a turn
          chat {model}              one attempt at a model call
          execute_tool {tool}       a tool call, from the request to its result
            invoke_agent {tool}     a turn of the agent that is this tool

    The parent of a turn is the span that was current when it began, or the call that the agent
    answers. No span is ever made current, so the host's own spans are not disturbed. Times are
    those of the events: a record that is replayed gives the same spans. A turn that continues a
    paused one links to it, if this reporter saw both.
    """

    __slots__ = (
        "__weakref__",
        "_agent_name",
        "_answered",
        "_capture",
        "_conversations",
        "_lock",
        "_logger",
        "_metrics",
        "_open",
        "_paused",
        "_tracer",
        "_tree",
    )

    def __init__(
        self,
        *,
        agent_name: str | None = None,
        capture: MessageCapture | None = None,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        logger_provider: LoggerProvider | None = None,
    ) -> None:
        """Report to the global providers, or to those that are given.

        Args:
            agent_name: What the agent is called. Agents that are tools have the names of these.
            capture: How much of what is said is recorded. None: nothing of it.
            tracer_provider: Takes the spans.
            meter_provider: Takes the metrics.
            logger_provider: Takes an event for each failed model call and tool.
        """
        url = names.SCHEMA_URL
        self._tracer = trace.get_tracer(
            names.SCOPE, tracer_provider=tracer_provider, schema_url=url
        )
        meter = metrics.get_meter(names.SCOPE, meter_provider=meter_provider, schema_url=url)
        self._metrics = Metrics(meter)
        self._logger: Logger = _logs.get_logger(
            names.SCOPE, logger_provider=logger_provider, schema_url=url
        )
        self._agent_name = agent_name
        self._capture = capture
        self._conversations = None if capture is None else Conversations(capture)
        self._tree = SpanTree(keeps_ended=False)
        self._open: dict[Span, trace.Span] = {}
        self._answered: dict[SessionId, tuple[trace.Span, ModelCallSpan]] = {}
        self._paused: dict[SessionId, tuple[TurnId | None, SpanContext]] = {}
        # Ending a span may run code of the host, even the end of another session.
        self._lock = RLock()

    def __call__(self, envelope: Envelope) -> None:
        """Take one event."""
        if type(envelope.event) is ContentDelta:
            self._tree.take(envelope)  # touches only its own session, and begins and ends nothing
            return
        with self._lock:
            try:
                self._end_answered(envelope)
            finally:
                if self._conversations is not None:
                    self._conversations.take(envelope)
                self._tell(self._tree.take(envelope))

    def close(self) -> None:
        """End all spans that are open, because no more events will come."""
        with self._lock:
            self._tell(self._tree.finish())
            for session_id in list(self._answered):
                self._end_answer(session_id)

    def _tell(self, changes: SpanChanges) -> None:
        """Begin and end spans; if one fails, so that the host hears of it, the others are told."""
        failure: Exception | None = None
        for tell, spans in ((self._begin, changes.began), (self._end, changes.ended)):
            for span in spans:
                try:
                    tell(span)
                except Exception as error:
                    failure = failure or error
        if failure is not None:
            raise failure

    def _begin(self, span: Span) -> None:
        if isinstance(span, RunSpan):
            return  # a session may rest for days; its turns name the conversation
        agent_name = self._name_of_agent(span)
        told = self._tracer.start_span(
            name_of(span, agent_name),
            context=self._parent_of(span),
            kind=SpanKind.CLIENT if isinstance(span, ModelCallSpan) else SpanKind.INTERNAL,
            attributes=at_begin(span, agent_name),
            links=self._links_of(span),
            start_time=span.started_ms * _NS_PER_MS,
        )
        self._open[span] = told
        if (
            self._capture is not None
            and self._conversations is not None
            and isinstance(span, ModelCallSpan)
            and told.is_recording()
        ):
            said = self._conversations.newest(span.session_id)
            told.set_attribute(names.INPUT_MESSAGES, self._capture.input(said))

    def _end(self, span: Span) -> None:
        told = self._open.pop(span, None)
        if told is None:
            return
        if isinstance(span, TurnSpan) and span.status is SpanStatus.PAUSED:
            self._remember_paused(span, told.get_span_context())
        is_awaited = (
            self._capture is not None
            and isinstance(span, ModelCallSpan)
            and span.status in _ANSWERS
            and told.is_recording()
        )
        try:
            told.set_attributes(at_end(span))
            if (error := error_type(span)) is not None:
                told.set_status(StatusCode.ERROR, _describe(span) or error)
                self._tell_exception(span, told, error)
            self._metrics.add(span, self._name_of_agent(span))
        finally:
            if is_awaited and isinstance(span, ModelCallSpan):
                # The answer enters the transcript with a later event; only then is it known.
                self._answered[span.session_id] = (told, span)
            else:
                told.end(_ns(span))

    def _end_answered(self, envelope: Envelope) -> None:
        is_before = type(envelope.event) in _BEFORE_ANSWER
        if envelope.session_id in self._answered and not is_before:
            self._end_answer(envelope.session_id, envelope)

    def _end_answer(self, session_id: SessionId, envelope: Envelope | None = None) -> None:
        told, span = self._answered.pop(session_id)
        items = [] if envelope is None else answer_in(envelope)
        if items and self._capture is not None:
            output = self._capture.output(items, span.finish_reason)
            told.set_attribute(names.OUTPUT_MESSAGES, output)
        told.end(_ns(span))

    def _parent_of(self, span: Span) -> Context:
        parent = span.parent
        if isinstance(parent, RunSpan):
            parent = parent.parent  # the call that the run answers; None for a run of its own
        told = None if parent is None else self._open.get(parent)
        return get_current() if told is None else trace.set_span_in_context(told, Context())

    def _links_of(self, span: Span) -> list[Link]:
        if not isinstance(span, TurnSpan):
            return []
        turn_id, paused = self._paused.pop(span.session_id, (None, None))
        if paused is None or turn_id != span.turn_id:
            return []
        return [Link(paused, {"agentkit.link": "continues"})]

    def _remember_paused(self, span: TurnSpan, context: SpanContext) -> None:
        self._paused[span.session_id] = span.turn_id, context
        if len(self._paused) > _MOST_PAUSED:
            self._paused.pop(next(iter(self._paused)))

    def _name_of_agent(self, span: Span) -> str | None:
        around: Span | None = span
        while around is not None and not isinstance(around, RunSpan):
            around = around.parent
        call = None if around is None else around.parent
        return call.name if isinstance(call, ToolCallSpan) else self._agent_name

    def _tell_exception(self, span: Span, told: trace.Span, error: str) -> None:
        if isinstance(span, TurnSpan):
            return  # what went wrong in it is told of the call in which it did
        is_model_call = isinstance(span, ModelCallSpan)
        attributes: Attributes = {"exception.type": error}
        if (message := _describe(span)) is not None:
            attributes["exception.message"] = message
        self._logger.emit(
            timestamp=_ns(span),
            context=trace.set_span_in_context(told, Context()),
            severity_number=SeverityNumber.WARN,
            attributes=attributes,
            event_name=names.CLIENT_EXCEPTION if is_model_call else names.TOOL_EXCEPTION,
        )


def _describe(span: Span) -> str | None:
    """Say what went wrong; None where that would repeat what a tool returned."""
    match span:
        case ModelCallSpan(failure=failure) if failure is not None:
            return failure.message
        case TurnSpan(result=result) if result is not None:
            return result.failure.message if result.failure is not None else result.error
        case _:
            return None


def _ns(span: Span) -> int:
    return (span.started_ms if span.ended_ms is None else span.ended_ms) * _NS_PER_MS
