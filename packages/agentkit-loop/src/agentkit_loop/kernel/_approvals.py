"""Asking: calls that wait for people, in the round and in the background alike.

A call that has all its answers is `ready`; whether and when it runs is its owner's business.
"""

from __future__ import annotations

from msgspec.structs import replace

from agentkit_core import ApprovalId, ApprovalKind, Usage
from agentkit_loop.events import ApprovalOutcome, ApprovalRequired, ApprovalResolved
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import StartTool
from agentkit_loop.kernel._inputs import ToolAsked
from agentkit_loop.kernel._state import CallState, CallStatus
from agentkit_loop.kernel._status import (
    ApprovalAsk,
    ApprovalDecision,
    GrantScope,
    WaitingForApproval,
)

LOST_KIND = "tool.lost"
"""The kind of the ask whether a call that was lost may run again."""


def granted_to(draft: Draft, call: CallState) -> tuple[ApprovalId, ...]:
    """What is approved for a call, by itself or for the whole session."""
    if not draft.grants:
        return call.granted
    return call.granted + tuple(one for one in draft.grants if one not in call.granted)


def ask(
    draft: Draft, call: CallState, asks: tuple[ApprovalAsk, ...], *, background: bool = False
) -> CallState:
    """Let a call wait for what is neither granted nor vouched for; `ready` if nothing is left."""
    granted = granted_to(draft, call)
    missing = tuple(
        replace(one, call_id=call.id, background=background)
        for one in {one.id: one for one in asks}.values()
        if one.id not in call.answers
        and one.id not in call.denied
        and (one.want is not ApprovalKind.APPROVAL or one.id not in granted)
        and one.kind not in call.vouched
    )
    vouched = tuple(one.id for one in asks if one.kind in call.vouched)
    call = replace(
        call,
        status=CallStatus.ASKING if missing else CallStatus.READY,
        asks=missing,
        granted=call.granted + vouched,
    )
    for one in missing:
        draft.emit(ApprovalRequired(one.id, call.id, one.kind, one.summary, one.want, background))
    return call


def asked(
    draft: Draft, call: CallState, given: ToolAsked, *, background: bool = False
) -> CallState:
    """Let a call wait that stopped in the middle of its run; tell the host."""
    call = replace(call, token=given.token, takes_denials=given.takes_denials, vouched=())
    return ask(draft, call, given.asks, background=background)


def yield_asks(draft: Draft) -> bool:
    """Show the host all that is open; whether anything is."""
    open_asks = all_asks(draft)
    if open_asks:
        draft.give(WaitingForApproval(open_asks))
    return bool(open_asks)


def all_asks(draft: Draft) -> tuple[ApprovalAsk, ...]:
    """All that is open: of background calls, then of the round in call order."""
    calls = () if draft.running is None else draft.running.calls
    return tuple(one for call in (*draft.background.values(), *calls) for one in call.asks)


def resolve(
    draft: Draft, call: CallState, one: ApprovalAsk, decision: ApprovalDecision
) -> CallState:
    """Take the answer to one ask of a call; tell it.

    A denial is recorded for a tool that takes it; what it means else is the owner's business.
    """
    outcome = ApprovalOutcome.APPROVED if decision.approve else ApprovalOutcome.DENIED
    patched = decision.approve and decision.input is not None and not call.started
    draft.emit(ApprovalResolved(one.id, call.id, outcome, patched))
    left = tuple(other for other in call.asks if other is not one)
    if not decision.approve:
        denied = {**call.denied, one.id: decision.reason}
        return _settled(replace(call, asks=left, denied=denied))
    if patched:
        return _patched(draft, replace(call, asks=left), one, decision)
    call = replace(call, asks=left, granted=(*call.granted, one.id))
    if one.want is not ApprovalKind.APPROVAL:
        call = replace(call, answers={**call.answers, one.id: decision.answer})
    elif decision.scope is GrantScope.SESSION and one.id not in draft.grants:
        draft.grants += (one.id,)
    return _settled(call)


def grant(draft: Draft, call: CallState, approval_id: ApprovalId) -> CallState:
    """Let a call have what was approved for the whole session while it asked for the same."""
    same = [one for one in call.asks if one.id == approval_id and one.want is ApprovalKind.APPROVAL]
    for one in same:
        draft.emit(ApprovalResolved(one.id, call.id, ApprovalOutcome.APPROVED))
        left = tuple(other for other in call.asks if other is not one)
        call = _settled(replace(call, asks=left, granted=(*call.granted, one.id)))
    return call


def withdraw(draft: Draft, call: CallState) -> None:
    """Tell that nobody has to answer a call's asks any more."""
    for one in call.asks:
        draft.emit(ApprovalResolved(one.id, call.id, ApprovalOutcome.WITHDRAWN))


def start_tool(draft: Draft, call: CallState, *, detaches: bool) -> CallState:
    """Ask for a call to be run, with all that was answered."""
    effect_id = draft.issue(
        lambda effect_id: StartTool(
            effect_id,
            call.id,
            call.name,
            call.input,
            granted_to(draft, call),
            call.metadata,
            call.answers,
            call.denied,
            call.token,
            detaches,
        )
    )
    # A tool that goes on says anew what it has used.
    return replace(
        call, status=CallStatus.RUNNING, effect_id=effect_id, started=True, spent=Usage()
    )


def _settled(call: CallState) -> CallState:
    return call if call.asks else replace(call, status=CallStatus.READY)


def _patched(
    draft: Draft, call: CallState, one: ApprovalAsk, decision: ApprovalDecision
) -> CallState:
    # What was granted for the old arguments does not count for the new ones. But whoever gave
    # these was asked about this kind of permission and is not asked about it again.
    withdraw(draft, call)
    return replace(
        call,
        input=decision.input,
        status=CallStatus.NEW,
        asks=(),
        granted=(one.id,),
        vouched=(*call.vouched, one.kind),
    )
