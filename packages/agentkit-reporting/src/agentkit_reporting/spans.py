"""Spans: the runs, turns, model calls and tool calls of one or more sessions, with their times.

`spans_of` gives the spans of a record; a `SpanTree` takes one event at a time and says what began
and ended with it, for exporters and displays of your own.

    RunSpan                 one run of a session, from `run_started` on
      TurnSpan              a turn
        ModelCallSpan       one attempt at a model call
        ToolCallSpan        a tool call, from the request to its result
          RunSpan           the run of the agent that is this tool
"""

from agentkit_reporting._open_spans import SpanChanges
from agentkit_reporting._span_tree import SpanTree, spans_of
from agentkit_reporting._spans import (
    ApprovalWait,
    ModelCallSpan,
    RunSpan,
    Span,
    SpanStatus,
    ToolCallSpan,
    TurnSpan,
)

__all__ = [
    "ApprovalWait",
    "ModelCallSpan",
    "RunSpan",
    "Span",
    "SpanChanges",
    "SpanStatus",
    "SpanTree",
    "ToolCallSpan",
    "TurnSpan",
    "spans_of",
]
