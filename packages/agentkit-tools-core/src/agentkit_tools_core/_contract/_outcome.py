"""What comes of a call: a result for the transcript, and a word to the loop beside it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from agentkit_core import JsonValue, TextOutput, ToolCallId, ToolFailure, ToolResult, Usage


class ToolOutcome(Struct, frozen=True, omit_defaults=True):
    """A call that is over."""

    result: ToolResult
    """For the transcript; its `call_id` is that of the request."""
    stop: bool = False
    """Whether the turn should end here, without another word of the model."""


class ToolReturn(Struct, frozen=True, kw_only=True):
    """What a function returns that has more to say than a value.

    Returning a plain value is the same as `ToolReturn(output=value)`.
    """

    output: Any
    """For the model: any value that a function may return by itself."""
    details: JsonValue = None
    """For people and logs; never sent to a model. Written as JSON like `output`."""
    stop: bool = False
    """Whether the turn should end here, without another word of the model."""
    is_error: bool = False
    """Whether `output` says what went wrong."""
    usage: Usage | None = None
    """Model calls that the tool made by itself; with it, all of them: nothing is added to it for
    the tools that this one called."""
    added_tools: tuple[str, ...] = ()
    """Names of tools that the model may use from here on."""


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
