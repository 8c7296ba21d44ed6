"""Backoff: a model call failed, and the next attempt waits for its time."""

from __future__ import annotations

from typing import Final

from agentkit_loop._result import TurnEnd
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Cancel, Close, TimerFired
from agentkit_loop.kernel._phases._common import Handlers, handlers, is_aside, timer_fired
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import ask_model, end_turn, prepare_attempt


def fired(draft: Draft, given: TimerFired) -> Phase:
    """Make the next attempt, with the same request if there still is one."""
    if is_aside(draft, given.effect_id):
        return timer_fired(draft, given)
    attempt = draft.turn.attempt + 1
    if not draft.turn.prepared:
        return prepare_attempt(draft, attempt)
    draft.set_turn(attempt=attempt)
    return ask_model(draft)


def cancelled(draft: Draft, given: Cancel | Close) -> Phase:
    """Give up waiting, and end the turn."""
    draft.abort(draft.turn.effect_id)
    return end_turn(draft, TurnEnd.CANCELLED)


HANDLERS: Final[Handlers] = handlers(cancelled, {TimerFired: fired})
