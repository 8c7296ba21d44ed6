"""What a run tells: frozen, tagged, closed. Reporters and hosts read these, in order.

Every turn has one `TurnStarted` and one `TurnFinished`, every model call one
`ModelCallStarted` and one `ModelCallFinished`, every requested tool call one
`ToolResultReceived`, also when things fail or are cancelled. An item is in the transcript
before its event is told.

    run_started  run_finished
    input_queued
    turn_started  turn_finished
    items_appended
    model_call_started  content_delta*  model_call_finished
        attempt_superseded  retry_scheduled
    tool_call_requested  tool_execution_started  tool_progress*  tool_result_received
    approval_required  approval_resolved
    diagnostic
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from agentkit_core import (
    ApprovalId,
    Delta,
    FinishReason,
    Item,
    JsonValue,
    Provenance,
    ProviderFailure,
    SessionId,
    ToolCall,
    ToolCallId,
    ToolResult,
    TurnId,
    Usage,
)


class TurnEnd(StrEnum):
    """Why a turn ended."""

    COMPLETED = "completed"
    """The model answered without asking for more tools, or a tool said that this was all."""
    MAX_TOKENS = "max_tokens"
    """The last answer was cut off by the output limit or the context window."""
    BLOCKED = "blocked"
    """A filter, or the model itself, refused."""
    LIMIT = "limit"
    """A limit of the run was reached; see `limit` of the result."""
    CANCELLED = "cancelled"
    """The host cancelled it."""
    ERROR = "error"
    """A model call failed for good; see `failure` of the result."""


class TurnResult(Struct, frozen=True, omit_defaults=True):
    """What a turn came to."""

    turn_id: TurnId
    end: TurnEnd
    items: tuple[Item, ...] = ()
    """Everything the turn produced, in order: assistant and tool items."""
    usage: Usage = Usage()
    """The sum over the turn's model calls, failed attempts included."""
    model_calls: int = 0
    """How many model calls were answered."""
    limit: str | None = None
    """The name of the limit that was reached: `max_model_calls`, …"""
    failure: ProviderFailure | None = None
    """What went wrong, for `error`."""
    partial: Item | None = None
    """For `error`: what came of the answer that failed, as far as it came."""

    @property
    def text(self) -> str:
        """The text of the turn's last assistant item; empty when there is none."""
        for item in reversed(self.items):
            if item.kind == "assistant":
                return item.text
        return ""


class _Event(Struct, frozen=True, omit_defaults=True, tag_field="type"):
    pass


class RunStarted(_Event, frozen=True, tag="run_started"):
    """A session has begun, or goes on after it was resumed."""

    resumed: bool = False


class RunFinished(_Event, frozen=True, tag="run_finished"):
    """The session is closed; nothing follows."""


class InputQueued(_Event, frozen=True, tag="input_queued"):
    """The host's input was accepted; it reaches the transcript at the next safe point."""

    items: tuple[Item, ...]
    lane: str
    """`next` for the next turn, `steer` for the running one."""


class InputRejected(_Event, frozen=True, tag="input_rejected"):
    """The host's input was not accepted; nothing changed."""

    reason: str


class TurnStarted(_Event, frozen=True, tag="turn_started"):
    """A turn has begun."""


class TurnFinished(_Event, frozen=True, tag="turn_finished"):
    """A turn is over, however it ended."""

    result: TurnResult


class ItemsAppended(_Event, frozen=True, tag="items_appended"):
    """Items were appended to the transcript."""

    items: tuple[Item, ...]
    revision: int
    """The transcript's revision after it; grows by one with every change."""


class ModelCallStarted(_Event, frozen=True, tag="model_call_started"):
    """The model is asked."""

    call: int
    """The number of the call in its turn, from 1."""
    attempt: int
    """The number of the attempt at this call, from 1."""
    model: str


class ContentDelta(_Event, frozen=True, tag="content_delta"):
    """The answer has grown: the deltas of one network read, in order."""

    deltas: tuple[Delta, ...]


class ModelCallFinished(_Event, frozen=True, tag="model_call_finished"):
    """An attempt at a model call is over: answered, failed or cancelled."""

    call: int
    attempt: int
    finish_reason: FinishReason
    usage: Usage
    provenance: Provenance | None = None
    failure: ProviderFailure | None = None
    """What went wrong; None when it was answered."""


class AttemptSuperseded(_Event, frozen=True, tag="attempt_superseded"):
    """What was shown of a failed attempt does not count; another attempt starts afresh."""

    call: int
    attempt: int


class RetryScheduled(_Event, frozen=True, tag="retry_scheduled"):
    """The model will be asked again after a while."""

    call: int
    attempt: int
    """The attempt that failed."""
    wait_s: float
    failure: ProviderFailure


class ToolCallRequested(_Event, frozen=True, tag="tool_call_requested"):
    """The model asks for a tool."""

    call: ToolCall


class ToolExecutionStarted(_Event, frozen=True, tag="tool_execution_started"):
    """A tool begins to run."""

    call_id: ToolCallId
    name: str
    input: dict[str, JsonValue]
    """What it runs with; a host may have changed what the model asked for."""


class ToolProgress(_Event, frozen=True, tag="tool_progress"):
    """A running tool reports how far it is."""

    call_id: ToolCallId
    message: str
    data: JsonValue = None


class ToolResultReceived(_Event, frozen=True, tag="tool_result_received"):
    """A call has its result: the tool's, or why there is none."""

    call_id: ToolCallId
    name: str
    result: ToolResult


class ApprovalRequired(_Event, frozen=True, tag="approval_required"):
    """A call waits until someone says yes or no."""

    approval_id: ApprovalId
    call_id: ToolCallId
    kind: str
    """What kind of permission: `tool.delete_file`, `filesystem.write`, …"""
    summary: str
    """What would be done, for people."""


class ApprovalOutcome(StrEnum):
    """How an approval was resolved."""

    APPROVED = "approved"
    DENIED = "denied"
    WITHDRAWN = "withdrawn"
    """Nobody has to answer any more."""


class ApprovalResolved(_Event, frozen=True, tag="approval_resolved"):
    """A call no longer waits for this approval."""

    approval_id: ApprovalId
    call_id: ToolCallId
    outcome: ApprovalOutcome
    patched: bool = False
    """Whether the arguments were changed by whoever approved."""


class Diagnostic(_Event, frozen=True, tag="diagnostic"):
    """Something odd that changed nothing: a late answer, a finish reason that does not fit."""

    message: str


Event = (
    RunStarted
    | RunFinished
    | InputQueued
    | InputRejected
    | TurnStarted
    | TurnFinished
    | ItemsAppended
    | ModelCallStarted
    | ContentDelta
    | ModelCallFinished
    | AttemptSuperseded
    | RetryScheduled
    | ToolCallRequested
    | ToolExecutionStarted
    | ToolProgress
    | ToolResultReceived
    | ApprovalRequired
    | ApprovalResolved
    | Diagnostic
)
"""Anything that a run tells."""


class Envelope(Struct, frozen=True, omit_defaults=True):
    """An event with when and where it happened."""

    seq: int
    """From 1, without gaps, per session."""
    session_id: SessionId
    at: int
    """Milliseconds since the Unix epoch; never goes back within a session."""
    event: Event
    turn_id: TurnId | None = None
    """The turn it belongs to; None between turns."""
