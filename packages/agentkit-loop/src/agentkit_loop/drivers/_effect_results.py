"""Answers: what came of an effect, put in the kernel's words."""

from __future__ import annotations

from typing import Final

from agentkit_core import AgentkitError, FailureKind, ProviderFailure, ToolAnnotations, ToolFailure
from agentkit_core.provider import NormalizeError, ResponseFailed
from agentkit_loop.kernel._effects import Preflight, StartTool
from agentkit_loop.kernel._inputs import (
    Input,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    ToolAsked,
    ToolDone,
)
from agentkit_loop.kernel._tool_run import RunRules
from agentkit_tools_core import (
    Allowed,
    NeedsApproval,
    Refused,
    Suspension,
    ToolOutcome,
    error_result,
)

_PLAIN: Final = RunRules()


def verdict_on(
    effect: Preflight,
    verdict: Allowed | Refused | NeedsApproval,
    annotations: ToolAnnotations | None,
) -> Input:
    """Make the answer of a preflight.

    Args:
        effect: What was asked.
        verdict: What the executor says.
        annotations: What the tool says of itself; None where there is no such tool.
    """
    if isinstance(verdict, Refused):
        return PreflightRefused(effect.id, verdict.result, verdict.stop)
    rules = _PLAIN if annotations is None else _rules_of(annotations)
    if isinstance(verdict, Allowed):
        return PreflightAllowed(effect.id, rules, verdict.input)
    return PreflightAsked(effect.id, requests=verdict.requests, rules=rules, input=verdict.input)


def _rules_of(annotations: ToolAnnotations) -> RunRules:
    return RunRules(
        exclusive=annotations.exclusive,
        repeatable=annotations.read_only or annotations.idempotent,
        read_only=annotations.read_only,
        timeout_s=annotations.timeout_s,
        detach_after_s=annotations.detach_after_s,
    )


def came_of(effect: StartTool, outcome: ToolOutcome | Suspension) -> ToolDone | ToolAsked:
    """Make the answer of a tool that was run."""
    if isinstance(outcome, Suspension):
        return ToolAsked(
            effect.id,
            requests=outcome.requests,
            token=outcome.token,
            takes_denials=outcome.takes_denials,
        )
    return ToolDone(effect.id, outcome.result, outcome.stop)


def lost(effect: StartTool) -> ToolDone:
    """Make the answer of a tool that ended without one."""
    text = f"{effect.call.name} was cancelled from within; it may have had an effect."
    result = error_result(effect.call.id, text, ToolFailure.INTERRUPTED, started=True)
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
