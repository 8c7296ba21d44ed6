"""Outlines of spans: a tree as indented lines, to compare with an agreed one.

run ok
  turn turn-1 ok
    model call 1.1 ok
    tool call t1 error denied      approvals: approved, and so on
"""

from __future__ import annotations

from collections.abc import Iterable

from agentkit_reporting.spans import ModelCallSpan, RunSpan, Span, ToolCallSpan, TurnSpan


def outline(spans: Iterable[Span], *, indent: str = "") -> list[str]:
    lines: list[str] = []
    for span in spans:
        lines.append(" ".join([f"{indent}{_name(span)}", span.status, *_facts(span)]))
        lines += outline(span.children, indent=indent + "  ")
    return lines


def _name(span: Span) -> str:
    match span:
        case RunSpan():
            return "run"
        case TurnSpan():
            return f"turn {span.turn_id}"
        case ModelCallSpan():
            return f"model call {span.call}.{span.attempt}"
        case ToolCallSpan():
            return f"tool call {span.call_id}"
        case _:
            raise AssertionError(span)


def _facts(span: Span) -> Iterable[str]:
    if span.continues:
        yield "continues"
    match span:
        case TurnSpan(result=result) if result is not None and span.status == "error":
            yield result.end
        case ModelCallSpan():
            if span.is_superseded:
                yield "superseded"
            if span.retry_wait_s is not None:
                yield "retried"
        case ToolCallSpan():
            if span.run_started_ms is not None:
                yield "ran"
            if span.is_background:
                yield "background"
            if span.is_denied:
                yield "denied"
            if span.progress_count:
                yield f"progress:{span.progress_count}"
            yield from (f"approval:{wait.outcome or 'waiting'}" for wait in span.approvals)
