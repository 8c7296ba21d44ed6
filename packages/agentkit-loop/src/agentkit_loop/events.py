"""What a run tells: frozen, tagged, closed. Reporters and hosts read these, in order.

Every turn has one `TurnStarted` and one `TurnFinished`, every model call one
`ModelCallStarted` and one `ModelCallFinished`, every requested tool call one
`ToolResultReceived`, also when things fail or are cancelled. An item is in the transcript
before its event is told.

    run_started  run_finished
    input_queued  input_rejected  input_withdrawn  settings_changed
    turn_started  turn_finished
    items_appended  mutation_started  mutation_finished  transcript_rewritten
    tool_catalog_changed
    model_call_started  content_delta*  model_call_finished
        attempt_superseded  retry_scheduled
    tool_call_requested  tool_execution_started  tool_progress*  tool_result_received
        tool_detached
    approval_required  approval_resolved
    diagnostic

A call that goes on in the background is told as `tool_detached` at first, and has its
`tool_result_received` when it is over, in whatever turn that is.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from agentkit_core import (
    ApprovalId,
    ApprovalKind,
    Delta,
    FinishReason,
    Item,
    JsonValue,
    ModelOptions,
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
    """A model call failed for good (see `failure` of the result), or a mutator or a hook did
    (see `error`)."""


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
    tool_calls: int = 0
    """How many tool calls were asked for."""
    limit: str | None = None
    """The name of the limit that was reached: `max_model_calls`, …"""
    failure: ProviderFailure | None = None
    """For `error`: how the model call failed, if it was one."""
    error: str | None = None
    """For `error`: what went wrong, if it was no model call."""
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


class InputWithdrawn(_Event, frozen=True, tag="input_withdrawn"):
    """Queued input was taken back before it reached the transcript."""

    items: tuple[Item, ...]
    lane: str


class SettingsChanged(_Event, frozen=True, tag="settings_changed"):
    """The host changed what applies from the next model call on."""

    model: str
    """The model's id from now on."""
    options: ModelOptions


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


class TranscriptRewritten(_Event, frozen=True, tag="transcript_rewritten"):
    """Other items took the place of the whole transcript."""

    items: tuple[Item, ...]
    revision: int


class MutationPoint(StrEnum):
    """Before which model call of a turn mutators run."""

    TURN_START = "turn_start"
    AFTER_ROUND = "after_round"
    CONTINUE = "continue"
    """The answer was no end: input came, the provider paused, or a hook wants more."""


class MutationStarted(_Event, frozen=True, tag="mutation_started"):
    """Mutators are shown the transcript."""

    point: MutationPoint


class MutationOutcome(StrEnum):
    """What became of a mutation."""

    COMMITTED = "committed"
    UNCHANGED = "unchanged"
    ROLLED_BACK = "rolled_back"


class MutationFinished(_Event, frozen=True, tag="mutation_finished"):
    """The mutators are done; `transcript_rewritten` comes before it where they changed it."""

    outcome: MutationOutcome
    mutators: tuple[str, ...] = ()
    """The names of those that changed something, in order."""
    reason: str | None = None
    """Why it was rolled back."""


class ToolCatalogChanged(_Event, frozen=True, tag="tool_catalog_changed"):
    """The model is offered other tools than with the last call; names, sorted."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Other descriptions or arguments under the same name."""


class ModelCallStarted(_Event, frozen=True, tag="model_call_started"):
    """The model is asked."""

    call: int
    """The number of the call in its turn, from 1."""
    attempt: int
    """The number of the attempt at this call, from 1."""
    model: str
    """The session's; where a hook asks another, `provenance` of `ModelCallFinished` has it."""


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
    background: bool = False
    """Whether the call had gone on in the background; the transcript gets a notification."""


class ToolDetached(_Event, frozen=True, tag="tool_detached"):
    """A call goes on in the background; the model is told so in place of its result."""

    call_id: ToolCallId
    name: str


class ApprovalRequired(_Event, frozen=True, tag="approval_required"):
    """A call waits until someone says yes or no, or gives an answer."""

    approval_id: ApprovalId
    call_id: ToolCallId
    kind: str
    """What kind of permission: `tool.delete_file`, `filesystem.write`, …"""
    summary: str
    """What would be done, or what is asked, for people."""
    want: ApprovalKind = ApprovalKind.APPROVAL
    """A yes, data, or a login."""
    background: bool = False
    """Whether the call goes on in the background, so that no turn waits for it."""


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
    | InputWithdrawn
    | SettingsChanged
    | TurnStarted
    | TurnFinished
    | ItemsAppended
    | TranscriptRewritten
    | MutationStarted
    | MutationFinished
    | ToolCatalogChanged
    | ModelCallStarted
    | ContentDelta
    | ModelCallFinished
    | AttemptSuperseded
    | RetryScheduled
    | ToolCallRequested
    | ToolExecutionStarted
    | ToolProgress
    | ToolResultReceived
    | ToolDetached
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
    number: int | None = None
    """The kernel's own count of its events, from 1; None for the pieces of an answer that is
    being streamed and the progress of tools. An event that is told once more after a crash has
    the number that it had, so whoever must not take it twice can know it."""
