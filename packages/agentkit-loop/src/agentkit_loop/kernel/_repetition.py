"""The repetition guard: ends a turn whose calls keep failing in the same way."""

from __future__ import annotations

from msgspec.structs import replace

from agentkit_core import StructuredOutput, TextOutput, ToolResult, to_json
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._state import RepeatedFailure


def count_failures(draft: Draft) -> bool:
    """Count the calls in a row that failed in the same way, up to the end of this round.

    Returns:
        Whether there are as many as `LoopConfig.max_identical_failures` allows.
    """
    most = draft.config.max_identical_failures
    if most is None:
        return False
    failing = draft.turn.failing
    for call in draft.turn.calls:
        result = call.result
        if result is None or not result.is_error:
            failing = None
            continue
        latest = RepeatedFailure(name=call.name, input=call.call.input, result=_error_text(result))
        if failing is not None and replace(failing, times=1) == latest:
            latest = replace(latest, times=failing.times + 1)
        failing = latest
        if failing.times >= most:
            break
    draft.set_turn(failing=failing)
    return failing is not None and failing.times >= most


def _error_text(result: ToolResult) -> str:
    match result.output:
        case TextOutput() | StructuredOutput():
            return result.text
        case output:
            # Two different images have the same text: none.
            return to_json(output).decode()
