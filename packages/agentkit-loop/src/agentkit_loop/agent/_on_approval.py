"""Asks a host's `on_approval` and turns whatever it does into a decision."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agentkit_core import ApprovalRequest
from agentkit_loop._log import logger
from agentkit_loop.kernel._status import ApprovalDecision
from agentkit_tools_core.sync import (
    NeedsEventLoop,
    await_if_needed,
    require_no_awaitable,
    run_at_once,
)

OnApproval = Callable[
    [ApprovalRequest], bool | ApprovalDecision | Awaitable[bool | ApprovalDecision]
]
"""Answers an approval request, on the thread of the run; an async one needs an event loop.

If it raises, or returns anything else, the call is denied; hooks see why in `on_error`."""


Report = Callable[[Exception, str], None]
"""Receives an exception of the host's code, and what raised it; see `ToolHook.on_error`."""


async def decide_approval(
    on_approval: OnApproval, report: Report, request: ApprovalRequest
) -> ApprovalDecision:
    """Ask the host about an approval; an `Exception` of the host denies it, and is reported."""
    try:
        answer = await await_if_needed(on_approval(request))
        if isinstance(answer, bool):
            return ApprovalDecision(approve=answer)
        if isinstance(answer, ApprovalDecision):
            return answer
        # The string "no" is true, and must not count as a yes.
        raise TypeError(
            f"on_approval returned {type(answer).__name__}; return True, False or an "
            f"ApprovalDecision"
        )
    except NeedsEventLoop:
        raise
    except Exception as error:
        report(error, "`on_approval`")
        return _deny_after(error, request)


def decide_approval_blocking(
    on_approval: OnApproval, report: Report, request: ApprovalRequest
) -> ApprovalDecision:
    """Ask the host about an approval, without an event loop.

    Raises:
        NeedsEventLoop: `on_approval` is async.
    """

    def ask(request: ApprovalRequest) -> Any:
        return require_no_awaitable(on_approval(request), "`on_approval`")

    return run_at_once(decide_approval(ask, report, request))


def _deny_after(error: Exception, request: ApprovalRequest) -> ApprovalDecision:
    """Deny a call because asking the host failed, and log why."""
    logger().error("on_approval failed for %s; the call is denied", request.id, exc_info=error)
    return ApprovalDecision(approve=False, reason=f"Approval could not be asked for: {error}")
