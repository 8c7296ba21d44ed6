"""Idle: no turn runs, and the host has the word."""

from __future__ import annotations

from typing import Final

from agentkit_core import Transcript
from agentkit_loop.kernel import _background as background
from agentkit_loop.kernel._approvals import yield_approvals
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Close, Continue, Reset, Submit, Unqueue
from agentkit_loop.kernel._phases._common import ANYWHERE, Handlers, shut, unqueued
from agentkit_loop.kernel._status import AwaitingInput
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import begin_turn, queue, wants_answer


def continued(draft: Draft, given: Continue) -> Phase:
    """Begin a turn, if there is anything to begin it with."""
    if draft.inputs or draft.notices or (given.redrive and wants_answer(draft.transcript)):
        return begin_turn(draft)
    if not yield_approvals(draft):
        draft.give(AwaitingInput())
    return Phase.IDLE


def submitted(draft: Draft, given: Submit) -> Phase:
    """Queue the host's input, and begin a turn with it if the host wants that."""
    queue(draft, given)
    return continued(draft, Continue()) if given.begin else Phase.IDLE


def reset(draft: Draft, given: Reset) -> Phase:
    """Forget the conversation."""
    background.terminate_all(draft)
    unqueued(draft, Unqueue())
    draft.notices = ()
    draft.grants = ()
    draft.added_tools = ()
    draft.once = None
    if len(draft.transcript):
        draft.rewrite(Transcript())
    return Phase.IDLE


def closed(draft: Draft, given: Close) -> Phase:
    """End the session."""
    return shut(draft)


HANDLERS: Final[Handlers] = {
    **ANYWHERE,
    Submit: submitted,
    Continue: continued,
    Reset: reset,
    Close: closed,
}
