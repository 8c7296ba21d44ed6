"""What can happen to background calls in any phase, and to calls that run, wherever they are."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from agentkit_core import ApprovalRequest
from agentkit_loop.events import ToolProgress
from agentkit_loop.kernel import _background as background
from agentkit_loop.kernel._approvals import LOST_KIND, grant, resolve, yield_approvals
from agentkit_loop.kernel._call_state import CallState
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import EffectId, StartTool
from agentkit_loop.kernel._inputs import (
    CancelCall,
    EffectLost,
    Resolve,
    TimerFired,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    ToolSpent,
    ToolStarted,
)
from agentkit_loop.kernel._phases._handler import Handlers
from agentkit_loop.kernel._recovery import on_effect_lost, set_unknown_outcome
from agentkit_loop.kernel._rounds import find_call, put_call
from agentkit_loop.kernel._status import GrantScope
from agentkit_loop.kernel._table import Phase


def on_tool_started(draft: Draft, answer: ToolStarted) -> Phase:
    """Record that a tool is about to run."""
    draft.out[answer.effect_id] = replace(_tool_effect(draft), started=True)
    return draft.phase


def on_tool_progressed(draft: Draft, answer: ToolProgressed) -> Phase:
    """Report the progress of a tool."""
    call_id = _tool_effect(draft).call.id
    draft.emit_unnumbered(ToolProgress(call_id, answer.message, answer.data))
    return draft.phase


def on_tool_spent(draft: Draft, answer: ToolSpent) -> Phase:
    """Count what a tool has used, in case the loop has to answer its call."""
    call_id = _tool_effect(draft).call.id
    call = draft.background.get(call_id)
    if call is not None:
        draft.set_background(replace(call, spent=call.spent + answer.usage))
    else:
        call = find_call(draft, call_id)
        put_call(draft, replace(call, spent=call.spent + answer.usage))
    return draft.phase


def on_tool_asked(draft: Draft, answer: ToolAsked) -> Phase:
    """Let a background call wait that stopped to ask."""
    phase = background.suspend_call(draft, background.call_of(draft, answer.effect_id), answer)
    yield_approvals(draft)
    return phase


def on_tool_done(draft: Draft, answer: ToolDone) -> Phase:
    """End a background call with its result."""
    call = background.call_of(draft, answer.effect_id)
    draft.set_background(replace(call, effect_id=None))
    return background.finish_call(draft, replace(answer.result, call_id=call.id))


def on_timer_fired(draft: Draft, answer: TimerFired) -> Phase:
    """End a background call that has run for as long as it may."""
    call = background.call_of(draft, answer.effect_id)
    draft.set_background(replace(call, timeout_id=None))
    return background.time_out_call(draft, call)


def on_resolve(draft: Draft, command: Resolve) -> Phase:
    """Take a decision on a background call; the request of any other call is not known here."""
    pending = _find_pending(draft, command)
    if pending is None:
        draft.diagnose(f"no call waits for approval {command.approval_id!r}")
        return draft.phase
    call, request = pending
    call = resolve(draft, call, request, command.decision)
    draft.set_background(call)
    if not command.decision.approve:
        if request.kind == LOST_KIND:
            return set_unknown_outcome(draft, call)
        if not call.takes_denials:
            return background.deny_call(draft, call, command.decision.reason)
    grant_to_others(draft, command)
    phase = background.resume_call(draft, call)
    yield_approvals(draft)
    return phase


def on_cancel_call(draft: Draft, command: CancelCall) -> Phase:
    """End a background call because the host cancelled it."""
    call = draft.background.get(command.call_id)
    if call is None:
        draft.diagnose(f"no call {command.call_id!r} is under way")
        return draft.phase
    return background.cancel_call(draft, call)


def _find_pending(draft: Draft, command: Resolve) -> tuple[CallState, ApprovalRequest] | None:
    for call in draft.background.values():
        if command.call_id in (None, call.id):
            for request in call.pending_approvals:
                if request.id == command.approval_id:
                    return call, request
    return None


def grant_to_others(draft: Draft, command: Resolve) -> None:
    """Grant what was approved for the whole session to all other calls that wait for the same."""
    # Approving a call with other arguments does not approve the arguments of the other calls:
    # then neither the request nor its kind is granted.
    scope = command.decision.scope
    if scope is GrantScope.ONCE:
        return
    for call in list(draft.background.values()):
        granted = grant(draft, call)
        if granted is not call:
            background.resume_call(draft, granted)
    for call in draft.round.asking(command.approval_id if scope is GrantScope.SESSION else None):
        granted = grant(draft, call)
        if granted is not call:
            put_call(draft, granted)


def is_in_background(draft: Draft, effect_id: EffectId) -> bool:
    """Whether a background call waits for an effect."""
    return bool(draft.background) and background.find_call_of(draft, effect_id) is not None


def _tool_effect(draft: Draft) -> StartTool:
    effect = draft.answered
    assert isinstance(effect, StartTool)  # noqa: S101  (`step` lets no other answer through)
    return effect


HANDLERS: Final[Handlers] = {
    Resolve: on_resolve,
    CancelCall: on_cancel_call,
    ToolStarted: on_tool_started,
    ToolProgressed: on_tool_progressed,
    ToolSpent: on_tool_spent,
    ToolAsked: on_tool_asked,
    ToolDone: on_tool_done,
    TimerFired: on_timer_fired,
    EffectLost: on_effect_lost,
}
