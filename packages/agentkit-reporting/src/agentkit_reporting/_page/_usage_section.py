"""What a run used of models, turn by turn, inner agents included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from agentkit_core import SessionId, TurnId, Usage
from agentkit_reporting._page._charts import usage_charts, usage_table
from agentkit_reporting._page._markup import NOTHING, Markup, element
from agentkit_reporting._page._sessions import CallRecord, SessionRecord
from agentkit_reporting._spans import ModelCallSpan, RunSpan
from agentkit_reporting._usage import UsageSummary

_Turns = Mapping[tuple[SessionId, TurnId | None], Usage]


def usage_section(
    roots: Iterable[SessionRecord], summary: UsageSummary, runs: Iterable[RunSpan]
) -> Markup:
    """Show usage as charts and tables; empty where no model was called.

    A column of the charts is a turn. If there is only one, it is a model call.

    Args:
        roots: The outer sessions.
        summary: What all sessions used.
        runs: The outer runs.
    """
    turns = [usage for root in roots for usage in _turns_of(root, summary.turns)]
    rows = [(f"Turn {number}", usage) for number, usage in enumerate(turns, start=1)]
    if len(turns) == 1:
        calls = (span for run in runs for span in run.walk() if isinstance(span, ModelCallSpan))
        charts = usage_charts("model call", [call.usage or Usage() for call in calls])
    else:
        charts = usage_charts("turn", turns)
    pieces = [
        charts,
        usage_table("Usage of each turn", "Turn", rows),
        usage_table("Usage of each model", "Model", summary.models.items()),
        usage_table("Usage that tools report", "Tool", summary.by_tool.items()),
    ]
    if not any(pieces):
        return NOTHING
    return element("div", element("h2", "Usage"), *pieces, class_="usage")


def _turns_of(session: SessionRecord, turns: _Turns) -> Iterator[Usage]:
    by_turn: dict[TurnId | None, list[CallRecord]] = {}
    for call in session.calls.values():
        by_turn.setdefault(call.turn_id, []).append(call)
    for turn in session.turns:
        if turn.turn_id is None:
            continue
        usage = turns.get((session.session_id, turn.turn_id), Usage())
        for call in by_turn.get(turn.turn_id, ()):
            usage += _usage_of(call, turns)
        yield usage


def _usage_of(call: CallRecord, turns: _Turns) -> Usage:
    """Return what a call used: what its inner agents did in this record, or what it reports."""
    if not call.sessions:
        result = call.result
        return result.usage if result is not None and result.usage is not None else Usage()
    total = Usage()
    for session in call.sessions:
        for usage in _turns_of(session, turns):
            total += usage
    return total
