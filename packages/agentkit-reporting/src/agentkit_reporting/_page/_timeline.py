"""The timeline of a run: for each turn, when its model calls and tool calls began and ended.

Each step is a line of text with a bar beside it, so that the list says everything that the bars
show. The bars of a turn have one scale, from its beginning to its last end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Final, NamedTuple

from agentkit_core import SessionId, TurnId
from agentkit_reporting._page._conversation import TurnLink
from agentkit_reporting._page._markup import NOTHING, Markup, element, joined
from agentkit_reporting._page._times import duration
from agentkit_reporting._page._values import folded
from agentkit_reporting._spans import ModelCallSpan, RunSpan, Span, SpanStatus, ToolCallSpan

_MOST_STEPS: Final = 1000
_MOST_UNFOLDED: Final = 30
_DEEPEST: Final = 5
_WIDTH: Final = 1000
_HEIGHT: Final = 10
_THINNEST: Final = 4
_LEGEND: Final = {
    "model": "Model",
    "tool": "Tool",
    "failed": "Failed",
    "idle": "Before the first word, or before it ran",
    "wait": "Waits for a person",
}
_WORDS: Final = {
    SpanStatus.RUNNING: "no end",
    SpanStatus.OK: "",
    SpanStatus.ERROR: "failed",
    SpanStatus.CANCELLED: "cancelled",
    SpanStatus.PAUSED: "waits",
    SpanStatus.UNFINISHED: "no end",
}


class _Step(NamedTuple):
    span: ModelCallSpan | ToolCallSpan
    depth: int


class _Scale(NamedTuple):
    """How times of a turn become places on its bars."""

    start_ms: int
    end_ms: int

    def place(self, at: int) -> float:
        length = max(self.end_ms - self.start_ms, 1)
        return min(max(at - self.start_ms, 0), length) / length * _WIDTH


def timeline_section(
    runs: Iterable[RunSpan],
    links: Mapping[tuple[SessionId, TurnId | None], TurnLink],
    last_ms: int,
) -> Markup:
    """Draw the timeline; empty without model calls and tool calls.

    Args:
        runs: The outer runs, in order.
        links: Where their turns are on the page.
        last_ms: When the record ends, in milliseconds since the Unix epoch.
    """
    groups = [(span, list(_steps_of(span, 0))) for run in runs for span in run.children]
    groups = [(span, steps) for span, steps in groups if steps]
    count = sum(len(steps) for _, steps in groups)
    if not count:
        return NOTHING
    shown = _longest([step for _, steps in groups for step in steps], last_ms)
    written = [
        _group(span, [step for step in steps if id(step.span) in shown], links, last_ms)
        for span, steps in groups
    ]
    if count > len(shown):
        left_out = f"The {count - len(shown):,} shortest steps are left out."
        written.append(element("p", left_out, class_="none"))
    return element(
        "div",
        element("h2", "Timeline"),
        folded(f"{count:,} steps", joined([_legend(), *written]), is_open=count <= _MOST_UNFOLDED),
        class_="timeline",
    )


def _legend() -> Markup:
    signs = [
        element("li", element("span", class_=f"sign bar-{style}"), name)
        for style, name in _LEGEND.items()
    ]
    return element("ul", *signs, class_="legend")


def _steps_of(span: Span, depth: int) -> Iterator[_Step]:
    """Yield the calls in a span, and those of inner agents after the call that began them."""
    if isinstance(span, ModelCallSpan | ToolCallSpan):
        yield _Step(span, depth)
        depth += 1
    for child in span.children:
        yield from _steps_of(child, depth)


def _longest(steps: Sequence[_Step], last_ms: int) -> set[int]:
    if len(steps) <= _MOST_STEPS:
        return {id(step.span) for step in steps}
    longest = nlargest(
        _MOST_STEPS, steps, lambda step: _end(step.span, last_ms) - step.span.started_ms
    )
    return {id(step.span) for step in longest}


def _end(span: Span, last_ms: int) -> int:
    return last_ms if span.ended_ms is None else span.ended_ms


def _group(
    span: Span,
    steps: Sequence[_Step],
    links: Mapping[tuple[SessionId, TurnId | None], TurnLink],
    last_ms: int,
) -> Markup:
    if not steps:
        return NOTHING
    scale = _Scale(
        min(step.span.started_ms for step in steps),
        max(_end(step.span, last_ms) for step in steps),
    )
    link = links.get((span.session_id, span.turn_id))
    name = element("a", link.name, href=f"#{link.anchor}") if link else "Outside of turns"
    took = element("span", duration(scale.end_ms - scale.start_ms), class_="about")
    title = element("h3", name, " ", took)
    rows = [_row(step, scale, last_ms) for step in steps]
    return joined([title, element("ol", *rows, class_="steps")])


def _row(step: _Step, scale: _Scale, last_ms: int) -> Markup:
    span = step.span
    if isinstance(span, ModelCallSpan):
        kind, name = "Model", span.model or "unknown"
        if span.attempt > 1:
            name += f", attempt {span.attempt}"
    else:
        kind, name = "Tool", span.name
    word = _WORDS[span.status]
    status = element("span", word, class_=f"state-{span.status.value}") if word else None
    began = duration(span.started_ms - scale.start_ms)
    took = duration(_end(span, last_ms) - span.started_ms)
    return element(
        "li",
        element(
            "span",
            element("span", kind, class_="about"),
            " ",
            element("span", name, dir="auto"),
            " ",
            status,
            class_=f"step depth-{min(step.depth, _DEEPEST)}",
        ),
        " ",
        element("span", f"+{began}", class_="began"),
        " ",
        element("span", took, class_="took"),
        _bar(span, scale, last_ms),
    )


def _bar(span: ModelCallSpan | ToolCallSpan, scale: _Scale, last_ms: int) -> Markup:
    start, end = scale.place(span.started_ms), scale.place(_end(span, last_ms))
    style = "failed" if span.status is SpanStatus.ERROR else _style(span)
    began = span.first_delta_ms if isinstance(span, ModelCallSpan) else span.run_started_ms
    if began is None and isinstance(span, ToolCallSpan):
        began = span.ended_ms  # it never ran
    busy = start if began is None else min(scale.place(began), end - _THINNEST)
    pieces = []
    if busy > start:
        pieces.append(_piece(start, busy, "idle"))
    pieces.append(_piece(max(busy, start), end, style))
    if isinstance(span, ToolCallSpan):
        for wait in span.approvals:
            until = _end(span, last_ms) if wait.until_ms is None else wait.until_ms
            pieces.append(_piece(scale.place(wait.since_ms), scale.place(until), "wait"))
    return element(
        "svg",
        *pieces,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def _style(span: Span) -> str:
    return "model" if isinstance(span, ModelCallSpan) else "tool"


def _piece(start: float, end: float, style: str) -> Markup:
    width = max(end - start, _THINNEST)
    return element(
        "rect",
        x=f"{min(start, _WIDTH - width):.1f}",
        y=0,
        width=f"{width:.1f}",
        height=_HEIGHT,
        class_=f"bar-{style}",
    )
