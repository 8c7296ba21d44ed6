"""Round: the model's calls are checked, approved and run, until each has its result.

Approvals are no phase of their own: a call that is asked about waits, its siblings run.
"""

from __future__ import annotations

import math
from typing import Final

from msgspec.structs import replace

from agentkit_core import ToolFailure
from agentkit_loop._result import TurnEnd
from agentkit_loop.kernel._approvals import (
    LOST_KIND,
    request_approval,
    resolve,
    suspend,
    yield_approvals,
)
from agentkit_loop.kernel._canned_results import (
    CANCELLED,
    CANCELLED_UNSTARTED,
    DENIED,
    TIMED_OUT,
    error_result,
)
from agentkit_loop.kernel._config import Execution, SteerPolicy
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import EffectId, StartTimer, TimerKind
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
from agentkit_loop.kernel._phases import _common as anywhere
from agentkit_loop.kernel._phases._common import Handlers, handlers, is_aside
from agentkit_loop.kernel._recovery import unknown_outcome
from agentkit_loop.kernel._rounds import (
    detach,
    find_call,
    interrupt_round,
    pump,
    put_call,
    set_call,
    settle,
    settle_as,
    skip_unstarted,
)
from agentkit_loop.kernel._state import CallState, CallStatus
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import end_turn, queue


def submitted(draft: Draft, given: Submit) -> Phase:
    """Queue the host's input; steering may be a reason not to begin what does not run yet."""
    lane = queue(draft, given)
    if lane is Lane.STEER and draft.config.steer_policy is SteerPolicy.SKIP_UNSTARTED:
        skip_unstarted(draft)
        return pump(draft)
    return Phase.ROUND


def allowed(draft: Draft, given: PreflightAllowed) -> Phase:
    """The call may run."""
    put_call(draft, _checked(draft, given))
    return pump(draft)


def refused(draft: Draft, given: PreflightRefused) -> Phase:
    """The call has its result without having run."""
    call = _answered(draft, given.effect_id)
    settle_as(draft, call, given.result, stop=given.stop)
    return pump(draft)


def preflight_asked(draft: Draft, given: PreflightAsked) -> Phase:
    """The call waits for what is neither granted nor vouched for."""
    call = request_approval(draft, _checked(draft, given), given.requests)
    put_call(draft, call)
    if call.pending_approvals:
        yield_approvals(draft)
    return pump(draft)


def _checked(draft: Draft, given: PreflightAllowed | PreflightAsked) -> CallState:
    call = _answered(draft, given.effect_id)
    part, rules = call.call, given.rules
    alone = draft.config.execution is Execution.READS_PARALLEL and not rules.read_only
    return replace(
        call,
        status=CallStatus.READY,
        call=part if given.input is None else replace(part, input=given.input),
        effect_id=None,
        rules=replace(
            rules,
            exclusive=rules.exclusive or alone,
            timeout_s=_bounded(rules.timeout_s),
            detach_after_s=_bounded(rules.detach_after_s),
        ),
    )


def _bounded(seconds: float | None) -> float | None:
    # No timer rings after an endless time, and JSON has no word for it.
    return seconds if seconds is not None and seconds < math.inf else None


def resolved(draft: Draft, given: Resolve) -> Phase:
    """One ask is answered; with the last one the call is free, or has its result."""
    pending = anywhere.find_pending(draft.turn.calls, given)
    if pending is None:
        phase = anywhere.resolved(draft, given)
        return pump(draft) if phase is Phase.ROUND else phase
    call, request = pending
    decision = given.decision
    call = resolve(draft, call, request, decision)
    put_call(draft, call)
    if not decision.approve:
        if request.kind == LOST_KIND:
            return unknown_outcome(draft, call)
        if not call.takes_denials:
            text = decision.reason or DENIED.format(name=call.name)
            failure = ToolFailure.PERMISSION_DENIED
            result = error_result(call, text, failure, started=call.started)
            settle(draft, result, stop=draft.config.deny_ends_turn)
    anywhere.grant_siblings(draft, given)
    phase = pump(draft)
    if phase is Phase.ROUND:
        yield_approvals(draft)
    return phase


def tool_asked(draft: Draft, given: ToolAsked) -> Phase:
    """The call stops in the middle of its run and waits; the time it waits does not count."""
    if is_aside(draft, given.effect_id):
        return anywhere.tool_asked(draft, given)
    call = _answered(draft, given.effect_id)
    draft.abort(call.timeout_id)
    draft.abort(call.detach_id)
    call = replace(call, effect_id=None, timeout_id=None, detach_id=None)
    call = suspend(draft, call, given)
    put_call(draft, call)
    if call.pending_approvals:
        yield_approvals(draft)
    return pump(draft)


def done(draft: Draft, given: ToolDone) -> Phase:
    """The call has its result."""
    if is_aside(draft, given.effect_id):
        return anywhere.tool_done(draft, given)
    call = _answered(draft, given.effect_id)
    settle_as(draft, call, given.result, stop=given.stop)
    return pump(draft)


def fired(draft: Draft, given: TimerFired) -> Phase:
    """A call has run for long enough: it is stopped, or goes on in the background."""
    if is_aside(draft, given.effect_id):
        return anywhere.timer_fired(draft, given)
    timer = draft.answered
    assert isinstance(timer, StartTimer) and timer.call_id is not None  # noqa: S101, PT018
    call = find_call(draft, timer.call_id)
    if timer.why is TimerKind.DETACH:
        detach(draft, set_call(draft, call.id, detach_id=None))
        return pump(draft)
    set_call(draft, call.id, timeout_id=None)
    text = TIMED_OUT.format(name=call.name, seconds=call.rules.timeout_s or 0)
    settle(draft, error_result(call, text, ToolFailure.TIMED_OUT, started=True))
    return pump(draft)


def call_cancelled(draft: Draft, given: CancelCall) -> Phase:
    """The host does not want a call any more; the others go on."""
    for call in draft.turn.calls:
        if call.id == given.call_id and call.status is not CallStatus.DONE:
            text = (CANCELLED if call.started else CANCELLED_UNSTARTED).format(name=call.name)
            failure = ToolFailure.INTERRUPTED
            settle(draft, error_result(call, text, failure, started=call.started))
            return pump(draft)
    return anywhere.call_cancelled(draft, given)


def cancelled(draft: Draft, given: Cancel | Close) -> Phase:
    """Give every open call a result, and end the turn."""
    interrupt_round(draft)
    return end_turn(draft, TurnEnd.CANCELLED)


def _answered(draft: Draft, effect_id: EffectId) -> CallState:
    """The call that waited for this effect."""
    for call in draft.turn.calls:
        if call.effect_id == effect_id:
            return call
    raise AssertionError(f"effect {effect_id} is out, but no call waits for it")


HANDLERS: Final[Handlers] = handlers(
    cancelled,
    {
        Submit: submitted,
        Resolve: resolved,
        PreflightAllowed: allowed,
        PreflightRefused: refused,
        PreflightAsked: preflight_asked,
        ToolAsked: tool_asked,
        ToolDone: done,
        TimerFired: fired,
        CancelCall: call_cancelled,
    },
)
