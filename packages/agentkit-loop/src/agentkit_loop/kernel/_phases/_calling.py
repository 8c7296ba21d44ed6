"""Calling: the model is asked. Its answer ends the turn, opens a round or is tried again."""

from __future__ import annotations

import math
from typing import Final

from msgspec.structs import replace

from agentkit_core import (
    FailureKind,
    FinishReason,
    Item,
    ItemKind,
    ModelResponse,
    ProviderFailure,
    Reasoning,
    ToolCall,
    Usage,
)
from agentkit_core.provider import wait_before_retry_s
from agentkit_loop._result import TurnEnd
from agentkit_loop.events import AttemptSuperseded, ModelCallFinished, MutationPoint, RetryScheduled
from agentkit_loop.kernel import _recovery as _lost
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import CallModel, StartTimer
from agentkit_loop.kernel._inputs import Cancel, Close, EffectLost, ModelFailed, ModelResponded
from agentkit_loop.kernel._limits import is_unpriced, is_unreported
from agentkit_loop.kernel._phases._common import Handlers, handlers
from agentkit_loop.kernel._rounds import interrupt_round, open_round, pump, with_own_ids
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import (
    append_said,
    drive,
    end_turn,
    go_on_or_finish,
    prepare_attempt,
)

_ENDS: Final = {
    FinishReason.MAX_TOKENS: TurnEnd.MAX_TOKENS,
    FinishReason.BLOCKED: TurnEnd.BLOCKED,
}


def responded(draft: Draft, given: ModelResponded) -> Phase:
    """Append the answer; run its calls, or end the turn.

    Whether there is more to do depends on the calls that are there. The finish reason only
    informs: providers disagree about it.
    """
    if given.response.item.kind is not ItemKind.ASSISTANT:
        _finish_call(draft, given.response, FinishReason.ERROR)
        kind = given.response.item.kind.value
        return end_turn(draft, TurnEnd.ERROR, error=f"the model answered with a {kind} item")
    item = with_own_ids(draft, given.response.item)
    reason = item.finish_reason or FinishReason.COMPLETED
    _finish_call(draft, given.response, reason)
    turn, usage = draft.turn, given.response.usage
    draft.set_turn(
        model_calls=turn.model_calls + 1,
        unreported=turn.unreported or is_unreported(usage),
        unpriced=turn.unpriced or is_unpriced(usage),
    )
    draft.append(item)
    if item.tool_calls:
        if given.retry_items:
            draft.diagnose("an answer with tool calls is not asked for again")
        open_round(draft, item)
        return pump(draft)
    # It kept to it that the tools were closed; only one that does not ends the turn by that limit.
    draft.set_turn(tools_closed=False)
    if given.retry_items:
        draft.append_steer()
        append_said(draft, given.retry_items)
        return drive(draft, MutationPoint.CONTINUE)
    if reason is FinishReason.TOOL_CALL:
        draft.diagnose("the finish reason says tool_call, but the answer has no tool call")
    end = _ENDS.get(reason, TurnEnd.COMPLETED)
    return go_on_or_finish(draft, end, paused=reason is FinishReason.PAUSED)


def failed(draft: Draft, given: ModelFailed) -> Phase:
    """Schedule another attempt, or end the turn with the failure as its result."""
    response, turn = given.response, draft.turn
    failure = response.failure
    _finish_call(draft, response, FinishReason.ERROR)
    wait_s = None
    if failure is not None and not _may_request_no_more(draft):
        wait_s = wait_before_retry_s(
            draft.config.retry, failure, attempt=turn.attempt, jitter=given.jitter
        )
    if failure is None or wait_s is None:
        kept = _without_calls(response.item)
        if draft.config.keep_failed and kept.parts and kept.kind is ItemKind.ASSISTANT:
            draft.append(kept)
        return end_turn(draft, TurnEnd.ERROR, failure=failure, partial=response.item)
    call = turn.model_calls + 1
    if response.item.parts:
        draft.emit(AttemptSuperseded(call, turn.attempt))
    draft.emit(RetryScheduled(call, turn.attempt, wait_s, failure))
    at = draft.clock + math.ceil(wait_s * 1000)
    timer = draft.issue(lambda effect_id: StartTimer(effect_id, at))
    draft.set_turn(attempt=turn.attempt, called=False, effect_id=timer)
    return Phase.BACKOFF


def lost(draft: Draft, given: EffectLost) -> Phase:
    """Make another attempt: it counts, so that a process that keeps dying does not pay for ever."""
    if not isinstance(draft.answered, CallModel):
        return _lost.lost(draft, given)
    turn, call = draft.turn, draft.turn.model_calls + 1
    failure = ProviderFailure(
        kind=FailureKind.CONNECTION,
        message="whoever asked the model was lost before the answer was saved",
        retryable=True,
    )
    nothing = Item(ItemKind.ASSISTANT, usage=Usage(requests=1))
    unknown = ModelResponse(nothing, failure)
    _finish_call(draft, unknown, FinishReason.ERROR)
    if turn.attempt >= draft.config.retry.max_attempts or _may_request_no_more(draft):
        return end_turn(draft, TurnEnd.ERROR, failure=failure)
    draft.emit(AttemptSuperseded(call, turn.attempt))
    return prepare_attempt(draft, turn.attempt + 1)


def cancelled(draft: Draft, given: Cancel | Close) -> Phase:
    """Keep what came of the answer, and end the turn; calls in it are not run."""
    partial = given.partial or ModelResponse(Item.assistant())
    draft.abort(draft.turn.effect_id)
    _finish_call(draft, partial, FinishReason.CANCELLED)
    if partial.item.parts and partial.item.kind is ItemKind.ASSISTANT:
        item = replace(
            with_own_ids(draft, partial.item),
            finish_reason=FinishReason.CANCELLED,
            interrupted=True,
        )
        draft.append(item)
        if item.tool_calls:
            open_round(draft, item)
            interrupt_round(draft)
    return end_turn(draft, TurnEnd.CANCELLED)


def _finish_call(draft: Draft, response: ModelResponse, reason: FinishReason) -> None:
    turn = draft.turn
    usage: Usage = response.usage
    draft.emit(
        ModelCallFinished(
            turn.model_calls + 1,
            turn.attempt,
            reason,
            usage,
            provenance=response.item.provenance,
            failure=response.failure,
        )
    )
    draft.set_turn(attempt=0, called=False, effect_id=None, usage=turn.usage + usage)


def _may_request_no_more(draft: Draft) -> bool:
    most = draft.config.limits.max_requests
    return most is not None and draft.turn.usage.requests >= most


def _without_calls(item: Item) -> Item:
    # Calls that nobody answers and reasoning without its signature make a history unsendable.
    parts = tuple(part for part in item.parts if not isinstance(part, ToolCall | Reasoning))
    return replace(item, parts=parts)


HANDLERS: Final[Handlers] = handlers(
    cancelled, {ModelResponded: responded, ModelFailed: failed, EffectLost: lost}
)
