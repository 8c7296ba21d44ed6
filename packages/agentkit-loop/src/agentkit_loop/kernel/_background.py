"""Background: calls that go on whatever turns do, from their placeholder to their notification.

They stand in `State.background`, running or asking, and may be answered in any phase. What comes
of one waits as a notice for a safe point, so that nothing ever stands between an answer of the
model and the results of its calls.
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
from agentkit_loop.kernel._approvals import start_tool, suspend, withdraw
from agentkit_loop.kernel._canned_results import CANCELLED, DENIED, TIMED_OUT, error_result
from agentkit_loop.kernel._config import BackgroundDone
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import ToolAsked
from agentkit_loop.kernel._state import CallState, CallStatus
from agentkit_loop.kernel._status import AwaitingInput
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import begin_turn

PLACEHOLDER: Final = (
    "{name} goes on in the background. Its result will be given in a later message; do not call "
    "it again for that."
)
CALL_ID_KEY: Final = "agentkit.call_id"
"""In the metadata of a notification: the call that is over."""
FAILED_KEY: Final = "agentkit.is_error"
"""In the metadata of a notification: whether that call failed."""


def finished(draft: Draft, result: ToolResult) -> Phase:
    """A background call is over: tell it, and leave a notice for the model.

    Returns:
        The phase: a turn begins where none runs and the configuration wants it.
    """
    call = terminate(draft, result)
    draft.notices += (_notification(call, result),)
    if draft.phase is not Phase.IDLE:
        return draft.phase
    if draft.config.background_done is BackgroundDone.CONTINUE:
        return begin_turn(draft)
    draft.give(AwaitingInput(len(draft.notices)))
    return Phase.IDLE


def terminate(draft: Draft, result: ToolResult) -> CallState:
    """Take a call out of the background with its one result; what it waited for is given up."""
    call = draft.drop_background(result.call_id)
    draft.abort(call.effect_id)
    draft.abort(call.timeout_id)
    withdraw(draft, call)
    if result.usage is not None:
        draft.add_usage(result.usage)
    draft.add_tools(result.added_tools)
    draft.emit(ToolResultReceived(call.id, call.name, result, background=True))
    return call


def asks(draft: Draft, call: CallState, given: ToolAsked) -> Phase:
    """A background call stops and asks; no turn waits for it."""
    draft.abort(call.timeout_id)
    call = suspend(draft, replace(call, effect_id=None, timeout_id=None), given, background=True)
    if call.status is CallStatus.READY:
        call = start_tool(draft, call, detaches=True)
    draft.set_background(call)
    return draft.phase


def resolved(draft: Draft, call: CallState) -> Phase:
    """A background call that asked has all its answers: it goes on."""
    if call.status is CallStatus.READY:
        call = start_tool(draft, call, detaches=True)
    draft.set_background(call)
    return draft.phase


def denied(draft: Draft, call: CallState, reason: str | None) -> Phase:
    """A background call may not go on."""
    draft.set_background(call)
    text = reason or DENIED.format(name=call.name)
    return finished(draft, error_result(call, text, ToolFailure.PERMISSION_DENIED, started=True))


def cancelled(draft: Draft, call: CallState) -> Phase:
    """The host does not want a background call any more."""
    text = CANCELLED.format(name=call.name)
    return finished(draft, error_result(call, text, ToolFailure.INTERRUPTED, started=True))


def timed_out(draft: Draft, call: CallState) -> Phase:
    """A background call has run for as long as it may."""
    text = TIMED_OUT.format(name=call.name, seconds=call.rules.timeout_s or 0)
    return finished(draft, error_result(call, text, ToolFailure.TIMED_OUT, started=True))


def terminate_all(draft: Draft) -> None:
    """End every background call: the session is over, or forgets them."""
    for call in list(draft.background.values()):
        text = CANCELLED.format(name=call.name)
        terminate(draft, error_result(call, text, ToolFailure.INTERRUPTED, started=True))


def owner_of(draft: Draft, effect_id: str) -> CallState | None:
    """Find the background call that waits for an effect."""
    for call in draft.background.values():
        if effect_id in (call.effect_id, call.timeout_id):
            return call
    return None


def _notification(call: CallState, result: ToolResult) -> Item:
    word = "failed" if result.is_error else "is done"
    text, more = _content(result)
    head = f"Background call {call.id} of {call.name} {word}:"
    item = Item.notification(f"{head}\n{text}" if text else head, *more)
    return replace(item, metadata=_metadata(call.id, result))


def _metadata(call_id: ToolCallId, result: ToolResult) -> dict[str, object]:
    return {CALL_ID_KEY: call_id, FAILED_KEY: result.is_error}


def _content(result: ToolResult) -> tuple[str, tuple[Part, ...]]:
    match result.output:
        case TextOutput() | StructuredOutput():
            return result.text, ()
        case PartsOutput(parts=parts):
            text = "\n".join(part.text for part in parts if isinstance(part, Text))
            return text, tuple(part for part in parts if not isinstance(part, Text))
        case FilesOutput(files=files):
            more: tuple[File, ...] = files
            return "", more
