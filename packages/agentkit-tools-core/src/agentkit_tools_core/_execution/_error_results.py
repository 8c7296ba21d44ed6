"""Makes error results of exceptions, with a text for the model. Tracebacks go to the log only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from agentkit_core import ToolFailure, ToolResult, ToolSpec
from agentkit_core.json import without_lone_surrogates
from agentkit_tools_core._contract._outcome import ToolOutcome, error_result
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._errors import InvalidToolInput, ToolError, UnwritableOutput
from agentkit_tools_core._log import logger
from agentkit_tools_core._outputs._convert import json_value_of
from agentkit_tools_core.sync import NeedsEventLoop

_MAX_NAMES: Final = 50


def failed_result(request: ToolInvocation, error: BaseException, *, started: bool) -> ToolResult:
    """Make the result of a call that an exception ended.

    Args:
        request: The call.
        error: What was raised.
        started: Whether the tool itself ran.

    Raises:
        NeedsEventLoop: The exception is one: that is a mistake of the host, who has to be told.
    """
    if isinstance(error, NeedsEventLoop):
        raise error
    if isinstance(error, InvalidToolInput) and not started:
        # The mistake is the model's, so the message is enough and nothing is logged.
        return error_result(request.call_id, error.message, ToolFailure.INVALID_INPUT)
    _log(request.name, error)
    if isinstance(error, ToolError):
        result = error_result(request.call_id, _message_of(error), error.failure, started=started)
        try:
            return replace(result, details=json_value_of(error.result_details, tool=request.name))
        except UnwritableOutput:
            return result
    failure = ToolFailure.EXECUTION_FAILED
    if isinstance(error, TimeoutError):
        failure = ToolFailure.TIMED_OUT
    return error_result(request.call_id, _describe(error), failure, started=started)


def not_found_result(request: ToolInvocation, specs: Sequence[ToolSpec]) -> ToolResult:
    """Make the result of a call of a tool that does not exist.

    Args:
        request: The call.
        specs: The tools that there are.
    """
    names = [spec.name for spec in specs]
    listed = ", ".join(names[:_MAX_NAMES])
    if len(names) > _MAX_NAMES:
        listed += f" and {len(names) - _MAX_NAMES} more"
    available = f"The available tools are: {listed}." if listed else "There are no tools."
    text = f"There is no tool named {request.name!r}. {available}"
    return error_result(request.call_id, without_lone_surrogates(text), ToolFailure.NOT_FOUND)


def too_deep_outcome(request: ToolInvocation, most: int) -> ToolOutcome:
    """Make the outcome of a call that was made by too many calls within each other."""
    text = f"{request.name!r} was not run: tools call each other more than {most} levels deep"
    return ToolOutcome(error_result(request.call_id, text, ToolFailure.EXECUTION_FAILED))


def replaced_outcome(request: ToolInvocation) -> ToolOutcome:
    """Make the outcome of a call whose tool is not the one any more that it was checked for."""
    text = (
        f"{request.name} was not executed: the tool was changed after this call had been checked. "
        f"Call it again if it is still needed."
    )
    return ToolOutcome(error_result(request.call_id, text, ToolFailure.PERMISSION_DENIED))


def needs_event_loop(name: str) -> NeedsEventLoop:
    """Make the error for an async tool that is called without an event loop."""
    return NeedsEventLoop(
        f"the tool {name!r} is asynchronous, but there is no event loop; use `Agent.run` or "
        f"`Agent.session`, make it a plain function, or make an agent's tool with `blocking=True`"
    )


def _log(tool: str, error: BaseException) -> None:
    logger().debug("tool %r failed", tool, exc_info=error)


def _describe(error: BaseException) -> str:
    # The message of a group only counts its members; theirs say what went wrong.
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(map(_describe, error.exceptions))
    message = _message_of(error)
    name = type(error).__name__
    return f"{name}: {message}" if message else name


def _message_of(error: BaseException) -> str:
    try:
        return without_lone_surrogates(str(error))
    except Exception:
        return ""
