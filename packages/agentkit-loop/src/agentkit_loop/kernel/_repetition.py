"""The repetition guard: ends a turn that makes the same call again and again, to the same end."""

from __future__ import annotations

from msgspec.structs import replace

from agentkit_core import StructuredOutput, TextOutput, ToolResult, to_json
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._state import RepeatedCall


def count_repetitions(draft: Draft) -> str | None:
    """Count the calls in a row that were the same and ended the same, up to the end of this round.

    Returns:
        The setting of `LoopConfig` that allows no more of them; None if none does.
    """
    latest = draft.turn.repeated
    for call in draft.round.calls:
        result = call.result
        if result is None:
            latest = None
            continue
        before, latest = (
            latest,
            RepeatedCall(
                name=call.name,
                input=call.call.input,
                result=_text_of(result),
                is_error=result.is_error,
            ),
        )
        if before is not None and replace(before, times=1) == latest:
            latest = replace(latest, times=before.times + 1)
        if (limit := _limit_reached(draft.config, latest)) is not None:
            draft.set_turn(repeated=latest)
            return limit
    draft.set_turn(repeated=latest)
    return None


def _limit_reached(config: LoopConfig, repeated: RepeatedCall) -> str | None:
    failures, calls = config.max_identical_failures, config.max_identical_calls
    if repeated.is_error and failures is not None and repeated.times >= failures:
        return "max_identical_failures"
    if calls is not None and repeated.times >= calls:
        return "max_identical_calls"
    return None


def _text_of(result: ToolResult) -> str:
    match result.output:
        case TextOutput() | StructuredOutput():
            return result.text
        case output:
            # Two different images have the same text: none.
            return to_json(output).decode()
