"""What is alike in all phases but the last: queues, settings, and calls in the background."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import ApprovalRequest, ToolCallId
from agentkit_loop.events import (
    InputWithdrawn,
    RunFinished,
    SettingsChanged,
    ToolProgress,
)
from agentkit_loop.kernel import _background as background
from agentkit_loop.kernel._approvals import LOST_KIND, grant, resolve, yield_approvals
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import EffectId, StartTool
from agentkit_loop.kernel._inputs import (
    Cancel,
    CancelCall,
    Close,
    Configure,
    Continue,
    EffectLost,
    Input,
    Lane,
    Resolve,
    Submit,
    TimerFired,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    ToolsOffered,
    ToolSpent,
    ToolStarted,
    Unqueue,
)
from agentkit_loop.kernel._recovery import lost, unknown_outcome
from agentkit_loop.kernel._rounds import find_call, put_call
from agentkit_loop.kernel._state import CallState
from agentkit_loop.kernel._status import Busy, Closed, GrantScope
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import note_tools, queue

Handler = Callable[[Draft, Any], Phase]
"""Changes the draft for an input of one type and says which phase follows."""

Handlers = Mapping[type[Input], Handler]
"""A phase's handlers, by the type of input."""


def submitted(draft: Draft, given: Submit) -> Phase:
    """Queue the host's input."""
    queue(draft, given)
    return draft.phase


def tools_offered(draft: Draft, given: ToolsOffered) -> Phase:
    """Take note of the tools that the model is offered."""
    note_tools(draft, given.tools)
    return draft.phase


def unqueued(draft: Draft, given: Unqueue) -> Phase:
    """Give back what is queued."""
    for lane in (Lane.STEER, Lane.NEXT) if given.lane is None else (given.lane,):
        waiting = draft.steer if lane is Lane.STEER else draft.inputs
        if not waiting:
            continue
        if lane is Lane.STEER:
            draft.steer = ()
        else:
            draft.inputs = ()
        items = tuple(item for batch in waiting for item in batch)
        draft.emit(InputWithdrawn(items, lane.value))
    return draft.phase


def continued(draft: Draft, given: Continue) -> Phase:
    """Show the host again what waits for it, if anything does."""
    if not yield_approvals(draft):
        draft.give(Busy())
    return draft.phase


def configured(draft: Draft, given: Configure) -> Phase:
    """Change how the model is asked from the next call on."""
    if given.model is not None:
        draft.model = given.model
    if given.options is not None:
        draft.options = given.options
    if given.instructions is not None:
        draft.instructions = given.instructions
    if given.config is not None:
        draft.config = given.config
    if given.once is not None:
        draft.once = given.once
    if draft.phase is Phase.BACKOFF:
        # The request that was prepared is one of the old settings.
        draft.set_turn(prepared=False)
    draft.emit(SettingsChanged(draft.model, draft.once or draft.options))
    return draft.phase


def started(draft: Draft, given: ToolStarted) -> Phase:
    """Note that a tool is about to run."""
    effect = draft.out[given.effect_id]
    draft.out[given.effect_id] = replace(effect, started=True)
    return draft.phase


def progressed(draft: Draft, given: ToolProgressed) -> Phase:
    """Tell how far a tool is."""
    effect = draft.out[given.effect_id]
    call_id: ToolCallId = effect.call.id  # type: ignore[union-attr]
    draft.remark(ToolProgress(call_id, given.message, given.data))
    return draft.phase


def spent(draft: Draft, given: ToolSpent) -> Phase:
    """Note what a tool has used, for when it cannot say so itself any more."""
    effect = draft.out[given.effect_id]
    assert isinstance(effect, StartTool)  # noqa: S101  (the kernel lets no other by)
    call = draft.background.get(effect.call.id)
    if call is not None:
        draft.set_background(replace(call, spent=call.spent + given.usage))
    else:
        call = find_call(draft, effect.call.id)
        put_call(draft, replace(call, spent=call.spent + given.usage))
    return draft.phase


def tool_asked(draft: Draft, given: ToolAsked) -> Phase:
    """A background call stops and asks."""
    phase = background.asks(draft, _aside(draft, given.effect_id), given)
    yield_approvals(draft)
    return phase


def tool_done(draft: Draft, given: ToolDone) -> Phase:
    """A background call is over."""
    call = _aside(draft, given.effect_id)
    draft.set_background(replace(call, effect_id=None))
    return background.finished(draft, replace(given.result, call_id=call.id))


def timer_fired(draft: Draft, given: TimerFired) -> Phase:
    """A background call has run for as long as it may."""
    call = _aside(draft, given.effect_id)
    draft.set_background(replace(call, timeout_id=None))
    return background.timed_out(draft, call)


def resolved(draft: Draft, given: Resolve) -> Phase:
    """Take a decision on a background call; no other call is known here."""
    pending = find_pending(tuple(draft.background.values()), given)
    if pending is None:
        draft.diagnose(f"no approval {given.approval_id!r} is open")
        return draft.phase
    call, request = pending
    call = resolve(draft, call, request, given.decision)
    draft.set_background(call)
    if not given.decision.approve:
        if request.kind == LOST_KIND:
            return unknown_outcome(draft, call)
        if not call.takes_denials:
            return background.denied(draft, call, given.decision.reason)
    grant_siblings(draft, given)
    phase = background.resolved(draft, call)
    yield_approvals(draft)
    return phase


def call_cancelled(draft: Draft, given: CancelCall) -> Phase:
    """The host does not want a background call any more."""
    call = draft.background.get(given.call_id)
    if call is None:
        draft.diagnose(f"no call {given.call_id!r} is under way")
        return draft.phase
    return background.cancelled(draft, call)


def closing(cancel: Handler) -> Handler:
    """Make the handler of `Close` from the phase's own way of cancelling."""

    def closed(draft: Draft, given: Close) -> Phase:
        cancel(draft, given)
        return shut(draft)

    return closed


def shut(draft: Draft) -> Phase:
    """End the session; no turn runs any more."""
    background.terminate_all(draft)
    draft.emit(RunFinished())
    draft.give(Closed())
    return Phase.CLOSED


def find_pending(
    calls: tuple[CallState, ...], answer: Resolve
) -> tuple[CallState, ApprovalRequest] | None:
    """Find the pending approval that the host has decided, among those of some calls."""
    for call in calls:
        if answer.call_id in (None, call.id):
            for request in call.pending_approvals:
                if request.id == answer.approval_id:
                    return call, request
    return None


def grant_siblings(draft: Draft, given: Resolve) -> None:
    """A yes for the whole session counts for all calls that ask for the same."""
    # Whoever gave other arguments said no yes to those that the others have.
    if given.decision.scope is not GrantScope.SESSION or given.approval_id not in draft.grants:
        return
    for call in draft.background.values():
        granted = grant(draft, call, given.approval_id)
        if granted is not call:
            background.resolved(draft, granted)
    for call in () if draft.running is None else draft.running.calls:
        granted = grant(draft, call, given.approval_id)
        if granted is not call:
            put_call(draft, granted)


def is_aside(draft: Draft, effect_id: EffectId) -> bool:
    """Whether an effect is one of a background call."""
    return bool(draft.background) and background.owner_of(draft, effect_id) is not None


def _aside(draft: Draft, effect_id: EffectId) -> CallState:
    call = background.owner_of(draft, effect_id)
    assert call is not None, f"effect {effect_id} is out, but no call waits for it"  # noqa: S101
    return call


ANYWHERE: Final[Handlers] = {
    Submit: submitted,
    ToolsOffered: tools_offered,
    Unqueue: unqueued,
    Continue: continued,
    Configure: configured,
    Resolve: resolved,
    CancelCall: call_cancelled,
    ToolStarted: started,
    ToolProgressed: progressed,
    ToolSpent: spent,
    ToolAsked: tool_asked,
    ToolDone: tool_done,
    TimerFired: timer_fired,
    EffectLost: lost,
}
"""What a phase does where it has nothing of its own to say."""


def handlers(cancel: Handler, own: Handlers) -> Handlers:
    """Make the handlers of a phase of a turn.

    Args:
        cancel: How the phase gives up: leaves nothing open and ends the turn.
        own: What is its own.
    """
    return {**ANYWHERE, Cancel: cancel, Close: closing(cancel), **own}
