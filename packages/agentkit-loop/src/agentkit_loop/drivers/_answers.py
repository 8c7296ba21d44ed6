"""Answers: what came of an effect, put in the kernel's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from agentkit_core import (
    AgentkitError,
    FailureKind,
    NormalizeError,
    ProviderFailure,
    ResponseFailed,
    ToolFailure,
)
from agentkit_loop._effects import Preflight, StartTool
from agentkit_loop._inputs import (
    Input,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    ToolDone,
)
from agentkit_loop._steps import ApprovalAsk
from agentkit_tools_core import Allowed, NeedsApproval, Refused, ToolOutcome, error_result


def verdict_on(effect: Preflight, verdict: Allowed | Refused | NeedsApproval) -> Input:
    """Make the answer of a preflight."""
    return _OF_VERDICT[type(verdict)](effect, verdict)


def tool_done(effect: StartTool, outcome: ToolOutcome) -> ToolDone:
    """Make the answer of a tool that was run."""
    return ToolDone(effect.id, outcome.result, outcome.stop)


def lost(effect: StartTool) -> ToolDone:
    """Make the answer of a tool that ended without one."""
    text = f"{effect.name} was cancelled from within; it may have had an effect."
    result = error_result(effect.call_id, text, ToolFailure.INTERRUPTED, started=True)
    return ToolDone(effect.id, result)


def failed_call(error: Exception) -> ResponseFailed:
    """Make the end of an answer of a model call that raised.

    Raises:
        AgentkitError: It is the host's own mistake, such as a missing key, and no failure of
            the turn. What the model cannot express is one.
    """
    kind = FailureKind.PROTOCOL
    if isinstance(error, NormalizeError):
        kind = FailureKind.INVALID_REQUEST
    elif isinstance(error, AgentkitError):
        raise error
    else:
        # A fault of whoever wrote the model, who needs to know where it is.
        import logging  # takes long to load, and a run without a fault needs none

        logging.getLogger("agentkit_loop").error("the model raised", exc_info=error)
    return ResponseFailed(
        ProviderFailure(kind=kind, message=f"{type(error).__name__}: {error}", retryable=False)
    )


def log_unclosed(error: Exception) -> None:
    """Note that a response could not be closed; the run goes on."""
    import logging  # takes long to load, and a run without a fault needs none

    logging.getLogger("agentkit_loop").warning("a response was not closed cleanly: %r", error)


def _allowed(effect: Preflight, verdict: Allowed) -> PreflightAllowed:
    return PreflightAllowed(effect.id)


def _refused(effect: Preflight, verdict: Refused) -> PreflightRefused:
    return PreflightRefused(effect.id, verdict.result)


def _asked(effect: Preflight, verdict: NeedsApproval) -> PreflightAsked:
    asks = tuple(
        ApprovalAsk(
            one.id,
            effect.call_id,
            effect.name,
            effect.input,
            one.kind,
            one.summary,
            one.reason,
            one.metadata,
        )
        for one in verdict.requests
    )
    return PreflightAsked(effect.id, asks)


_OF_VERDICT: Final[Mapping[type[Any], Callable[[Preflight, Any], Input]]] = {
    Allowed: _allowed,
    Refused: _refused,
    NeedsApproval: _asked,
}
