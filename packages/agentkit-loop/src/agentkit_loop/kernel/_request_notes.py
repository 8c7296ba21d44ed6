"""What was changed of a request to fit it to its model, reported as diagnostics.

A projection notes in the metadata of the answer what it did not send as asked. Each change is
reported with the first answer that has it, and again only after an answer without it.
"""

from __future__ import annotations

from agentkit_core import Item, ItemKind
from agentkit_core.provider import RequestChange, request_changes
from agentkit_loop.kernel._draft import Draft


def report_request_changes(draft: Draft, item: Item) -> None:
    """Report the changes that an answer notes, except those that the answer before it noted.

    Args:
        draft: The step's draft; the answer is not yet in its transcript.
        item: The model's answer.
    """
    changes = request_changes(item.metadata) if item.metadata else ()
    if not changes:
        return
    known = frozenset(_descriptions_of(_last_answer(draft)))
    for change in changes:
        description = _description(change)
        if description not in known:
            draft.diagnose(description)


def _last_answer(draft: Draft) -> Item | None:
    for item in reversed(draft.transcript.items):
        if item.kind is ItemKind.ASSISTANT:
            return item
    return None


def _descriptions_of(item: Item | None) -> list[str]:
    return [] if item is None else list(map(_description, request_changes(item.metadata)))


def _description(change: RequestChange) -> str:
    """One sentence about a change, for people."""
    if change.sent is None:
        what = f"{change.what} was not sent"
    elif change.asked is None:
        what = f"{change.what} was sent as {change.sent!r}"
    else:
        what = f"{change.what} was sent as {change.sent!r} instead of {change.asked!r}"
    return f"{what}: {change.reason}" if change.reason else f"{what}: the model does not take it"
