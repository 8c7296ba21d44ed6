"""Exceptions put in words for the model. The traceback is for the log alone."""

from __future__ import annotations

from msgspec.structs import replace

from agentkit_core import ToolFailure, ToolResult
from agentkit_core.json import without_lone_surrogates
from agentkit_tools_core._contract._outcome import error_result
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._errors import InvalidToolInput, ToolError, UnwritableOutput
from agentkit_tools_core._outputs._convert import json_value_of


def failed_result(request: ToolInvocation, error: BaseException, *, started: bool) -> ToolResult:
    """Make the result of a call that an exception ended.

    Args:
        request: The call.
        error: What was raised.
        started: Whether the tool itself ran.
    """
    if isinstance(error, InvalidToolInput) and not started:
        # It says all there is to say, and it is the model's mistake rather than the tool's.
        return error_result(request.call_id, error.message, ToolFailure.INVALID_INPUT)
    _log(request.name, error)
    if isinstance(error, ToolError):
        result = error_result(request.call_id, _words(error), error.failure, started=started)
        try:
            return replace(result, details=json_value_of(error.result_details, tool=request.name))
        except UnwritableOutput:
            return result
    failure = ToolFailure.EXECUTION_FAILED
    if isinstance(error, TimeoutError):
        failure = ToolFailure.TIMED_OUT
    return error_result(request.call_id, _described(error), failure, started=started)


def _log(tool: str, error: BaseException) -> None:
    import logging  # takes long to load, and a tool that works needs none

    logging.getLogger("agentkit_tools_core").debug("tool %r failed", tool, exc_info=error)


def _described(error: BaseException) -> str:
    # A group's own message counts its members; what went wrong is what they say.
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(map(_described, error.exceptions))
    words = _words(error)
    name = type(error).__name__
    return f"{name}: {words}" if words else name


def _words(error: BaseException) -> str:
    try:
        return without_lone_surrogates(str(error))
    except Exception:
        return ""
