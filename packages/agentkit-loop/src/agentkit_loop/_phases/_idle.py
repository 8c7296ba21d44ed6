"""Idle: no turn runs, and the host has the word."""

from __future__ import annotations

from typing import Final

from agentkit_loop._draft import Draft
from agentkit_loop._inputs import Close, Continue, Submit
from agentkit_loop._phases._busy import Handlers, shut, submitted
from agentkit_loop._steps import AwaitingInput
from agentkit_loop._table import Phase
from agentkit_loop._turns import begin_turn, wants_answer


def continued(draft: Draft, given: Continue) -> Phase:
    """Begin a turn, if there is anything to begin it with."""
    if draft.inputs or (given.redrive and wants_answer(draft.transcript)):
        return begin_turn(draft)
    draft.give(AwaitingInput())
    return Phase.IDLE


def closed(draft: Draft, given: Close) -> Phase:
    """End the session."""
    return shut(draft)


HANDLERS: Final[Handlers] = {Submit: submitted, Continue: continued, Close: closed}
