"""Calling: the model is called. Its answer ends the turn or opens a round; a failure is retried."""

from __future__ import annotations

import math
from typing import Final

from msgspec.structs import replace

from agentkit_core import (
    FailureKind,
    File,
    FinishReason,
    Item,
    ItemKind,
    Media,
    ModelResponse,
    ProviderFailure,
    Reasoning,
    Structured,
    ToolCall,
    Usage,
)
from agentkit_core.provider import wait_before_retry_s
from agentkit_loop._result import TurnEnd
from agentkit_loop.events import (
    AttemptSuperseded,
    ModelCallFinished,
    MutationPoint,
    RetryScheduled,
)
from agentkit_loop.kernel._call_ids import with_unique_call_ids
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import CallModel, StartTimer
from agentkit_loop.kernel._inputs import Cancel, Close, EffectLost, ModelFailed, ModelResponded
from agentkit_loop.kernel._limits import is_unpriced, is_unreported
from agentkit_loop.kernel._phases._common import handlers_of_turn
from agentkit_loop.kernel._phases._handler import Handlers
from agentkit_loop.kernel._queues import append_hook_items
from agentkit_loop.kernel._recovery import on_effect_lost as on_other_effect_lost
from agentkit_loop.kernel._refused_media import (
    describe_media,
    has_media,
    may_refuse_media,
    media_of,
)
from agentkit_loop.kernel._request_notes import report_request_changes
from agentkit_loop.kernel._rounds import advance_round, interrupt_round, open_round
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import (
    continue_or_finish,
    end_turn,
    has_more_input,
    next_model_call,
    start_attempt,
)

_ENDS: Final = {
    FinishReason.MAX_TOKENS: TurnEnd.MAX_TOKENS,
    FinishReason.BLOCKED: TurnEnd.BLOCKED,
}
_MAX_EMPTY_ANSWERS: Final = 1
"""After how many empty answers in a row the model is asked again."""


def on_model_responded(draft: Draft, answer: ModelResponded) -> Phase:
    """Append the answer; then run its calls, or end the turn.

    The calls in the answer decide whether there is more to do. The finish reason only informs:
    providers use it differently.
    """
    response = answer.response
    if response.item.kind is not ItemKind.ASSISTANT:
        _finish_model_call(draft, response, FinishReason.ERROR)
        error = f"the model answered with an item of kind {response.item.kind.value}"
        return end_turn(draft, TurnEnd.ERROR, error=error)
    item = with_unique_call_ids(draft, response.item)
    reason = item.finish_reason or FinishReason.COMPLETED
    _finish_model_call(draft, response, reason)
    report_request_changes(draft, item)
    turn, usage = draft.turn, response.usage
    if not turn.unpriced and is_unpriced(usage):
        _tell_of_missing_price(draft)
    draft.set_turn(
        model_calls=turn.model_calls + 1,
        unreported=turn.unreported or is_unreported(usage),
        unpriced=turn.unpriced or is_unpriced(usage),
    )
    if _is_empty(item, reason):
        return _go_on_after_nothing(draft, item, answer.retry_items)
    draft.set_turn(empty_answers=0)
    draft.append(item)
    if item.tool_calls:
        if answer.retry_items:
            draft.diagnose("the retry of an answer with tool calls was ignored")
        open_round(draft, item)
        return advance_round(draft)
    # The model kept to it that it may call no more tools. Only if it does not, the turn ends by
    # that limit.
    draft.set_turn(tools_closed=False)
    if answer.retry_items:
        return _ask_with(draft, answer.retry_items)
    if reason is FinishReason.TOOL_CALL:
        draft.diagnose("the finish reason is tool_call, but the answer has no tool call")
    end = _ENDS.get(reason, TurnEnd.COMPLETED)
    return continue_or_finish(draft, end, is_paused=reason is FinishReason.PAUSED)


def _tell_of_missing_price(draft: Draft) -> None:
    """Report at the first answer without a price that a limit of costs cannot be kept."""
    config = draft.config
    if config.limits.max_cost or config.session_limits.max_cost:
        draft.diagnose(
            f"an answer of model {draft.model!r} came without a price, so `max_cost` cannot be "
            f"checked: the turn ends before another model call; use a model whose price is known, "
            f"or limit `max_tokens`"
        )


def _is_empty(item: Item, reason: FinishReason) -> bool:
    """Whether an answer that would complete the turn has nothing in it that anybody can read."""
    if item.tool_calls or reason in _ENDS or reason is FinishReason.PAUSED:
        return False
    return not _has_content(item)


def _has_content(item: Item) -> bool:
    text = item.text
    # `strip` would copy a text of any length.
    return (bool(text) and not text.isspace()) or any(
        isinstance(part, Media | File | Structured) for part in item.parts
    )


def _continues_content(draft: Draft) -> bool:
    """Whether the answer continues one that the provider has paused, and that has content."""
    for earlier in reversed(draft.transcript.items) if draft.turn.resumed else ():
        if earlier.finish_reason is not FinishReason.PAUSED:
            break
        if _has_content(earlier):
            return True
    return False


def _go_on_after_nothing(draft: Draft, item: Item, retry_items: tuple[Item, ...]) -> Phase:
    """Ask the model again after an empty answer, which is not appended; give up after the second.

    Providers refuse empty assistant items, and an answer follows nothing but what it answers.
    """
    turn = draft.turn
    draft.set_turn(tools_closed=False, empty_answers=turn.empty_answers + 1)
    if retry_items or has_more_input(draft):
        return _ask_with(draft, retry_items)
    if _continues_content(draft):
        return continue_or_finish(draft, TurnEnd.COMPLETED)
    if turn.empty_answers >= _MAX_EMPTY_ANSWERS:
        return end_turn(draft, TurnEnd.EMPTY, partial=item)
    draft.diagnose("the model answered with nothing; it is asked again")
    return next_model_call(draft, MutationPoint.CONTINUE, resumed=turn.resumed)


def _ask_with(draft: Draft, items: tuple[Item, ...]) -> Phase:
    """Call the model again with steering and what hooks tell it."""
    draft.append_steer()
    append_hook_items(draft, items)
    return next_model_call(draft, MutationPoint.CONTINUE)


def on_model_failed(draft: Draft, answer: ModelFailed) -> Phase:
    """Schedule another attempt, or end the turn with the failure as its result."""
    response, turn = answer.response, draft.turn
    failure = response.failure
    _finish_model_call(draft, response, FinishReason.ERROR)
    wait_s = None
    if failure is not None:
        wait_s = wait_before_retry_s(
            draft.config.retry, failure, attempt=turn.attempt, jitter=answer.jitter
        )
    if wait_s is not None and _is_out_of_requests(draft):
        draft.diagnose("the model call is not tried again: the turn has reached `max_requests`")
        wait_s = None
    if failure is None or wait_s is None:
        if failure is not None and not response.item.parts:
            _put_refused_media_aside(draft, failure)
        item = _without_calls(response.item)
        is_kept = draft.config.keep_failed and not answer.is_rejected
        if is_kept and item.parts and item.kind is ItemKind.ASSISTANT:
            draft.append(item)
        return end_turn(draft, TurnEnd.ERROR, failure=failure, partial=response.item)
    call = turn.model_calls + 1
    if response.item.parts:
        draft.emit(AttemptSuperseded(call, turn.attempt))
    draft.emit(RetryScheduled(call=call, attempt=turn.attempt, wait_s=wait_s, failure=failure))
    at = draft.clock + math.ceil(wait_s * 1000)
    timer = draft.issue(lambda effect_id: StartTimer(id=effect_id, at=at))
    draft.set_turn(attempt=turn.attempt, called=False, effect_id=timer)
    return Phase.BACKOFF


def _put_refused_media_aside(draft: Draft, failure: ProviderFailure) -> None:
    """Leave media out of later requests if this one may have been refused because of them."""
    if not may_refuse_media(failure):
        return
    new = range(draft.accepted_items, len(draft.transcript))
    known = frozenset(draft.refused_media)
    refused = tuple(at for at in new if at not in known and has_media(draft.transcript[at]))
    if not refused:
        return
    draft.refused_media = tuple(sorted((*draft.refused_media, *refused)))
    names = "; ".join(
        describe_media(part) for at in refused for part in media_of(draft.transcript[at])
    )
    draft.diagnose(
        f"the provider refused a request with media that it had not accepted before ({names}); "
        f"later requests say in their place that they are left out: submit them smaller or in "
        f"another form, or change the model, which is sent them again"
    )


def on_effect_lost(draft: Draft, answer: EffectLost) -> Phase:
    """Make another attempt. It counts, so a process that keeps crashing does not pay forever."""
    if not isinstance(draft.answered, CallModel):
        return on_other_effect_lost(draft, answer)
    turn, call = draft.turn, draft.turn.model_calls + 1
    failure = ProviderFailure(
        kind=FailureKind.CONNECTION,
        message="the process that called the model was lost before its answer was saved",
        retryable=True,
    )
    unknown = ModelResponse(Item(ItemKind.ASSISTANT, usage=Usage(requests=1)), failure)
    _finish_model_call(draft, unknown, FinishReason.ERROR)
    if turn.attempt >= draft.config.retry.max_attempts or _is_out_of_requests(draft):
        return end_turn(draft, TurnEnd.ERROR, failure=failure)
    draft.emit(AttemptSuperseded(call, turn.attempt))
    return start_attempt(draft, turn.attempt + 1)


def on_cancel(draft: Draft, command: Cancel | Close) -> Phase:
    """Keep what has come of the answer, and end the turn; calls in it do not run."""
    partial = command.partial or ModelResponse(Item.assistant())
    draft.abort(draft.turn.effect_id)
    _finish_model_call(draft, partial, FinishReason.CANCELLED)
    if partial.item.parts and partial.item.kind is ItemKind.ASSISTANT:
        item = replace(
            with_unique_call_ids(draft, partial.item),
            finish_reason=FinishReason.CANCELLED,
            interrupted=True,
        )
        draft.append(item)
        if item.tool_calls:
            open_round(draft, item)
            interrupt_round(draft)
    return end_turn(draft, TurnEnd.CANCELLED)


def _finish_model_call(draft: Draft, response: ModelResponse, reason: FinishReason) -> None:
    turn = draft.turn
    usage: Usage = response.usage
    draft.emit(
        ModelCallFinished(
            call=turn.model_calls + 1,
            attempt=turn.attempt,
            finish_reason=reason,
            usage=usage,
            provenance=response.item.provenance,
            failure=response.failure,
        )
    )
    draft.set_turn(attempt=0, called=False, effect_id=None, usage=turn.usage + usage)
    if response.item.parts:  # a provider that answers has accepted the request
        draft.accepted_items = len(draft.transcript)


def _is_out_of_requests(draft: Draft) -> bool:
    most = draft.config.limits.max_requests
    return most is not None and draft.turn.usage.requests >= most


def _without_calls(item: Item) -> Item:
    # A history with unanswered calls, or with reasoning without its signature, cannot be sent.
    parts = tuple(part for part in item.parts if not isinstance(part, ToolCall | Reasoning))
    return replace(item, parts=parts)


HANDLERS: Final[Handlers] = handlers_of_turn(
    on_cancel,
    {
        ModelResponded: on_model_responded,
        ModelFailed: on_model_failed,
        EffectLost: on_effect_lost,
    },
)
