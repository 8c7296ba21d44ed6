"""Idle: no turn runs, and the host has control."""

from __future__ import annotations

from typing import Final

from agentkit_core import Transcript
from agentkit_loop.kernel import _background as background
from agentkit_loop.kernel._approvals import yield_approvals
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Close, Continue, Reset, Submit
from agentkit_loop.kernel._phases._common import COMMON, close_session
from agentkit_loop.kernel._phases._handler import Handlers
from agentkit_loop.kernel._queues import enqueue, withdraw_input
from agentkit_loop.kernel._status import AwaitingInput
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import begin_turn, wants_answer


def on_continue(draft: Draft, command: Continue) -> Phase:
    """Begin a turn, if there is anything to begin it with."""
    if command.redrive:
        draft.follow_ups = 0  # the host wants it to go on
    if draft.inputs or draft.notices or (command.redrive and wants_answer(draft.transcript)):
        return begin_turn(draft)
    if not yield_approvals(draft):
        draft.yield_status(AwaitingInput())
    return Phase.IDLE


def on_submit(draft: Draft, command: Submit) -> Phase:
    """Queue the host's input, and begin a turn with it if the host says so."""
    enqueue(draft, command)
    return on_continue(draft, Continue()) if command.begin else Phase.IDLE


def on_reset(draft: Draft, command: Reset) -> Phase:
    """Forget the conversation."""
    background.end_all_calls(draft)
    withdraw_input(draft, None)
    draft.notices = ()
    draft.grants = ()
    draft.kind_grants = ()
    draft.added_tools = ()
    draft.once = None
    if len(draft.transcript):
        draft.rewrite(Transcript())
    return Phase.IDLE


def on_close(draft: Draft, command: Close) -> Phase:
    """End the session."""
    return close_session(draft)


HANDLERS: Final[Handlers] = {
    **COMMON,
    Submit: on_submit,
    Continue: on_continue,
    Reset: on_reset,
    Close: on_close,
}
