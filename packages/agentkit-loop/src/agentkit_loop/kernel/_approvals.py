"""Approvals: calls that wait for people, in the round and in the background alike.

A call whose approvals are all answered is `ready`; the round, or the background, decides when it
runs.
"""

from __future__ import annotations

import math
from itertools import filterfalse

from msgspec.structs import replace

from agentkit_core import ApprovalId, ApprovalKind, ApprovalRequest, Usage
from agentkit_loop.events import ApprovalOutcome, ApprovalRequired, ApprovalResolved
from agentkit_loop.kernel._call_state import CallState, CallStatus
from agentkit_loop.kernel._canned_results import TOO_LATE_TO_ASK, TOO_MANY_ASKS
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import EffectId, StartTimer, StartTool, TimerKind, Yield
from agentkit_loop.kernel._inputs import ToolAsked
from agentkit_loop.kernel._status import ApprovalDecision, GrantScope, WaitingForApproval
from agentkit_loop.kernel._tool_run import Resumption

LOST_KIND = "tool.lost"
"""The kind of the request whether a call that was lost may run again."""


def approvals_of(draft: Draft, call: CallState) -> tuple[ApprovalId, ...]:
    """List what is approved for a call, by itself or for the whole session."""
    if not draft.grants or not call.granted:
        return call.granted or draft.grants
    return (*call.granted, *filterfalse(call.granted.__contains__, draft.grants))


def reason_not_to_ask(draft: Draft, call: CallState) -> str | None:
    """Return why a call that wants to ask a person may not, for its result; None if it may.

    Asking, answering and running again is a loop like any other, and is bounded like one.
    """
    most, limits = draft.config.max_asks_per_call, draft.config.limits
    if most is not None and call.asks >= most:
        return TOO_MANY_ASKS.format(name=call.name, times=call.asks)
    turn = draft.current_turn
    if turn is None or limits.max_duration_s is None or call.id in draft.background:
        return None
    if draft.clock - turn.started_at < limits.max_duration_s * 1000:
        return None
    return TOO_LATE_TO_ASK.format(name=call.name, seconds=limits.max_duration_s)


def request_approval(
    draft: Draft,
    call: CallState,
    requests: tuple[ApprovalRequest, ...],
    *,
    background: bool = False,
) -> CallState:
    """Let a call wait for those requests that nobody has answered yet.

    Returns:
        The call, `ready` if it has to wait for none of them.
    """
    granted = approvals_of(draft, call)
    resume = call.resume or Resumption()
    pending = tuple(
        replace(request, call=call.call)
        for request in {request.id: request for request in requests}.values()
        if request.id not in resume.answers
        and request.id not in resume.denied
        and (request.want is not ApprovalKind.APPROVAL or request.id not in granted)
        and not is_covered(draft, call, request)
    )
    vouched = tuple(request.id for request in requests if is_covered(draft, call, request))
    call = replace(
        call,
        status=CallStatus.ASKING if pending else CallStatus.READY,
        pending_approvals=pending,
        granted=call.granted + vouched,
    )
    for request in pending:
        draft.emit(ApprovalRequired(request, background))
    return call


def is_covered(draft: Draft, call: CallState, request: ApprovalRequest) -> bool:
    """Whether a person has approved all requests of this kind, for this call or this tool."""
    if request.kind in call.vouched:
        return True
    granted = (call.name, request.kind) in draft.kind_grants
    return granted and request.want is ApprovalKind.APPROVAL


def suspend(
    draft: Draft, call: CallState, answer: ToolAsked, *, background: bool = False
) -> CallState:
    """Let a call wait that stopped in the middle of its run.

    A tool that asks a question again wants another answer: the person is asked again.
    """
    resume = call.resume or Resumption()
    questions = {each.id for each in answer.requests if each.want is not ApprovalKind.APPROVAL}
    resume = replace(
        resume,
        token=answer.token,
        answers={each: value for each, value in resume.answers.items() if each not in questions},
    )
    call = replace(
        call,
        resume=resume,
        asks=call.asks + 1,
        takes_denials=answer.takes_denials,
        vouched=(),
    )
    return request_approval(draft, call, answer.requests, background=background)


def yield_approvals(draft: Draft) -> bool:
    """Show the host all pending approvals: those that are pending at the end of the step.

    Returns:
        Whether there are any now.
    """
    asks = bool(draft.round.requests)
    asks = asks or any(call.pending_approvals for call in draft.background.values())
    if asks:
        draft.approvals_shown_at = len(draft.effects)
    return asks


def insert_approvals(draft: Draft) -> None:
    """Insert the status that shows the host all pending approvals, where it was last asked for.

    One is enough for all inputs of a step, because a newer one replaces it.
    """
    if draft.approvals_shown_at is None:
        return
    background = [call for call in draft.background.values() if call.pending_approvals]
    requests = [request for call in background for request in call.pending_approvals]
    if draft.round.requests:
        requests += draft.round.requests.listed()
    if requests:
        status = WaitingForApproval(tuple(requests), tuple(call.id for call in background))
        draft.effects.insert(draft.approvals_shown_at, Yield(status))


def resolve(
    draft: Draft, call: CallState, request: ApprovalRequest, decision: ApprovalDecision
) -> CallState:
    """Take a person's decision on one request of a call.

    A denial is recorded for a tool that takes denials; the caller does what else it means.
    """
    outcome = ApprovalOutcome.APPROVED if decision.approve else ApprovalOutcome.DENIED
    patched = decision.approve and decision.input is not None and not call.started
    draft.emit(
        ApprovalResolved(approval_id=request.id, call_id=call.id, outcome=outcome, patched=patched)
    )
    left = tuple(other for other in call.pending_approvals if other is not request)
    resume = call.resume or Resumption()
    if not decision.approve:
        resume = replace(resume, denied={**resume.denied, request.id: decision.reason})
        return _ready_if_answered(replace(call, pending_approvals=left, resume=resume))
    if patched:
        return _with_new_input(draft, replace(call, pending_approvals=left), request, decision)
    call = replace(call, pending_approvals=left, granted=(*call.granted, request.id))
    if request.want is not ApprovalKind.APPROVAL:
        answers = {**resume.answers, request.id: decision.answer}
        call = replace(call, resume=replace(resume, answers=answers))
    elif decision.scope is GrantScope.SESSION and request.id not in draft.grants:
        draft.grants += (request.id,)
    elif decision.scope is GrantScope.KIND and request.kind != LOST_KIND:
        granted_kind = (call.name, request.kind)
        if granted_kind not in draft.kind_grants:
            draft.kind_grants += (granted_kind,)
    return _ready_if_answered(call)


def grant(draft: Draft, call: CallState) -> CallState:
    """Give a call what was approved for the whole session while it waited for the same."""
    for request in call.pending_approvals:
        is_granted = request.id in draft.grants or is_covered(draft, call, request)
        if not is_granted or request.want is not ApprovalKind.APPROVAL:
            continue
        draft.emit(
            ApprovalResolved(
                approval_id=request.id, call_id=call.id, outcome=ApprovalOutcome.APPROVED
            )
        )
        left = tuple(other for other in call.pending_approvals if other is not request)
        granted = (*call.granted, request.id)
        call = _ready_if_answered(replace(call, pending_approvals=left, granted=granted))
    return call


def withdraw_approvals(draft: Draft, call: CallState) -> None:
    """Report that nobody has to answer the pending approvals of a call any more."""
    for request in call.pending_approvals:
        draft.emit(
            ApprovalResolved(
                approval_id=request.id, call_id=call.id, outcome=ApprovalOutcome.WITHDRAWN
            )
        )


def start_tool(draft: Draft, call: CallState, *, detaches: bool) -> CallState:
    """Ask for a call to be run, with everything that people have approved and answered."""
    effect_id = draft.issue(
        lambda effect_id: StartTool(
            effect_id,
            call.call,
            approvals_of(draft, call),
            resume=call.resume,
            revision=call.revision,
            detaches=detaches,
        )
    )
    # A tool that runs again reports all of its usage again.
    return replace(
        call, status=CallStatus.RUNNING, effect_id=effect_id, started=True, spent=Usage()
    )


def start_timer(
    draft: Draft, call: CallState, why: TimerKind, after_s: float | None
) -> EffectId | None:
    """Start a timer for a call that runs; return its id, None if there is no time to wait for."""
    if after_s is None:
        return None
    wait_ms = math.ceil(after_s * 1000)
    at = draft.clock + wait_ms
    return draft.issue(
        lambda effect_id: StartTimer(id=effect_id, at=at, why=why, call_id=call.id, wait_ms=wait_ms)
    )


def _ready_if_answered(call: CallState) -> CallState:
    return call if call.pending_approvals else replace(call, status=CallStatus.READY)


def _with_new_input(
    draft: Draft, call: CallState, request: ApprovalRequest, decision: ApprovalDecision
) -> CallState:
    # What was granted for the old arguments does not count for the new ones. But the person who
    # gave these was asked about this kind of permission and is not asked about it again.
    withdraw_approvals(draft, call)
    return replace(
        call,
        call=replace(call.call, input=decision.input),
        status=CallStatus.NEW,
        pending_approvals=(),
        granted=(request.id,),
        vouched=(*call.vouched, request.kind),
    )
