"""The top of a page: its title, the facts of the run, and its contents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from agentkit_core import Usage
from agentkit_loop import TurnEnd
from agentkit_reporting._page._charts import cost_in_words
from agentkit_reporting._page._conversation import TurnLink
from agentkit_reporting._page._markup import NOTHING, Markup, element
from agentkit_reporting._page._sessions import CallRecord, SessionRecord
from agentkit_reporting._page._times import date_and_time, duration
from agentkit_reporting._page._values import fact_list, folded
from agentkit_reporting._usage import UsageSummary

_FEWEST_LINKS: Final = 2


def page_header(
    title: str,
    roots: Sequence[SessionRecord],
    sessions: Sequence[SessionRecord],
    summary: UsageSummary,
) -> Markup:
    """Write the title and the facts of a run.

    Args:
        title: The title.
        roots: The outer sessions.
        sessions: These, and those of inner agents.
        summary: What all of them used.
    """
    calls = [call for session in sessions for call in session.calls.values()]
    failed = sum(map(_has_failed, calls))
    turns = sum(turn.turn_id is not None for root in roots for turn in root.turns)
    total = summary.with_tools
    facts: list[tuple[str, str | None]] = [("Status", _status(roots))]
    if sessions:
        began = min(session.started_at for session in sessions)
        ended = max(session.ended_at for session in sessions)
        facts += [("Began", date_and_time(began)), ("Took", duration(ended - began))]
    facts += [
        ("Model", ", ".join(summary.models)),
        ("Turns", f"{turns:,}"),
        ("Model calls", f"{total.requests:,}"),
        ("Tool calls", f"{len(calls):,}" + (f", {failed:,} failed" if failed else "")),
        ("Tokens in", _known(total.tokens.prompt, total)),
        ("Tokens out", _known(total.tokens.output, total)),
        ("Cost", cost_in_words(total) or "unknown"),
    ]
    return element("header", element("h1", title, dir="auto"), fact_list(facts, name="overview"))


def contents(sections: Iterable[str], turns: Iterable[TurnLink]) -> Markup:
    """Write links to the sections of the page, by the ids of their elements, and to the turns."""
    places = [element("li", element("a", name.capitalize(), href=f"#{name}")) for name in sections]
    entries = [
        element(
            "li",
            element(
                "a",
                link.name,
                element("span", link.about, dir="auto") if link.about else None,
                href=f"#{link.anchor}",
            ),
        )
        for link in turns
    ]
    fold = NOTHING
    if len(entries) >= _FEWEST_LINKS:
        fold = folded(f"{len(entries):,} turns", element("ol", *entries))
    return element("nav", element("ul", *places), fold, aria_label="Contents")


def _has_failed(call: CallRecord) -> bool:
    result = call.result or call.reply
    return result is not None and result.is_error


def _known(count: int | None, usage: Usage) -> str:
    if count is None:
        return "unknown"
    return f"{count:,}" + ("" if usage.exact else " or more")


def _status(roots: Iterable[SessionRecord]) -> str:
    """Say how the last turn of the last session ended."""
    turns = [(root, turn) for root in roots for turn in root.turns if turn.turn_id is not None]
    if not turns:
        return "No turns"
    session, turn = turns[-1]
    result = turn.result
    if result is None:
        return "Left, to go on later" if session.left else "Unfinished"
    if result.end is TurnEnd.COMPLETED:
        return "Completed"
    return f"Ended early: {result.describe_end()}"
