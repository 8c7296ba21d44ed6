"""Paused: a round is over, and the host has control before the model is called again."""

from __future__ import annotations

from typing import Final

from agentkit_loop._result import TurnEnd
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Cancel, Close, Continue
from agentkit_loop.kernel._phases._common import handlers_of_turn
from agentkit_loop.kernel._phases._handler import Handlers
from agentkit_loop.kernel._rounds import after_round
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import end_turn


def on_continue(draft: Draft, command: Continue) -> Phase:
    """Append the steering and call the model."""
    return after_round(draft)


def on_cancel(draft: Draft, command: Cancel | Close) -> Phase:
    """End the turn."""
    return end_turn(draft, TurnEnd.CANCELLED)


HANDLERS: Final[Handlers] = handlers_of_turn(on_cancel, {Continue: on_continue})
