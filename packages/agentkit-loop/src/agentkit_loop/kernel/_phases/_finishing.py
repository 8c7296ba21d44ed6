"""Finishing: the model has nothing more to do, and hooks are asked whether the turn may end."""

from __future__ import annotations

from typing import Final

from agentkit_loop._result import TurnEnd
from agentkit_loop.events import MutationPoint
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Cancel, Close, FinishChecked
from agentkit_loop.kernel._phases._common import Handlers, handlers
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import append_said, drive, end_turn, has_more


def checked(draft: Draft, given: FinishChecked) -> Phase:
    """End the turn, or go on with what the hooks have to say.

    Steering and notices that came meanwhile would be lost to this turn; they go first.
    """
    draft.set_turn(effect_id=None)
    if not given.items and not has_more(draft):
        return end_turn(draft, TurnEnd.COMPLETED)
    draft.append_steer()
    append_said(draft, given.items)
    return drive(draft, MutationPoint.CONTINUE)


def cancelled(draft: Draft, given: Cancel | Close) -> Phase:
    """Ask nobody any more, and end the turn; the answer stays."""
    draft.abort(draft.turn.effect_id)
    return end_turn(draft, TurnEnd.CANCELLED)


HANDLERS: Final[Handlers] = handlers(cancelled, {FinishChecked: checked})
