"""What comes of a call: a result for the transcript, and a word to the loop beside it."""

from __future__ import annotations

from typing import Any

from agentkit_core import JsonValue, TextOutput, ToolCallId, ToolFailure, ToolResult, Usage
from agentkit_core.values import Record


class ToolOutcome(Record, frozen=True, omit_defaults=True):
    """A call that is over.

    Attributes:
        result: For the transcript; its `call_id` is that of the request.
        stop: Whether the turn should end here, without another word of the model.
    """

    result: ToolResult
    stop: bool = False


class ToolReturn(Record, frozen=True, kw_only=True):
    """What a function returns that has more to say than a value.

    Returning a plain value is the same as `ToolReturn(output=value)`.

    Attributes:
        output: For the model: any value that a function may return by itself.
        details: For people and logs; never sent to a model. Written as JSON like `output`.
        stop: Whether the turn should end here, without another word of the model.
        is_error: Whether `output` says what went wrong.
        usage: Model calls that the tool made by itself; with it, all of them: nothing is added to
            it for the tools that this one called.
        added_tools: Names of tools that the model may use from here on.
    """

    output: Any
    details: JsonValue = None
    stop: bool = False
    is_error: bool = False
    usage: Usage | None = None
    added_tools: tuple[str, ...] = ()


def error_result(
    call_id: ToolCallId, text: str, failure: ToolFailure | None, *, started: bool = False
) -> ToolResult:
    """Make the result of a call that failed, or that was never run.

    Args:
        call_id: The call that is answered.
        text: For the model: what went wrong, and what it can do about it.
        failure: The same for programs, as far as it is known.
        started: Whether the tool itself ran at all.
    """
    return ToolResult(
        call_id=call_id, output=TextOutput(text), is_error=True, failure=failure, started=started
    )
