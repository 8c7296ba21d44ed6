"""Spans as an outline for people: a line for each run, turn, model call and tool call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agentkit_reporting._format import (
    brief,
    brief_json,
    brief_output,
    describe_usage,
    moment_of,
)
from agentkit_reporting._spans import (
    ModelCallSpan,
    RunSpan,
    Span,
    SpanStatus,
    ToolCallSpan,
    TurnSpan,
)

_WIDTH: Final = 100
_INDENT: Final = "  "


def outline(run: RunSpan) -> Iterator[str]:
    """Yield the lines of a run and of everything in it; they are clean."""
    depths: dict[int, int] = {}
    for span in run.walk():
        depth = depths[id(span)] = depths.get(id(span.parent), -1) + 1
        yield _INDENT * depth + ", ".join([*_facts(span), *_end(span)])


def _facts(span: Span) -> Iterator[str]:
    match span:
        case RunSpan(session_id=session_id):
            begun = moment_of(span.started_ms)
            goes_on = "goes on" if span.continues else "began"
            yield f"session {brief(session_id, _WIDTH)}"
            at = f"{span.started_ms} ms" if begun is None else f"{begun:%Y-%m-%d %H:%M:%S} UTC"
            yield f"{goes_on} {at}"
        case TurnSpan(turn_id=turn_id):
            yield brief(turn_id or "between turns", _WIDTH)
        case ModelCallSpan():
            yield from _model_call(span)
        case ToolCallSpan():
            yield from _tool_call(span)


def _model_call(span: ModelCallSpan) -> Iterator[str]:
    attempt = "" if span.attempt == 1 else f", attempt {span.attempt}"
    yield f"model call {span.call}{attempt}: {brief(span.model or 'unknown model', _WIDTH)}"
    if span.time_to_first_delta_ms is not None:
        yield f"first delta after {_seconds(span.time_to_first_delta_ms)}"
    if span.usage is not None and span.usage.tokens.total is not None:
        yield describe_usage(span.usage).partition(", ")[2]
    if span.failure is not None:
        yield brief(span.failure.describe(), _WIDTH)
    if span.retry_wait_s is not None:
        yield f"tried again after {span.retry_wait_s:g} s"


def _tool_call(span: ToolCallSpan) -> Iterator[str]:
    given = span.input if span.input is not None else span.requested_input
    arguments = "" if given is None else f" {brief_json(given, _WIDTH)}"
    yield f"tool call {brief(span.name, _WIDTH)}{arguments}"
    if span.is_background:
        yield "in the background"
    for wait in span.approvals:
        if wait.until_ms is None:
            yield "waits for a person"
        else:
            took = _seconds(wait.until_ms - wait.since_ms)
            yield f"{wait.outcome.value if wait.outcome else 'answered'} after {took}"
    if span.is_denied:
        yield "denied"
    elif span.result is not None and span.result.is_error:
        yield brief_output(span.result.output, _WIDTH)


def _end(span: Span) -> Iterator[str]:
    if isinstance(span, TurnSpan) and span.status is SpanStatus.ERROR and span.result is not None:
        yield brief(span.result.describe_end(), _WIDTH)
    yield span.status.value
    if span.duration_ms is not None:
        yield _seconds(span.duration_ms)


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 100 else f"{milliseconds} ms"
