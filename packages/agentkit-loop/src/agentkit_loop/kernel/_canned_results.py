"""Results of calls that the loop answers itself, and what they tell the model."""

from __future__ import annotations

from typing import Final

from agentkit_core import TextOutput, ToolFailure, ToolResult
from agentkit_loop.kernel._call_state import CallState

CUT_OFF: Final = (
    "The arguments of this call were cut off by the output limit and nothing was executed. "
    "Call {name} again with complete arguments, in smaller pieces if they are long."
)
UNREADABLE: Final = (
    "The arguments of this call could not be read ({error}); they may have been cut off by the "
    "output limit. Nothing was executed. Call {name} again with complete arguments."
)
TOO_MANY: Final = (
    "{name} was not executed: no more tool calls are allowed in this turn. Answer with what is "
    "known so far."
)
INTERRUPTED: Final = "The run was cancelled while {name} was running; it may have had an effect."
NOT_STARTED: Final = "The run was cancelled before {name} was started; nothing was executed."
CANCELLED: Final = "{name} was cancelled; it may have had an effect."
CANCELLED_UNSTARTED: Final = "{name} was cancelled before it was started; nothing was executed."
SKIPPED: Final = "{name} was not executed: the user has said something new, which follows."
STEERED: Final = (
    "{name} was interrupted: the user has said something new, which follows. It may have had an "
    "effect."
)
DENIED: Final = "{name} was not executed: approval was denied."
TIMED_OUT: Final = "{name} was stopped after {seconds:g} s; it may have had an effect."
TOO_MANY_ASKS: Final = (
    "{name} was stopped: it has asked {times} times, and `LoopConfig.max_asks_per_call` allows no "
    "more. It may have had an effect."
)
TOO_LATE_TO_ASK: Final = (
    "{name} was stopped when it wanted to ask: the turn has lasted for the {seconds:g} s that "
    "`Limits.max_duration_s` allows. It may have had an effect."
)
UNKNOWN: Final = (
    "The outcome of {name} is unknown: the process that ran it was lost. It may have had an "
    "effect; find out before you call it again."
)
RUN_AGAIN: Final = "run {name} again, though it may have had its effect already"
"""What a person decides about a call that was lost."""


def error_result(
    call: CallState, text: str, failure: ToolFailure, *, started: bool = False
) -> ToolResult:
    """Make the result of a call that the loop answers itself, with what the call used so far."""
    return ToolResult(
        call_id=call.id,
        output=TextOutput(text),
        is_error=True,
        failure=failure,
        started=started,
        usage=call.spent if call.spent.requests else None,
    )
