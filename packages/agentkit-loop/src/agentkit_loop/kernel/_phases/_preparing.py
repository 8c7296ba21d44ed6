"""Preparing: hooks may change the next request, or end the turn before it is sent."""

from __future__ import annotations

from typing import Final

from agentkit_loop._result import TurnEnd
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Cancel, Close, Prepared
from agentkit_loop.kernel._phases._common import handlers_of_turn
from agentkit_loop.kernel._phases._handler import Handlers
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import call_model, end_turn, record_offer


def on_prepared(draft: Draft, answer: Prepared) -> Phase:
    """Record the tools that the model is offered, and call it."""
    draft.set_turn(effect_id=None, other_model=answer.model, other_options=answer.options)
    if answer.error is not None:
        return end_turn(draft, TurnEnd.ERROR, error=answer.error)
    if answer.stop:
        return end_turn(draft, TurnEnd.COMPLETED)
    record_offer(draft, answer.tools, answer.callable_tools)
    return call_model(draft)


def on_cancel(draft: Draft, command: Cancel | Close) -> Phase:
    """Give up the request, and end the turn."""
    draft.abort(draft.turn.effect_id)
    return end_turn(draft, TurnEnd.CANCELLED)


HANDLERS: Final[Handlers] = handlers_of_turn(on_cancel, {Prepared: on_prepared})
