"""Round: the model's tool calls are checked, approved and run, until each has its result.

Approval is not a phase of its own: a call that waits for a person waits by itself, the others run.
"""

from __future__ import annotations

import math
from typing import Final

from msgspec.structs import replace

from agentkit_core import ToolFailure
from agentkit_loop._result import TurnEnd
from agentkit_loop.kernel._approvals import (
    LOST_KIND,
    reason_not_to_ask,
    request_approval,
    resolve,
    suspend,
    yield_approvals,
)
from agentkit_loop.kernel._call_state import CallState, CallStatus
from agentkit_loop.kernel._canned_results import (
    CANCELLED,
    CANCELLED_UNSTARTED,
    DENIED,
    TIMED_OUT,
    error_result,
)
from agentkit_loop.kernel._config import Execution, SteerPolicy
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import EffectId, Preflight, StartTimer, StartTool, TimerKind
from agentkit_loop.kernel._inputs import (
    Cancel,
    CancelCall,
    Close,
    Lane,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Resolve,
    Submit,
    TimerFired,
    ToolAsked,
    ToolDone,
)
from agentkit_loop.kernel._phases import _background_calls as background_calls
from agentkit_loop.kernel._phases._background_calls import is_in_background
from agentkit_loop.kernel._phases._common import handlers_of_turn
from agentkit_loop.kernel._phases._handler import Handlers
from agentkit_loop.kernel._queues import enqueue
from agentkit_loop.kernel._recovery import set_unknown_outcome
from agentkit_loop.kernel._rounds import (
    advance_round,
    detach,
    find_call,
    interrupt_round,
    put_call,
    set_call,
    set_outside_result,
    set_result,
    skip_unstarted,
)
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import end_turn


def on_submit(draft: Draft, command: Submit) -> Phase:
    """Queue the host's input; steering may skip the calls that do not run yet."""
    lane = enqueue(draft, command)
    if lane is Lane.STEER and draft.config.steer_policy is SteerPolicy.SKIP_UNSTARTED:
        skip_unstarted(draft)
        return advance_round(draft)
    return Phase.ROUND


def on_preflight_allowed(draft: Draft, answer: PreflightAllowed) -> Phase:
    """Let the call run."""
    put_call(draft, _ready_call(draft, answer))
    return advance_round(draft)


def on_preflight_refused(draft: Draft, answer: PreflightRefused) -> Phase:
    """Give the call its result; it does not run."""
    call = _call_of(draft, answer.effect_id)
    set_outside_result(draft, call, answer.result, stop=answer.stop)
    return advance_round(draft)


def on_preflight_asked(draft: Draft, answer: PreflightAsked) -> Phase:
    """Let the call wait for what nobody has approved yet."""
    call = _ready_call(draft, answer)
    if (reason := reason_not_to_ask(draft, call)) is not None and call.asks:
        put_call(draft, call)
        set_result(draft, error_result(call, reason, ToolFailure.EXECUTION_FAILED))
        return advance_round(draft)
    call = request_approval(draft, replace(call, asks=call.asks + 1), answer.requests)
    put_call(draft, call)
    if call.pending_approvals:
        yield_approvals(draft)
    return advance_round(draft)


def _ready_call(draft: Draft, answer: PreflightAllowed | PreflightAsked) -> CallState:
    call = _call_of(draft, answer.effect_id)
    part, rules = call.call, answer.rules
    alone = draft.config.execution is Execution.READS_PARALLEL and not rules.read_only
    if alone and not rules.exclusive:
        rules = replace(rules, exclusive=True)
    if _is_endless(rules.timeout_s):
        rules = replace(rules, timeout_s=None)
    if _is_endless(rules.detach_after_s):
        rules = replace(rules, detach_after_s=None)
    return replace(
        call,
        status=CallStatus.READY,
        call=part if answer.input is None else replace(part, input=answer.input),
        effect_id=None,
        revision=answer.revision,
        rules=rules,
    )


def _is_endless(seconds: float | None) -> bool:
    # An infinite timeout is none, and JSON cannot express infinity.
    return seconds is not None and not seconds < math.inf


def on_resolve(draft: Draft, command: Resolve) -> Phase:
    """Take a decision on a call; after the last one it may run, or has its result."""
    request = draft.round.find_request(command.approval_id, command.call_id)
    if request is None:
        phase = background_calls.on_resolve(draft, command)
        return advance_round(draft) if phase is Phase.ROUND else phase
    call = find_call(draft, request.call.id)
    decision = command.decision
    call = resolve(draft, call, request, decision)
    put_call(draft, call)
    if not decision.approve:
        if request.kind == LOST_KIND:
            return set_unknown_outcome(draft, call)
        if not call.takes_denials:
            text = decision.reason or DENIED.format(name=call.name)
            failure = ToolFailure.PERMISSION_DENIED
            result = error_result(call, text, failure, started=call.started)
            set_result(draft, result, stop=draft.config.deny_ends_turn)
    background_calls.grant_to_others(draft, command)
    phase = advance_round(draft)
    if phase is Phase.ROUND:
        yield_approvals(draft)
    return phase


def on_tool_asked(draft: Draft, answer: ToolAsked) -> Phase:
    """Let the call wait that stopped to ask; the time that it waits does not count."""
    if is_in_background(draft, answer.effect_id):
        return background_calls.on_tool_asked(draft, answer)
    call = _call_of(draft, answer.effect_id)
    draft.abort(call.timeout_id)
    draft.abort(call.detach_id)
    call = replace(call, effect_id=None, timeout_id=None, detach_id=None)
    if (reason := reason_not_to_ask(draft, call)) is not None:
        put_call(draft, call)
        set_result(draft, error_result(call, reason, ToolFailure.EXECUTION_FAILED, started=True))
        return advance_round(draft)
    call = suspend(draft, call, answer)
    put_call(draft, call)
    if call.pending_approvals:
        yield_approvals(draft)
    return advance_round(draft)


def on_tool_done(draft: Draft, answer: ToolDone) -> Phase:
    """Give the call its result."""
    if is_in_background(draft, answer.effect_id):
        return background_calls.on_tool_done(draft, answer)
    call = _call_of(draft, answer.effect_id)
    if answer.stop_unless_failed:
        draft.set_turn(stop_unless_failed=True)
    set_outside_result(draft, call, answer.result, stop=answer.stop)
    return advance_round(draft)


def on_timer_fired(draft: Draft, answer: TimerFired) -> Phase:
    """Stop a call that has run for long enough, or let it go on in the background."""
    if is_in_background(draft, answer.effect_id):
        return background_calls.on_timer_fired(draft, answer)
    timer = draft.answered
    assert isinstance(timer, StartTimer) and timer.call_id is not None  # noqa: S101, PT018
    call = find_call(draft, timer.call_id)
    if timer.why is TimerKind.DETACH:
        detach(draft, set_call(draft, call.id, detach_id=None))
        return advance_round(draft)
    set_call(draft, call.id, timeout_id=None)
    text = TIMED_OUT.format(name=call.name, seconds=call.rules.timeout_s or 0)
    set_result(draft, error_result(call, text, ToolFailure.TIMED_OUT, started=True))
    return advance_round(draft)


def on_cancel_call(draft: Draft, command: CancelCall) -> Phase:
    """End a call because the host cancelled it; the others go on."""
    call = draft.round.find(command.call_id)
    if call is None or call.status is CallStatus.DONE:
        return background_calls.on_cancel_call(draft, command)
    text = (CANCELLED if call.started else CANCELLED_UNSTARTED).format(name=call.name)
    failure = ToolFailure.INTERRUPTED
    set_result(draft, error_result(call, text, failure, started=call.started))
    return advance_round(draft)


def on_cancel(draft: Draft, command: Cancel | Close) -> Phase:
    """Give every open call a result, and end the turn."""
    interrupt_round(draft)
    return end_turn(draft, TurnEnd.CANCELLED)


def _call_of(draft: Draft, effect_id: EffectId) -> CallState:
    """Return the call of the round that waited for an effect."""
    effect = draft.answered
    assert isinstance(effect, Preflight | StartTool)  # noqa: S101  (`step` lets no other one through)
    call = draft.round.find(effect.call.id)
    if call is not None and call.effect_id == effect_id:
        return call
    raise AssertionError(f"no call waits for effect {effect_id}, which is unanswered")


HANDLERS: Final[Handlers] = handlers_of_turn(
    on_cancel,
    {
        Submit: on_submit,
        Resolve: on_resolve,
        PreflightAllowed: on_preflight_allowed,
        PreflightRefused: on_preflight_refused,
        PreflightAsked: on_preflight_asked,
        ToolAsked: on_tool_asked,
        ToolDone: on_tool_done,
        TimerFired: on_timer_fired,
        CancelCall: on_cancel_call,
    },
)
