"""Paused: a round is over, and the host has the word before the model is asked again."""

from __future__ import annotations

from typing import Final

from agentkit_loop._result import TurnEnd
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Cancel, Close, Continue
from agentkit_loop.kernel._phases._common import Handlers, handlers
from agentkit_loop.kernel._rounds import after_round
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import end_turn


def continued(draft: Draft, given: Continue) -> Phase:
    """Let the steering in and ask the model."""
    return after_round(draft)


def cancelled(draft: Draft, given: Cancel | Close) -> Phase:
    """End the turn."""
    return end_turn(draft, TurnEnd.CANCELLED)


HANDLERS: Final[Handlers] = handlers(cancelled, {Continue: continued})
