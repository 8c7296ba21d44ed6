"""Finds approval requests of a state, without a look at all calls for each.

Only for the thread that steps the session: what is found in a state holds until its next step.
"""

from __future__ import annotations

from agentkit_core import ApprovalId, ApprovalRequest, ToolCallId
from agentkit_loop.kernel._round_draft import look_at
from agentkit_loop.kernel._state import State


def find_approval(
    state: State, approval_id: ApprovalId, call_id: ToolCallId | None = None
) -> ApprovalRequest | None:
    """Return an approval request that nobody has answered; None if no call waits for it.

    Args:
        state: The present state.
        approval_id: The id of the request.
        call_id: Which call, if several wait for the same; None means the first.
    """
    for call in state.background.values():
        for request in call.pending_approvals:
            if request.id == approval_id and call_id in (None, call.id):
                return request
    turn = state.turn
    return None if turn is None else look_at(turn.calls).find_request(approval_id, call_id)


def is_open(state: State, request: ApprovalRequest) -> bool:
    """Whether nobody has answered this request yet."""
    return find_approval(state, request.id, request.call.id) == request


def next_approval(state: State) -> ApprovalRequest | None:
    """Return the first of `State.pending_approvals`; None if there are none."""
    for call in state.background.values():
        if call.pending_approvals:
            return call.pending_approvals[0]
    requests = None if state.turn is None else look_at(state.turn.calls).requests
    return next(iter(requests.listed()), None) if requests else None
