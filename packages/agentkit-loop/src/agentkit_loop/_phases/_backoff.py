"""Backoff: a model call failed, and the next attempt waits for its time."""

from __future__ import annotations

from typing import Final

from agentkit_loop._draft import Draft
from agentkit_loop._inputs import Cancel, Close, Continue, Submit, TimerFired
from agentkit_loop._phases._busy import Handlers, closing, continued, submitted
from agentkit_loop._table import Phase
from agentkit_loop._turns import attempt_call, end_turn
from agentkit_loop.events import TurnEnd


def fired(draft: Draft, given: TimerFired) -> Phase:
    """Make the next attempt."""
    return attempt_call(draft, draft.turn.attempt + 1)


def cancelled(draft: Draft, given: Cancel | Close) -> Phase:
    """Give up waiting, and end the turn."""
    draft.abort(draft.turn.effect_id)
    return end_turn(draft, TurnEnd.CANCELLED)


HANDLERS: Final[Handlers] = {
    Submit: submitted,
    Continue: continued,
    TimerFired: fired,
    Cancel: cancelled,
    Close: closing(cancelled),
}
