"""Rounds: the tool calls of one answer, from the answer to one tool item.

Results come in any order; the tool item has them in call order. A round is over when every call has
its result, and there is no other way out: cancelling gives the open calls theirs, and a call that
goes on in the background leaves a placeholder.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentkit_core import (
    FinishReason,
    Item,
    ItemKind,
    TextOutput,
    ToolCallId,
    ToolFailure,
    ToolResult,
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
from agentkit_loop.kernel._approvals import (
    approvals_of,
    start_timer,
    start_tool,
    withdraw_approvals,
)
from agentkit_loop.kernel._call_state import CallState, CallStatus
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
from agentkit_loop.kernel._effects import Preflight, TimerKind
from agentkit_loop.kernel._limits import most_tool_calls
from agentkit_loop.kernel._repetition import count_repetitions
from agentkit_loop.kernel._status import AfterRound
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import end_turn, next_model_call

_NOT_RUNNING = (CallStatus.NEW, CallStatus.PREFLIGHT, CallStatus.ASKING, CallStatus.READY)


def open_round(draft: Draft, item: Item) -> None:
    """Open a round for the calls of an answer; calls that cannot run get their result at once."""
    calls = item.tool_calls
    before = draft.turn.tool_calls
    draft.set_turn(tool_calls=before + len(calls), stop=False, stop_unless_failed=False)
    draft.begin_round([CallState(call=call) for call in calls])
    for call in calls:
        draft.emit(ToolCallRequested(call))
    # A provider may stop in the middle of a call and still send arguments that can be read. The
    # last call of an answer that was cut off is never what the model meant.
    cut_off = calls[-1].id if item.finish_reason is FinishReason.MAX_TOKENS else None
    config = draft.config
    most, _ = most_tool_calls(config.limits, config.session_limits, draft.spent)
    states = draft.round.calls
    for number, (call, state) in enumerate(zip(calls, states, strict=True), before + 1):
        if call.id == cut_off:
            text = CUT_OFF.format(name=call.name)
            set_result(draft, error_result(state, text, ToolFailure.CUT_OFF))
        elif call.input_error is not None:
            text = UNREADABLE.format(name=call.name, error=call.input_error)
            set_result(draft, error_result(state, text, ToolFailure.INVALID_INPUT))
        elif most is not None and number > most:
            text = TOO_MANY.format(name=call.name)
            set_result(draft, error_result(state, text, ToolFailure.SKIPPED))


def advance_round(draft: Draft) -> Phase:
    """Check and start every call that can be; every change of a call ends with this.

    Returns:
        The phase: `round` as long as calls are open, else the one that follows.
    """
    calls = draft.round
    if draft.config.execution is Execution.SEQUENTIAL:
        return _advance_first(draft)
    while calls.done < len(calls):
        if calls.new:
            for call in calls.take_new():
                _start_preflight(draft, call)
        # No tool of a round starts before all of its calls are checked.
        if calls.checking or not calls.ready or not _start_ready(draft):
            return Phase.ROUND
        # A call that went to the background at once has made room for another one.
    return _close_round(draft)


def _advance_first(draft: Draft) -> Phase:
    """Check and start the first call that is open: one runs after another."""
    for call in draft.round.open_calls():
        if call.status is CallStatus.NEW:
            _start_preflight(draft, call)
        is_next = call.status is CallStatus.READY and _has_room(draft, call)
        if not is_next or not _start(draft, call):
            return Phase.ROUND
        # It went to the background at once.
    return _close_round(draft)


def _start_ready(draft: Draft) -> bool:
    """Start the calls that may run now; return whether one went to the background at once."""
    detached = False
    while (call := draft.round.next_ready()) is not None and _has_room(draft, call):
        # Nothing overtakes a call that waits to run alone: it would wait forever.
        detached |= _start(draft, call)
    return detached


def _has_room(draft: Draft, call: CallState) -> bool:
    """Whether a call may run beside those that run now."""
    calls = draft.round
    most = draft.config.max_parallel
    if calls.exclusive or (calls.running and call.rules.exclusive):
        return False
    return most is None or calls.running < most


def _start_preflight(draft: Draft, call: CallState) -> None:
    effect_id = draft.issue(
        lambda effect_id: Preflight(effect_id, call.call, approvals_of(draft, call))
    )
    put_call(draft, replace(call, status=CallStatus.PREFLIGHT, effect_id=effect_id))


def _start(draft: Draft, call: CallState) -> bool:
    """Start a call; return whether it went to the background at once."""
    is_first_run = not call.started
    call = start_tool(draft, call, detaches=call.rules.detach_after_s is not None)
    if is_first_run:
        draft.emit(ToolExecutionStarted(call.id, call.name, call.call.input))
    call = replace(
        call,
        timeout_id=start_timer(draft, call, TimerKind.TIMEOUT, call.rules.timeout_s),
        # Time spent waiting for a person does not count: each run has a time of its own.
        detach_id=start_timer(draft, call, TimerKind.DETACH, call.rules.detach_after_s or None),
    )
    put_call(draft, call)
    if call.rules.detach_after_s is None or call.rules.detach_after_s > 0:
        return False
    detach(draft, call)
    return True


def set_call(draft: Draft, call_id: ToolCallId, **changes: Any) -> CallState:
    """Change fields of a call of the round."""
    changed = replace(find_call(draft, call_id), **changes)
    put_call(draft, changed)
    return changed


def put_call(draft: Draft, changed: CallState) -> None:
    """Replace a call of the round by its next state."""
    draft.round.put(changed)


def find_call(draft: Draft, call_id: ToolCallId) -> CallState:
    """Return a call of the round, which must be there."""
    call = draft.round.find(call_id)
    if call is None:
        raise AssertionError(f"the round has no call {call_id!r}")
    return call


def set_outside_result(
    draft: Draft, call: CallState, result: ToolResult, *, stop: bool = False
) -> None:
    """Give a call a result that came from outside, even if it names another call."""
    if result.call_id != call.id:
        draft.diagnose(f"a result for call {result.call_id!r} came as the answer to {call.id!r}")
        result = replace(result, call_id=call.id)
    set_result(draft, result, stop=stop)


def set_result(draft: Draft, result: ToolResult, *, stop: bool = False) -> None:
    """Give a call of the round its one result, and abort the effects that it waited for.

    Args:
        draft: The step.
        result: The result; its `call_id` says which call.
        stop: Whether the turn ends after this round.
    """
    call = find_call(draft, result.call_id)
    draft.abort(call.effect_id)
    draft.abort(call.timeout_id)
    draft.abort(call.detach_id)
    withdraw_approvals(draft, call)
    _close_call(draft, call, result)
    if result.usage is not None:
        draft.add_usage(result.usage)
    if stop:
        draft.set_turn(stop=True)
    draft.emit(ToolResultReceived(call_id=call.id, name=call.name, result=result))


def detach(draft: Draft, call: CallState) -> None:
    """Let a running call go on in the background; the model gets a placeholder as its result."""
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
    """Give each call that does not run a result: the user has said something new."""
    calls = draft.round
    if calls.running + calls.done == len(calls):
        return
    for call in calls.calls:
        if call.status not in _NOT_RUNNING:
            continue
        if call.started:
            text = STEERED.format(name=call.name)
            set_result(draft, error_result(call, text, ToolFailure.INTERRUPTED, started=True))
        else:
            text = SKIPPED.format(name=call.name)
            set_result(draft, error_result(call, text, ToolFailure.SKIPPED))


def interrupt_round(draft: Draft) -> None:
    """Give each open call a result that says that it was cancelled, and append all results."""
    for call in draft.round.calls:
        if call.status is CallStatus.DONE:
            continue
        text = (INTERRUPTED if call.started else NOT_STARTED).format(name=call.name)
        set_result(draft, error_result(call, text, ToolFailure.INTERRUPTED, started=call.started))
    _append_results(draft)


def _close_round(draft: Draft) -> Phase:
    turn = draft.turn
    calls = draft.round.calls
    failed = any(call.result is not None and call.result.is_error for call in calls)
    stop = turn.stop or (turn.stop_unless_failed and not failed)
    limit = count_repetitions(draft)
    _append_results(draft)
    if stop:
        # Hooks are not asked: a tool, a hook or a person said that the turn ends.
        return end_turn(draft, TurnEnd.COMPLETED)
    if limit is not None:
        return end_turn(draft, TurnEnd.LIMIT, limit=limit)
    if draft.config.yield_after_round:
        draft.yield_status(AfterRound())
        return Phase.PAUSED
    return after_round(draft)


def after_round(draft: Draft) -> Phase:
    """Append notices and steering, and call the model again."""
    draft.append_steer()
    return next_model_call(draft, MutationPoint.AFTER_ROUND)


def _append_results(draft: Draft) -> None:
    results = [call.result for call in draft.round.calls if call.result is not None]
    draft.set_turn(stop=False, stop_unless_failed=False)
    draft.begin_round(())
    draft.append(Item(ItemKind.TOOL, tuple(results), created_at=draft.clock))
