"""Finishing: the model has nothing more to do, and hooks decide whether the turn ends."""

from __future__ import annotations

from typing import Final

from agentkit_loop._result import TurnEnd
from agentkit_loop.events import MutationPoint
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Cancel, Close, FinishChecked
from agentkit_loop.kernel._phases._common import handlers_of_turn
from agentkit_loop.kernel._phases._handler import Handlers
from agentkit_loop.kernel._queues import append_hook_items
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import end_turn, has_more_input, next_model_call


def on_finish_checked(draft: Draft, answer: FinishChecked) -> Phase:
    """End the turn, or continue with what the hooks tell the model; a failed check is an error.

    Steering and notices that came meanwhile go first; otherwise this turn would lose them.
    """
    draft.set_turn(effect_id=None)
    if answer.error is not None:
        return end_turn(draft, TurnEnd.ERROR, error=answer.error)
    if not answer.items and not has_more_input(draft):
        return end_turn(draft, TurnEnd.COMPLETED)
    draft.append_steer()
    append_hook_items(draft, answer.items)
    return next_model_call(draft, MutationPoint.CONTINUE)


def on_cancel(draft: Draft, command: Cancel | Close) -> Phase:
    """Stop the hooks, and end the turn; the answer stays."""
    draft.abort(draft.turn.effect_id)
    return end_turn(draft, TurnEnd.CANCELLED)


HANDLERS: Final[Handlers] = handlers_of_turn(on_cancel, {FinishChecked: on_finish_checked})
