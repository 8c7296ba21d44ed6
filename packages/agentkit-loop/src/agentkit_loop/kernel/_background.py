"""Background calls: they go on whatever turns do, and end with a notification for the model.

`State.background` has them; each is running, or waits for a person, and may get an answer in any
phase. What comes of one waits as a notice for a safe point, so that nothing ever stands between an
answer of the model and the results of its calls.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from agentkit_core import (
    File,
    FilesOutput,
    Item,
    Part,
    PartsOutput,
    StructuredOutput,
    Text,
    TextOutput,
    ToolCallId,
    ToolFailure,
    ToolResult,
)
from agentkit_loop.events import ToolResultReceived
from agentkit_loop.kernel._approvals import (
    reason_not_to_ask,
    start_timer,
    start_tool,
    suspend,
    withdraw_approvals,
)
from agentkit_loop.kernel._call_state import CallState, CallStatus
from agentkit_loop.kernel._canned_results import CANCELLED, DENIED, TIMED_OUT, error_result
from agentkit_loop.kernel._config import BackgroundDone
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import EffectId, StartTimer, StartTool, TimerKind
from agentkit_loop.kernel._inputs import ToolAsked
from agentkit_loop.kernel._status import AwaitingInput
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import begin_turn

PLACEHOLDER: Final = (
    "{name} goes on in the background. Its result will be given in a later message; do not call "
    "it again for that."
)
CALL_ID_KEY: Final = "agentkit.call_id"
"""In the metadata of a notification: the id of the call that has ended."""
FAILED_KEY: Final = "agentkit.is_error"
"""In the metadata of a notification: whether that call failed."""


def finish_call(draft: Draft, result: ToolResult) -> Phase:
    """End a background call and leave a notice for the model.

    Returns:
        The phase. A turn begins if none runs and the configuration says so.
    """
    call = _end_call(draft, result)
    draft.notices += (_notification(call, result),)
    if draft.phase is not Phase.IDLE:
        return draft.phase
    if draft.config.background_done is BackgroundDone.CONTINUE:
        return begin_turn(draft)
    draft.yield_status(AwaitingInput(len(draft.notices)))
    return Phase.IDLE


def suspend_call(draft: Draft, call: CallState, answer: ToolAsked) -> Phase:
    """Let a background call wait that stopped to ask; no turn waits for it."""
    draft.abort(call.timeout_id)
    call = replace(call, effect_id=None, timeout_id=None)
    if (reason := reason_not_to_ask(draft, call)) is not None:
        draft.set_background(call)
        failure = ToolFailure.EXECUTION_FAILED
        return finish_call(draft, error_result(call, reason, failure, started=True))
    call = suspend(draft, call, answer, background=True)
    return resume_call(draft, call)


def resume_call(draft: Draft, call: CallState) -> Phase:
    """Run a background call again if all of its approvals are answered."""
    if call.status is CallStatus.READY:
        call = start_tool(draft, call, detaches=True)
        # Each run has the whole time, as in a round.
        limit_s = call.rules.timeout_s
        call = replace(call, timeout_id=start_timer(draft, call, TimerKind.TIMEOUT, limit_s))
    draft.set_background(call)
    return draft.phase


def deny_call(draft: Draft, call: CallState, reason: str | None) -> Phase:
    """End a background call because a person denied what it asked for."""
    draft.set_background(call)
    text = reason or DENIED.format(name=call.name)
    return finish_call(draft, error_result(call, text, ToolFailure.PERMISSION_DENIED, started=True))


def cancel_call(draft: Draft, call: CallState) -> Phase:
    """End a background call because the host cancelled it."""
    text = CANCELLED.format(name=call.name)
    return finish_call(draft, error_result(call, text, ToolFailure.INTERRUPTED, started=True))


def time_out_call(draft: Draft, call: CallState) -> Phase:
    """End a background call because it has run for as long as it may."""
    text = TIMED_OUT.format(name=call.name, seconds=call.rules.timeout_s or 0)
    return finish_call(draft, error_result(call, text, ToolFailure.TIMED_OUT, started=True))


def end_all_calls(draft: Draft) -> None:
    """End every background call without a notice: the session is over, or forgets them."""
    for call in list(draft.background.values()):
        text = CANCELLED.format(name=call.name)
        _end_call(draft, error_result(call, text, ToolFailure.INTERRUPTED, started=True))


def find_call_of(draft: Draft, effect_id: EffectId) -> CallState | None:
    """Find the background call that waits for an effect; None if it is not one of theirs."""
    effect = draft.answered
    if isinstance(effect, StartTimer):
        call_id = effect.call_id
    elif isinstance(effect, StartTool):
        call_id = effect.call.id
    else:
        return None
    call = None if call_id is None else draft.background.get(call_id)
    if call is not None and effect_id in (call.effect_id, call.timeout_id):
        return call
    return None


def call_of(draft: Draft, effect_id: EffectId) -> CallState:
    """Return the background call that waits for an effect, which must be there."""
    call = find_call_of(draft, effect_id)
    assert call is not None, f"no call waits for effect {effect_id}, which is unanswered"  # noqa: S101
    return call


def _end_call(draft: Draft, result: ToolResult) -> CallState:
    """Take a call out of the background with its one result, and abort what it waited for."""
    call = draft.drop_background(result.call_id)
    draft.abort(call.effect_id)
    draft.abort(call.timeout_id)
    withdraw_approvals(draft, call)
    if result.usage is not None:
        draft.add_usage(result.usage)
    draft.add_tools(result.added_tools)
    draft.emit(ToolResultReceived(call_id=call.id, name=call.name, result=result, background=True))
    return call


def _notification(call: CallState, result: ToolResult) -> Item:
    word = "failed" if result.is_error else "is done"
    text, parts = _content_of(result)
    head = f"Background call {call.id} of {call.name} {word}:"
    item = Item.notification(f"{head}\n{text}" if text else head, *parts)
    return replace(item, metadata=_metadata(call.id, result))


def _metadata(call_id: ToolCallId, result: ToolResult) -> dict[str, object]:
    return {CALL_ID_KEY: call_id, FAILED_KEY: result.is_error}


def _content_of(result: ToolResult) -> tuple[str, tuple[Part, ...]]:
    """The text of a result, and what of it is not text."""
    match result.output:
        case TextOutput() | StructuredOutput():
            return result.text, ()
        case PartsOutput(parts=parts):
            text = "\n".join(part.text for part in parts if isinstance(part, Text))
            return text, tuple(part for part in parts if not isinstance(part, Text))
        case FilesOutput(files=files):
            others: tuple[File, ...] = files
            return "", others
