"""Backoff: a model call failed, and the next attempt waits for its time."""

from __future__ import annotations

from typing import Final

from agentkit_loop._result import TurnEnd
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Cancel, Close, TimerFired
from agentkit_loop.kernel._phases._background_calls import is_in_background
from agentkit_loop.kernel._phases._background_calls import on_timer_fired as on_background_timer
from agentkit_loop.kernel._phases._common import handlers_of_turn
from agentkit_loop.kernel._phases._handler import Handlers
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import call_model, end_turn, start_attempt


def on_timer_fired(draft: Draft, answer: TimerFired) -> Phase:
    """Make the next attempt, with the prepared request if there still is one."""
    if is_in_background(draft, answer.effect_id):
        return on_background_timer(draft, answer)
    attempt = draft.turn.attempt + 1
    if not draft.turn.prepared:
        return start_attempt(draft, attempt)
    draft.set_turn(attempt=attempt)
    return call_model(draft)


def on_cancel(draft: Draft, command: Cancel | Close) -> Phase:
    """Stop waiting, and end the turn."""
    draft.abort(draft.turn.effect_id)
    return end_turn(draft, TurnEnd.CANCELLED)


HANDLERS: Final[Handlers] = handlers_of_turn(on_cancel, {TimerFired: on_timer_fired})
