"""Preparing: the next request is made. The model is asked next, unless somebody wants to stop."""

from __future__ import annotations

from typing import Final

from agentkit_loop._result import TurnEnd
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Cancel, Close, Prepared
from agentkit_loop.kernel._phases._common import Handlers, handlers
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import ask_model, end_turn, note_tools


def prepared(draft: Draft, given: Prepared) -> Phase:
    """Tell which tools have changed, and ask the model."""
    draft.set_turn(effect_id=None)
    if given.error is not None:
        return end_turn(draft, TurnEnd.ERROR, error=given.error)
    if given.stop:
        return end_turn(draft, TurnEnd.COMPLETED)
    note_tools(draft, given.tools)
    return ask_model(draft)


def cancelled(draft: Draft, given: Cancel | Close) -> Phase:
    """Give up the request, and end the turn."""
    draft.abort(draft.turn.effect_id)
    return end_turn(draft, TurnEnd.CANCELLED)


HANDLERS: Final[Handlers] = handlers(cancelled, {Prepared: prepared})
