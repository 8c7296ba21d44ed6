"""Round: the model's calls are checked, approved and run, until each has its result.

Approvals are no phase of their own: a call that is asked about waits, its siblings run.
"""

from __future__ import annotations

from typing import Final

from agentkit_core import ToolCallId, ToolFailure
from agentkit_loop._draft import Draft
from agentkit_loop._effects import EffectId
from agentkit_loop._inputs import (
    Cancel,
    Close,
    Continue,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Resolve,
    Submit,
    ToolDone,
    ToolProgressed,
)
from agentkit_loop._phases import _busy
from agentkit_loop._phases._busy import Handlers, closing, submitted
from agentkit_loop._rounds import DENIED, error_result, interrupt_round, pump, set_call, settle
from agentkit_loop._state import CallState, CallStatus
from agentkit_loop._steps import ApprovalAsk, ApprovalDecision, ApprovalRequested
from agentkit_loop._table import Phase
from agentkit_loop._turns import end_turn
from agentkit_loop.events import (
    ApprovalOutcome,
    ApprovalRequired,
    ApprovalResolved,
    ToolProgress,
    TurnEnd,
)


def continued(draft: Draft, given: Continue) -> Phase:
    """Show the host again what waits for approval, if anything does."""
    if not _yield_asks(draft):
        return _busy.continued(draft, given)
    return Phase.ROUND


def allowed(draft: Draft, given: PreflightAllowed) -> Phase:
    """The call may run."""
    call = _answered(draft, given.effect_id)
    set_call(draft, call.id, status=CallStatus.READY, effect_id=None)
    return pump(draft)


def refused(draft: Draft, given: PreflightRefused) -> Phase:
    """The call has its result without having run."""
    _answered(draft, given.effect_id)
    settle(draft, given.result)
    return pump(draft)


def asked(draft: Draft, given: PreflightAsked) -> Phase:
    """The call waits for what is neither granted nor vouched for."""
    call = _answered(draft, given.effect_id)
    asks = tuple(
        ask for ask in given.asks if ask.id not in call.granted and ask.kind not in call.vouched
    )
    vouched = tuple(ask.id for ask in given.asks if ask.kind in call.vouched)
    set_call(
        draft,
        call.id,
        status=CallStatus.ASKING if asks else CallStatus.READY,
        effect_id=None,
        asks=asks,
        granted=call.granted + vouched,
    )
    for ask in asks:
        draft.emit(ApprovalRequired(ask.id, call.id, ask.kind, ask.summary))
    if asks:
        _yield_asks(draft)
    return pump(draft)


def resolved(draft: Draft, given: Resolve) -> Phase:
    """One ask is answered; with the last one the call is free, or has its result."""
    found = _asking(draft, given)
    if found is None:
        draft.diagnose(f"no approval {given.approval_id!r} is open")
        return Phase.ROUND
    call, ask = found
    decision = given.decision
    patched = decision.approve and decision.input is not None
    call = set_call(draft, call.id, asks=tuple(one for one in call.asks if one is not ask))
    outcome = ApprovalOutcome.APPROVED if decision.approve else ApprovalOutcome.DENIED
    draft.emit(ApprovalResolved(ask.id, call.id, outcome, patched))
    if patched:
        _patch(draft, call, ask, decision)
    elif decision.approve:
        status = CallStatus.ASKING if call.asks else CallStatus.READY
        set_call(draft, call.id, status=status, granted=(*call.granted, ask.id))
    else:
        text = decision.reason or DENIED.format(name=call.name)
        settle(draft, error_result(call, text, ToolFailure.PERMISSION_DENIED))
    phase = pump(draft)
    if phase is Phase.ROUND:
        _yield_asks(draft)
    return phase


def _patch(draft: Draft, call: CallState, ask: ApprovalAsk, decision: ApprovalDecision) -> None:
    # What was granted for the old arguments does not count for the new ones. But whoever gave
    # these was asked about this kind of permission and is not asked about it again.
    for other in call.asks:
        draft.emit(ApprovalResolved(other.id, call.id, ApprovalOutcome.WITHDRAWN))
    set_call(
        draft,
        call.id,
        input=decision.input,
        status=CallStatus.NEW,
        asks=(),
        granted=(ask.id,),
        vouched=(*call.vouched, ask.kind),
    )


def progressed(draft: Draft, given: ToolProgressed) -> Phase:
    """Tell how far a tool is."""
    effect = draft.out[given.effect_id]
    call_id: ToolCallId = effect.call_id  # type: ignore[union-attr]
    draft.emit(ToolProgress(call_id, given.message, given.data))
    return Phase.ROUND


def done(draft: Draft, given: ToolDone) -> Phase:
    """The call has its result."""
    _answered(draft, given.effect_id)
    settle(draft, given.result, stop=given.stop)
    return pump(draft)


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


def _asking(draft: Draft, given: Resolve) -> tuple[CallState, ApprovalAsk] | None:
    for call in draft.turn.calls:
        if given.call_id in (None, call.id):
            for ask in call.asks:
                if ask.id == given.approval_id:
                    return call, ask
    return None


def _yield_asks(draft: Draft) -> bool:
    asks = tuple(ask for call in draft.turn.calls for ask in call.asks)
    if asks:
        draft.give(ApprovalRequested(asks))
    return bool(asks)


HANDLERS: Final[Handlers] = {
    Submit: submitted,
    Continue: continued,
    Resolve: resolved,
    PreflightAllowed: allowed,
    PreflightRefused: refused,
    PreflightAsked: asked,
    ToolProgressed: progressed,
    ToolDone: done,
    Cancel: cancelled,
    Close: closing(cancelled),
}
