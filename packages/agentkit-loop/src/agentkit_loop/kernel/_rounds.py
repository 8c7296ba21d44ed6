"""Rounds: the calls of one answer, from the answer to one tool item. Shared by the phases.

Results come in any order; the tool item has them in call order. A round is over when every
call has its result, and there is no other way out: cancelling gives the open calls theirs, and
a call that goes on in the background leaves a placeholder.
"""

from __future__ import annotations

import math
from typing import Any

from msgspec.structs import replace

from agentkit_core import (
    FinishReason,
    Item,
    StructuredOutput,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolResult,
    to_json,
)
from agentkit_loop._result import TurnEnd
from agentkit_loop.events import (
    MutationPoint,
    ToolCallRequested,
    ToolDetached,
    ToolExecutionStarted,
    ToolResultReceived,
)
from agentkit_loop.kernel import _background as background
from agentkit_loop.kernel._approvals import granted_to, start_tool, withdraw
from agentkit_loop.kernel._canned_results import (
    CUT_OFF,
    INTERRUPTED,
    NOT_STARTED,
    SKIPPED,
    STEERED,
    TOO_MANY,
    UNREADABLE,
    error_result,
)
from agentkit_loop.kernel._config import Execution
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import EffectId, Preflight, StartTimer, TimerKind
from agentkit_loop.kernel._state import CallState, CallStatus, Failing
from agentkit_loop.kernel._status import AfterRound
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import drive, end_turn

_UNSTARTED = (CallStatus.NEW, CallStatus.PREFLIGHT, CallStatus.ASKING, CallStatus.READY)


def with_own_ids(draft: Draft, item: Item) -> Item:
    """Give every call of an answer an id that no other call ever had.

    Providers do send empty ids and repeat them; such ids are replaced, the others stay.
    """
    if not item.tool_calls:
        return item
    used = set[ToolCallId]()
    parts = list(item.parts)
    for at, part in enumerate(parts):
        if isinstance(part, ToolCall):
            draft.calls += 1
            if not part.id or part.id in used or draft.is_call_known(part.id):
                parts[at] = part = replace(part, id=_free_id(draft, used))
            used.add(part.id)
    return replace(item, parts=tuple(parts))


def _free_id(draft: Draft, used: set[ToolCallId]) -> ToolCallId:
    number = draft.calls
    while (call_id := ToolCallId(f"call_{number}")) in used or draft.is_call_known(call_id):
        number += 1
    return call_id


def open_round(draft: Draft, item: Item) -> None:
    """Take up the calls of an answer that was appended; those that cannot run are answered."""
    calls = item.tool_calls
    before = draft.turn.tool_calls
    draft.set_turn(
        calls=tuple(CallState(call=call) for call in calls),
        tool_calls=before + len(calls),
        stop=False,
    )
    for call in calls:
        draft.emit(ToolCallRequested(call))
    # A provider may stop in the middle of a call and still send arguments that can be read: of
    # an answer that was cut, the last call is never what the model meant.
    cut = calls[-1].id if item.finish_reason is FinishReason.MAX_TOKENS else None
    most = draft.config.limits.max_tool_calls
    for number, (call, state) in enumerate(zip(calls, draft.turn.calls, strict=True), before + 1):
        if call.id == cut:
            text = CUT_OFF.format(name=call.name)
            settle(draft, error_result(state, text, ToolFailure.CUT_OFF))
        elif call.input_error is not None:
            text = UNREADABLE.format(name=call.name, error=call.input_error)
            settle(draft, error_result(state, text, ToolFailure.INVALID_INPUT))
        elif most is not None and number > most:
            text = TOO_MANY.format(name=call.name)
            settle(draft, error_result(state, text, ToolFailure.SKIPPED))


def pump(draft: Draft) -> Phase:
    """Take the round as far as it goes without help; every change of a call ends here."""
    sequential = draft.config.execution is Execution.SEQUENTIAL
    while True:
        window = [call for call in draft.turn.calls if call.result is None]
        if not window:
            return _close_round(draft)
        if sequential:
            window = window[:1]
        statuses = [call.status for call in window]
        if CallStatus.NEW in statuses:
            for call in window:
                if call.status is CallStatus.NEW:
                    _check(draft, call)
            return Phase.ROUND
        # No tool of a round begins before all of its calls are checked.
        if CallStatus.PREFLIGHT in statuses or CallStatus.READY not in statuses:
            return Phase.ROUND
        if not _start(draft, window):
            return Phase.ROUND
        # A call that went to the background at once has made room for another.


def _start(draft: Draft, window: list[CallState]) -> bool:
    """Start what may run now; whether one of them went to the background at once."""
    running = [call for call in draft.turn.calls if call.status is CallStatus.RUNNING]
    room = (draft.config.max_parallel or len(draft.turn.calls)) - len(running)
    alone = any(call.rules.exclusive for call in running)
    detached = False
    for call in window:
        if call.status is not CallStatus.READY:
            continue
        if alone or room <= 0 or (call.rules.exclusive and running):
            # Nothing overtakes a call that waits to be alone: it would wait for ever.
            break
        started = _run(draft, call)
        if call.rules.detach_after_s is not None and call.rules.detach_after_s <= 0:
            detach(draft, started)
            detached = True
            continue
        running.append(started)
        room -= 1
        alone = call.rules.exclusive
    return detached


def _check(draft: Draft, call: CallState) -> None:
    effect_id = draft.issue(
        lambda effect_id: Preflight(effect_id, call.call, granted_to(draft, call))
    )
    put_call(draft, replace(call, status=CallStatus.PREFLIGHT, effect_id=effect_id))


def _run(draft: Draft, call: CallState) -> CallState:
    first = not call.started
    call = start_tool(draft, call, detaches=call.rules.detach_after_s is not None)
    if first:
        draft.emit(ToolExecutionStarted(call.id, call.name, call.call.input))
    call = replace(
        call,
        timeout_id=_timer(draft, call, TimerKind.TIMEOUT, call.rules.timeout_s),
        # Time spent waiting for a person does not count: each run has its own.
        detach_id=_timer(draft, call, TimerKind.DETACH, call.rules.detach_after_s or None),
    )
    put_call(draft, call)
    return call


def _timer(draft: Draft, call: CallState, why: TimerKind, after_s: float | None) -> EffectId | None:
    if after_s is None:
        return None
    at = draft.clock + math.ceil(after_s * 1000)
    return draft.issue(lambda effect_id: StartTimer(effect_id, at, why, call.id))


def set_call(draft: Draft, call_id: ToolCallId, **changes: Any) -> CallState:
    """Change fields of a call of the round."""
    changed = replace(find_call(draft, call_id), **changes)
    put_call(draft, changed)
    return changed


def put_call(draft: Draft, changed: CallState) -> None:
    """Put a call of the round in the place of what it was."""
    calls = list(draft.turn.calls)
    for at, call in enumerate(calls):
        if call.id == changed.id:
            calls[at] = changed
    draft.set_turn(calls=tuple(calls))


def find_call(draft: Draft, call_id: ToolCallId) -> CallState:
    """Find a call of the round, which must be there."""
    for call in draft.turn.calls:
        if call.id == call_id:
            return call
    raise AssertionError(f"the round has no call {call_id!r}")


def settle_as(draft: Draft, call: CallState, result: ToolResult, *, stop: bool = False) -> None:
    """Give a call a result that came from outside, whatever call it says it answers."""
    if result.call_id != call.id:
        draft.diagnose(f"a result for {result.call_id!r} came as the answer to {call.id!r}")
        result = replace(result, call_id=call.id)
    settle(draft, result, stop=stop)


def settle(draft: Draft, result: ToolResult, *, stop: bool = False) -> None:
    """Give a call its result, the first and only one; what it waited for is given up."""
    call = find_call(draft, result.call_id)
    draft.abort(call.effect_id)
    draft.abort(call.timeout_id)
    draft.abort(call.detach_id)
    withdraw(draft, call)
    _close_call(draft, call, result)
    if result.usage is not None:
        draft.add_usage(result.usage)
    if stop:
        draft.set_turn(stop=True)
    draft.emit(ToolResultReceived(call.id, call.name, result))


def detach(draft: Draft, call: CallState) -> None:
    """Let a running call go on in the background; the model is told so in place of its result."""
    draft.abort(call.detach_id)
    rules = replace(call.rules, detach_after_s=None)
    draft.set_background(replace(call, detach_id=None, rules=rules))
    text = background.PLACEHOLDER.format(name=call.name)
    _close_call(draft, call, ToolResult(call_id=call.id, output=TextOutput(text)))
    draft.emit(ToolDetached(call.id, call.name))


def _close_call(draft: Draft, call: CallState, result: ToolResult) -> None:
    closed = replace(
        call,
        status=CallStatus.DONE,
        effect_id=None,
        timeout_id=None,
        detach_id=None,
        pending_approvals=(),
        result=result,
    )
    put_call(draft, closed)
    draft.add_tools(result.added_tools)


def skip_unstarted(draft: Draft) -> None:
    """Answer each call that does not run: the user has said something new."""
    for call in draft.turn.calls:
        if call.status not in _UNSTARTED:
            continue
        if call.started:
            text = STEERED.format(name=call.name)
            settle(draft, error_result(call, text, ToolFailure.INTERRUPTED, started=True))
        else:
            text = SKIPPED.format(name=call.name)
            settle(draft, error_result(call, text, ToolFailure.SKIPPED))


def interrupt_round(draft: Draft) -> None:
    """Give each open call a result that says that it was cancelled, and append them all."""
    for call in draft.turn.calls:
        if call.status is CallStatus.DONE:
            continue
        text = (INTERRUPTED if call.started else NOT_STARTED).format(name=call.name)
        settle(draft, error_result(call, text, ToolFailure.INTERRUPTED, started=call.started))
    _append_results(draft)


def _close_round(draft: Draft) -> Phase:
    stop = draft.turn.stop
    repeated = _repeats_itself(draft)
    _append_results(draft)
    if stop:
        # Whoever said so is not asked whether there is more to do.
        return end_turn(draft, TurnEnd.COMPLETED)
    if repeated:
        return end_turn(draft, TurnEnd.LIMIT, limit="max_identical_failures")
    if draft.config.yield_after_round:
        draft.give(AfterRound())
        return Phase.PAUSED
    return after_round(draft)


def after_round(draft: Draft) -> Phase:
    """Let notices and the host's steering in and ask the model again."""
    draft.append_steer()
    return drive(draft, MutationPoint.AFTER_ROUND)


def _append_results(draft: Draft) -> None:
    results = [call.result for call in draft.turn.calls if call.result is not None]
    draft.set_turn(calls=(), stop=False)
    draft.append(Item.tool(*results))


def _repeats_itself(draft: Draft) -> bool:
    """Count calls in a row that fail in the very same way; whether there are too many."""
    most = draft.config.max_identical_failures
    if most is None:
        return False
    failing = draft.turn.failing
    for call in draft.turn.calls:
        result = call.result
        if result is None or not result.is_error:
            failing = None
            continue
        told = _told(result)
        same = failing is not None and (failing.name, failing.input, failing.result) == (
            call.name, call.call.input, told,
        )  # fmt: skip
        times = failing.times + 1 if failing is not None and same else 1
        failing = Failing(call.name, call.call.input, told, times)
        if times >= most:
            break
    draft.set_turn(failing=failing)
    return failing is not None and failing.times >= most


def _told(result: ToolResult) -> str:
    match result.output:
        case TextOutput() | StructuredOutput():
            return result.text
        case output:
            return to_json(output).decode()
