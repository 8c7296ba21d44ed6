"""Recovery: what becomes of an effect when the process that performed it is lost.

The kernel asks again, under a new id, for everything that may be done again, so that answers of the
old process come too late. For a tool that had started, `LoopConfig.lost_tool` decides.
"""

from __future__ import annotations

from msgspec.structs import replace

from agentkit_core import ApprovalId, ApprovalRequest, ToolFailure
from agentkit_loop.kernel import _background as background
from agentkit_loop.kernel._approvals import LOST_KIND, request_approval, yield_approvals
from agentkit_loop.kernel._call_state import CallState, CallStatus
from agentkit_loop.kernel._canned_results import RUN_AGAIN, UNKNOWN, error_result
from agentkit_loop.kernel._config import LostTool
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import Preflight, StartTimer, StartTool
from agentkit_loop.kernel._inputs import EffectLost
from agentkit_loop.kernel._rounds import advance_round, put_call, set_call, set_result
from agentkit_loop.kernel._table import Phase


def on_effect_lost(draft: Draft, answer: EffectLost) -> Phase:
    """Go on after any effect was lost, except a model call."""
    effect = draft.answered
    match effect:
        case StartTool(started=True):
            return _recover_tool(draft, effect)
        case Preflight() | StartTool() | StartTimer(call_id=str()):
            return _ask_again(draft, effect)
        case None:
            raise AssertionError(f"{answer.effect_id} is answered, but it is not out")
        case _:
            # If this is the timer of a retry, the request that it was to send is lost too.
            draft.set_turn(effect_id=draft.reissue(effect), prepared=False)
            return draft.phase


def set_unknown_outcome(draft: Draft, call: CallState) -> Phase:
    """Give a lost call its result: its outcome is unknown, and it does not run again."""
    text = UNKNOWN.format(name=call.name)
    result = error_result(call, text, ToolFailure.OUTCOME_UNKNOWN, started=True)
    if call.id in draft.background:
        return background.finish_call(draft, result)
    set_call(draft, call.id, status=CallStatus.READY)
    set_result(draft, result)
    return advance_round(draft)


def _ask_again(draft: Draft, effect: Preflight | StartTool | StartTimer) -> Phase:
    new_id = draft.reissue(effect)
    call = _call_of(draft, effect)
    if call.effect_id == effect.id:
        call = replace(call, effect_id=new_id)
    elif call.timeout_id == effect.id:
        call = replace(call, timeout_id=new_id)
    else:
        call = replace(call, detach_id=new_id)
    if call.id in draft.background:
        draft.set_background(call)
    else:
        put_call(draft, call)
    return draft.phase


def _recover_tool(draft: Draft, effect: StartTool) -> Phase:
    call = _call_of(draft, effect)
    policy = draft.config.lost_tool
    if call.rules.repeatable and policy is not LostTool.NEVER_REPEAT:
        return _ask_again(draft, replace(effect, started=False))
    if policy is not LostTool.ASK:
        return set_unknown_outcome(draft, call)
    in_background = call.id in draft.background
    draft.abort(call.timeout_id)
    draft.abort(call.detach_id)
    call = replace(call, effect_id=None, timeout_id=None, detach_id=None)
    call = request_approval(draft, call, (_run_again_request(call),), background=in_background)
    if in_background:
        draft.set_background(call)
        yield_approvals(draft)
        return draft.phase
    put_call(draft, call)
    yield_approvals(draft)
    return advance_round(draft)


def _run_again_request(call: CallState) -> ApprovalRequest:
    # The id counts what was granted: a call that is lost twice needs two decisions.
    return ApprovalRequest(
        id=ApprovalId(f"{LOST_KIND}:{call.id}:{len(call.granted)}"),
        call=call.call,
        kind=LOST_KIND,
        summary=RUN_AGAIN.format(name=call.name),
    )


def _call_of(draft: Draft, effect: Preflight | StartTool | StartTimer) -> CallState:
    call_id = effect.call_id if isinstance(effect, StartTimer) else effect.call.id
    if call_id is not None:
        for call in (draft.background.get(call_id), draft.round.find(call_id)):
            if call and effect.id in (call.effect_id, call.timeout_id, call.detach_id):
                return call
    raise AssertionError(f"no call waits for effect {effect.id}, which is unanswered")
