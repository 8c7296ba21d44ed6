"""The kernel inputs that answer effects, built from what the executor or the model returned."""

from __future__ import annotations

from typing import Final

from agentkit_core import AgentkitError, FailureKind, ProviderFailure, ToolAnnotations, ToolFailure
from agentkit_core.provider import NormalizeError, ResponseFailed
from agentkit_loop._log import logger
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

_DEFAULT_RULES: Final = RunRules()


def preflight_answer(
    effect: Preflight,
    verdict: Allowed | Refused | NeedsApproval,
    annotations: ToolAnnotations | None,
    revision: str | None,
) -> Input:
    """Build the answer to a preflight.

    Args:
        effect: The preflight.
        verdict: The executor's verdict.
        annotations: The tool's annotations; None if there is no such tool.
        revision: The tool's revision before the verdict; None if there is no such tool.
    """
    if isinstance(verdict, Refused):
        return PreflightRefused(effect.id, verdict.result, verdict.stop)
    rules = _DEFAULT_RULES if annotations is None else _run_rules(annotations)
    if isinstance(verdict, Allowed):
        return PreflightAllowed(effect.id, rules, verdict.input, revision)
    return PreflightAsked(
        effect.id,
        requests=verdict.requests,
        rules=rules,
        input=verdict.input,
        revision=revision,
    )


def _run_rules(annotations: ToolAnnotations) -> RunRules:
    return RunRules(
        exclusive=annotations.exclusive,
        repeatable=annotations.read_only or annotations.idempotent,
        read_only=annotations.read_only,
        timeout_s=annotations.timeout_s,
        detach_after_s=annotations.detach_after_s,
    )


def tool_answer(effect: StartTool, outcome: ToolOutcome | Suspension) -> ToolDone | ToolAsked:
    """Build the answer to a tool run."""
    if isinstance(outcome, Suspension):
        return ToolAsked(
            effect.id,
            requests=outcome.requests,
            token=outcome.token,
            takes_denials=outcome.takes_denials,
        )
    return ToolDone(effect.id, outcome.result, outcome.stop, outcome.stop_unless_failed)


def interrupted_answer(effect: StartTool) -> ToolDone:
    """Build the answer to a tool run that was interrupted and returned nothing."""
    text = f"{effect.call.name} was cancelled from within; it may have had an effect."
    result = error_result(effect.call.id, text, ToolFailure.INTERRUPTED, started=True)
    return ToolDone(effect.id, result)


def failed_response(error: Exception) -> ResponseFailed:
    """Build the end of a response from an exception of the model's iterator.

    Raises:
        AgentkitError: The host made a mistake, such as a missing key, so the turn must not go on
            as if the provider had failed. `NormalizeError`, for what the model cannot express,
            is a failure of the turn.
    """
    kind, message = FailureKind.PROTOCOL, f"{type(error).__name__}: {error}"
    if isinstance(error, NormalizeError):
        kind = FailureKind.INVALID_REQUEST
    elif isinstance(error, AgentkitError):
        raise error
    else:
        # A fault in the model's code: its author needs the traceback.
        logger().error("the model raised", exc_info=error)
        message = f"the model's code raised {message} (the log has the traceback)"
    return ResponseFailed(ProviderFailure(kind=kind, message=message, retryable=False))


def log_close_failure(error: Exception) -> None:
    """Log that a response could not be closed; the run goes on."""
    logger().warning("a response was not closed cleanly: %r", error)
