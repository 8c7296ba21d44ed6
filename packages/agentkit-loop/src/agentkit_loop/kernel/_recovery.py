"""Lost effects: what becomes of one when whoever carried it out is gone. Shared by the phases.

Everything that may be done again is asked for again under a new id, so that answers of whoever
was lost come too late. A tool that was started is another matter: see `LoopConfig.lost_tool`.
"""

from __future__ import annotations

from msgspec.structs import replace

from agentkit_core import ApprovalId, ApprovalRequest, ToolFailure
from agentkit_loop.kernel import _background as background
from agentkit_loop.kernel._approvals import LOST_KIND, request_approval, yield_approvals
from agentkit_loop.kernel._canned_results import RUN_AGAIN, UNKNOWN, error_result
from agentkit_loop.kernel._config import LostTool
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import Preflight, StartTimer, StartTool
from agentkit_loop.kernel._inputs import EffectLost
from agentkit_loop.kernel._rounds import pump, put_call, set_call, settle
from agentkit_loop.kernel._state import CallState, CallStatus
from agentkit_loop.kernel._table import Phase


def lost(draft: Draft, given: EffectLost) -> Phase:
    """Go on after any effect was lost, except a model call."""
    effect = draft.answered
    match effect:
        case StartTool(started=True):
            return _lost_tool(draft, effect)
        case Preflight() | StartTool() | StartTimer(call_id=str()):
            return _again(draft, effect)
        case None:
            raise AssertionError("an answer without its effect")
        case _:
            # A timer of the turn has no request to go with it any more: see `_backoff`.
            draft.set_turn(effect_id=draft.issue_again(effect), prepared=False)
            return draft.phase


def _again(draft: Draft, effect: Preflight | StartTool | StartTimer) -> Phase:
    new = draft.issue_again(effect)
    call = _owner(draft, effect.id)
    field = next(
        name
        for name in ("effect_id", "timeout_id", "detach_id")
        if getattr(call, name) == effect.id
    )
    changed = replace(call, **{field: new})
    if call.id in draft.background:
        draft.set_background(changed)
    else:
        put_call(draft, changed)
    return draft.phase


def _lost_tool(draft: Draft, effect: StartTool) -> Phase:
    call = _owner(draft, effect.id)
    policy = draft.config.lost_tool
    aside = call.id in draft.background
    if call.rules.repeatable and policy is not LostTool.NEVER_REPEAT:
        return _again(draft, replace(effect, started=False))
    if policy is not LostTool.ASK:
        text = UNKNOWN.format(name=call.name)
        result = error_result(call, text, ToolFailure.OUTCOME_UNKNOWN, started=True)
        if aside:
            return background.finished(draft, result)
        settle(draft, result)
        return pump(draft)
    draft.abort(call.timeout_id)
    draft.abort(call.detach_id)
    call = replace(call, effect_id=None, timeout_id=None, detach_id=None)
    call = request_approval(draft, call, (_whether_to_run_again(call),), background=aside)
    if aside:
        draft.set_background(call)
        yield_approvals(draft)
        return draft.phase
    put_call(draft, call)
    yield_approvals(draft)
    return pump(draft)


def unknown_outcome(draft: Draft, call: CallState) -> Phase:
    """A person does not want a lost call to run again."""
    result = error_result(
        call, UNKNOWN.format(name=call.name), ToolFailure.OUTCOME_UNKNOWN, started=True
    )
    if call.id in draft.background:
        return background.finished(draft, result)
    set_call(draft, call.id, status=CallStatus.READY)
    settle(draft, result)
    return pump(draft)


def _whether_to_run_again(call: CallState) -> ApprovalRequest:
    # What was granted is counted in the id: a call that is lost twice is asked about twice.
    return ApprovalRequest(
        id=ApprovalId(f"{LOST_KIND}:{call.id}:{len(call.granted)}"),
        call=call.call,
        kind=LOST_KIND,
        summary=RUN_AGAIN.format(name=call.name),
    )


def _owner(draft: Draft, effect_id: str) -> CallState:
    calls = () if draft.running is None else draft.running.calls
    for call in (*draft.background.values(), *calls):
        if effect_id in (call.effect_id, call.timeout_id, call.detach_id):
            return call
    raise AssertionError(f"effect {effect_id} is out, but no call waits for it")
