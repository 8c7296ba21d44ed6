"""Rounds: the calls of one answer, from the answer to one tool item. Shared by the phases.

Results come in any order; the tool item has them in call order. A round is over when every
call has its result, and there is no other way out: cancelling gives the open calls theirs.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import (
    FinishReason,
    Item,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolResult,
)
from agentkit_loop._config import Execution
from agentkit_loop._draft import Draft
from agentkit_loop._effects import Preflight, StartTool
from agentkit_loop._state import CallState, CallStatus
from agentkit_loop._steps import AfterRound
from agentkit_loop._table import Phase
from agentkit_loop._turns import ask_model, end_turn
from agentkit_loop.events import (
    ApprovalOutcome,
    ApprovalResolved,
    ToolCallRequested,
    ToolExecutionStarted,
    ToolResultReceived,
    TurnEnd,
)

CUT_OFF: Final = (
    "The arguments of this call were cut off by the output limit and nothing was executed. "
    "Call {name} again with complete arguments, in smaller pieces if they are long."
)
UNREADABLE: Final = (
    "The arguments of this call could not be read ({error}); they may have been cut off by the "
    "output limit. Nothing was executed. Call {name} again with complete arguments."
)
INTERRUPTED: Final = "The run was cancelled while {name} was running; it may have had an effect."
NOT_STARTED: Final = "The run was cancelled before {name} was started; nothing was executed."
DENIED: Final = "{name} was not executed: approval was denied."


def error_result(
    call: CallState, text: str, failure: ToolFailure, *, started: bool = False
) -> ToolResult:
    """Make the result of a call that the loop answers itself."""
    return ToolResult(
        call_id=call.id,
        output=TextOutput(text),
        is_error=True,
        failure=failure,
        started=started,
    )


def with_own_ids(draft: Draft, item: Item) -> Item:
    """Give every call of an answer an id that no other call ever had.

    Providers do send empty ids and repeat them; such ids are replaced, the others stay.
    """
    if not item.tool_calls:
        return item
    used = set(draft.seen_calls)
    parts = list(item.parts)
    for at, part in enumerate(parts):
        if isinstance(part, ToolCall):
            if not part.id or part.id in used:
                parts[at] = part = replace(part, id=_free_id(used))
            used.add(part.id)
            draft.seen_calls += (part.id,)
    return replace(item, parts=tuple(parts))


def _free_id(used: set[ToolCallId]) -> ToolCallId:
    number = len(used) + 1
    while (call_id := ToolCallId(f"call_{number}")) in used:
        number += 1
    return call_id


def open_round(draft: Draft, item: Item) -> None:
    """Take up the calls of an answer that was appended; those that cannot run are answered."""
    draft.set_turn(
        calls=tuple(
            CallState(call.id, call.name, call.input, metadata=call.metadata)
            for call in item.tool_calls
        ),
        stop=False,
    )
    for call in item.tool_calls:
        draft.emit(ToolCallRequested(call))
    # A provider may stop in the middle of a call and still send arguments that can be read: of
    # an answer that was cut, the last call is never what the model meant.
    cut = item.tool_calls[-1].id if item.finish_reason is FinishReason.MAX_TOKENS else None
    for call, state in zip(item.tool_calls, draft.turn.calls, strict=True):
        if call.id == cut:
            text = CUT_OFF.format(name=call.name)
            settle(draft, error_result(state, text, ToolFailure.CUT_OFF))
        elif call.input_error is not None:
            text = UNREADABLE.format(name=call.name, error=call.input_error)
            settle(draft, error_result(state, text, ToolFailure.INVALID_INPUT))


def pump(draft: Draft) -> Phase:
    """Take the round as far as it goes without help; every change of a call ends here."""
    sequential = draft.config.execution is Execution.SEQUENTIAL
    window = [call for call in draft.turn.calls if call.status is not CallStatus.DONE]
    if not window:
        return _close_round(draft)
    if sequential:
        window = window[:1]
    for call in window:
        if call.status is CallStatus.NEW:
            _check(draft, call)
    calls = draft.turn.calls
    # No tool of a round begins before all of its calls are checked.
    if any(call.status is CallStatus.PREFLIGHT for call in calls):
        return Phase.ROUND
    running = sum(call.status is CallStatus.RUNNING for call in calls)
    room = (draft.config.max_parallel or len(calls)) - running
    for call in [call for call in window if call.status is CallStatus.READY][: max(room, 0)]:
        _run(draft, call)
    return Phase.ROUND


def _check(draft: Draft, call: CallState) -> None:
    effect_id = draft.issue(
        lambda effect_id: Preflight(
            effect_id, call.id, call.name, call.input, call.granted, call.metadata
        )
    )
    set_call(draft, call.id, status=CallStatus.PREFLIGHT, effect_id=effect_id)


def _run(draft: Draft, call: CallState) -> None:
    effect_id = draft.issue(
        lambda effect_id: StartTool(
            effect_id, call.id, call.name, call.input, call.granted, call.metadata
        )
    )
    set_call(draft, call.id, status=CallStatus.RUNNING, effect_id=effect_id)
    draft.emit(ToolExecutionStarted(call.id, call.name, call.input))


def set_call(draft: Draft, call_id: ToolCallId, **changes: Any) -> CallState:
    """Change fields of a call of the round."""
    changed = replace(_find(draft, call_id), **changes)
    draft.set_turn(
        calls=tuple(changed if call.id == call_id else call for call in draft.turn.calls)
    )
    return changed


def _find(draft: Draft, call_id: ToolCallId) -> CallState:
    return next(call for call in draft.turn.calls if call.id == call_id)


def settle(draft: Draft, result: ToolResult, *, stop: bool = False) -> None:
    """Give a call its result, the first and only one; what it waited for is given up."""
    call = _find(draft, result.call_id)
    draft.abort(call.effect_id)
    for ask in call.asks:
        draft.emit(ApprovalResolved(ask.id, call.id, ApprovalOutcome.WITHDRAWN))
    set_call(draft, call.id, status=CallStatus.DONE, effect_id=None, asks=(), result=result)
    turn = draft.turn
    usage = turn.usage if result.usage is None else turn.usage + result.usage
    draft.set_turn(stop=turn.stop or stop, usage=usage)
    draft.emit(ToolResultReceived(call.id, call.name, result))


def interrupt_round(draft: Draft) -> None:
    """Give each open call a result that says that it was cancelled, and append them all."""
    for call in draft.turn.calls:
        if call.status is CallStatus.DONE:
            continue
        started = call.status is CallStatus.RUNNING
        text = (INTERRUPTED if started else NOT_STARTED).format(name=call.name)
        settle(draft, error_result(call, text, ToolFailure.INTERRUPTED, started=started))
    _append_results(draft)


def _close_round(draft: Draft) -> Phase:
    stop = draft.turn.stop
    _append_results(draft)
    if stop:
        return end_turn(draft, TurnEnd.COMPLETED)
    if draft.config.yield_after_round:
        draft.give(AfterRound())
        return Phase.PAUSED
    return after_round(draft)


def after_round(draft: Draft) -> Phase:
    """Let the host's steering in and ask the model again."""
    draft.append_steer()
    return ask_model(draft)


def _append_results(draft: Draft) -> None:
    results = [call.result for call in draft.turn.calls if call.result is not None]
    draft.set_turn(calls=(), stop=False)
    draft.append(Item.tool(*results))
