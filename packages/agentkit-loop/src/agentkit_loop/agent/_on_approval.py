"""Approving: what a host's `on_approval` says of an ask, whatever it does instead of saying it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agentkit_core import ApprovalRequest
from agentkit_loop._sync import settled
from agentkit_loop.kernel._status import ApprovalDecision

OnApproval = Callable[
    [ApprovalRequest], bool | ApprovalDecision | Awaitable[bool | ApprovalDecision]
]
"""Answers an ask, on the thread of the run; an async one needs an event loop. If it raises, or
answers anything else, the call is denied."""


async def decision_on(on_approval: OnApproval, ask: ApprovalRequest) -> ApprovalDecision:
    """Ask the host about an ask; never raises but for what is no `Exception`."""
    try:
        answer = await settled(on_approval(ask))
        if isinstance(answer, bool):
            return ApprovalDecision(approve=answer)
        if isinstance(answer, ApprovalDecision):
            return answer
        # "no" must not pass for a yes.
        raise TypeError(f"it answers yes or no, not with {type(answer).__name__}")
    except Exception as error:
        return denied_for(error, ask)


def denied_for(error: Exception, ask: ApprovalRequest) -> ApprovalDecision:
    """Deny a call because the host could not be asked: whoever guards must not fail open."""
    import logging  # takes long to load, and a run without a fault needs none

    logging.getLogger("agentkit_loop").error(
        "on_approval failed for %s; the call is denied", ask.id, exc_info=error
    )
    return ApprovalDecision(approve=False, reason=f"Approval could not be asked for: {error}")
