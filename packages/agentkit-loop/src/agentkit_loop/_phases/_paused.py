"""Paused: a round is over, and the host has the word before the model is asked again."""

from __future__ import annotations

from typing import Final

from agentkit_loop._draft import Draft
from agentkit_loop._inputs import Cancel, Close, Continue
from agentkit_loop._phases._anywhere import Handlers, handlers
from agentkit_loop._rounds import after_round
from agentkit_loop._table import Phase
from agentkit_loop._turns import end_turn
from agentkit_loop.events import TurnEnd


def continued(draft: Draft, given: Continue) -> Phase:
    """Let the steering in and ask the model."""
    return after_round(draft)


def cancelled(draft: Draft, given: Cancel | Close) -> Phase:
    """End the turn."""
    return end_turn(draft, TurnEnd.CANCELLED)


HANDLERS: Final[Handlers] = handlers(cancelled, {Continue: continued})
