"""The outcome of a call: a result for the transcript, and whether the turn should end."""

from __future__ import annotations

from typing import Any

from agentkit_core import JsonValue, TextOutput, ToolCallId, ToolFailure, ToolResult, Usage
from agentkit_core.settings import Settings


class ToolOutcome(Settings, frozen=True, omit_defaults=True):
    """The outcome of a finished call.

    Attributes:
        result: The result for the transcript, with the id of the call.
        stop: Whether the turn should end here, without calling the model again.
        stop_unless_failed: The same, but only if no call of the same answer of the model failed.
    """

    result: ToolResult
    stop: bool = False
    stop_unless_failed: bool = False


class ToolReturn(Settings, frozen=True, kw_only=True):
    """A return value with more than an output: details, an error, usage.

    Returning a plain value is the same as `ToolReturn(output=value)`.

    Attributes:
        output: The output for the model: any value that a function may return directly.
        details: Data for people and logs, never sent to a model; converted to JSON like `output`.
        stop: Whether the turn should end here, without calling the model again.
        stop_unless_failed: The same, but only if no call of the same answer of the model failed;
            otherwise the model reads the failures first.
        is_error: Whether the call failed and `output` says why.
        usage: The usage of all model calls that the tool made. If it is given, the usage of tools
            that this one called is not added. None if the tool reports none.
        added_tools: Names of hidden tools that the model may use from now on; often empty.
    """

    output: Any
    details: JsonValue = None
    stop: bool = False
    stop_unless_failed: bool = False
    is_error: bool = False
    usage: Usage | None = None
    added_tools: tuple[str, ...] = ()


def error_result(
    call_id: ToolCallId, text: str, failure: ToolFailure | None, *, started: bool = False
) -> ToolResult:
    """Make the result of a call that failed, or that never ran.

    Args:
        call_id: The id of the call.
        text: What went wrong, and what to do about it, for the model.
        failure: What went wrong, for programs; None if unknown.
        started: Whether the tool itself ran.
    """
    return ToolResult(
        call_id=call_id, output=TextOutput(text), is_error=True, failure=failure, started=started
    )
