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
    ApprovalRequest,
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
from agentkit_core.provider import Delta
from agentkit_loop._result import TurnResult


class _Event(Struct, frozen=True, omit_defaults=True, tag_field="type"):
    pass


class RunStarted(_Event, frozen=True, tag="run_started"):
    """A session has begun, or goes on after it was resumed."""

    resumed: bool = False


class RunFinished(_Event, frozen=True, tag="run_finished"):
    """The session is closed; nothing follows."""


class InputQueued(_Event, frozen=True, tag="input_queued"):
    """The host's input was accepted; it reaches the transcript at the next safe point.

    Attributes:
        lane: `next` for the next turn, `steer` for the running one.
    """

    items: tuple[Item, ...]
    lane: str


class InputRejected(_Event, frozen=True, tag="input_rejected"):
    """The host's input was not accepted; nothing changed."""

    reason: str


class InputWithdrawn(_Event, frozen=True, tag="input_withdrawn"):
    """Queued input was taken back before it reached the transcript."""

    items: tuple[Item, ...]
    lane: str


class SettingsChanged(_Event, frozen=True, tag="settings_changed"):
    """The host changed what applies from the next model call on.

    Attributes:
        model: The model's id from now on.
    """

    model: str
    options: ModelOptions


class TurnStarted(_Event, frozen=True, tag="turn_started"):
    """A turn has begun."""


class TurnFinished(_Event, frozen=True, tag="turn_finished"):
    """A turn is over, however it ended."""

    result: TurnResult


class ItemsAppended(_Event, frozen=True, tag="items_appended"):
    """Items were appended to the transcript.

    Attributes:
        revision: The transcript's revision after it; grows by one with every change.
    """

    items: tuple[Item, ...]
    revision: int


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
    """The mutators are done; `transcript_rewritten` comes before it where they changed it.

    Attributes:
        mutators: The names of those that changed something, in order.
        reason: Why it was rolled back.
    """

    outcome: MutationOutcome
    mutators: tuple[str, ...] = ()
    reason: str | None = None


class ToolCatalogChanged(_Event, frozen=True, tag="tool_catalog_changed"):
    """The model is offered other tools than with the last call; names, sorted.

    Attributes:
        changed: Other descriptions or arguments under the same name.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class ModelCallStarted(_Event, frozen=True, tag="model_call_started"):
    """The model is asked.

    Attributes:
        call: The number of the call in its turn, from 1.
        attempt: The number of the attempt at this call, from 1.
        model: The session's; where a hook asks another, `provenance` of `ModelCallFinished` has it.
    """

    call: int
    attempt: int
    model: str


class ContentDelta(_Event, frozen=True, tag="content_delta"):
    """The answer has grown: the deltas of one network read, in order."""

    deltas: tuple[Delta, ...]


class ModelCallFinished(_Event, frozen=True, tag="model_call_finished"):
    """An attempt at a model call is over: answered, failed or cancelled.

    Attributes:
        failure: What went wrong; None when it was answered.
    """

    call: int
    attempt: int
    finish_reason: FinishReason
    usage: Usage
    provenance: Provenance | None = None
    failure: ProviderFailure | None = None


class AttemptSuperseded(_Event, frozen=True, tag="attempt_superseded"):
    """What was shown of a failed attempt does not count; another attempt starts afresh."""

    call: int
    attempt: int


class RetryScheduled(_Event, frozen=True, tag="retry_scheduled"):
    """The model will be asked again after a while.

    Attributes:
        attempt: The attempt that failed.
    """

    call: int
    attempt: int
    wait_s: float
    failure: ProviderFailure


class ToolCallRequested(_Event, frozen=True, tag="tool_call_requested"):
    """The model asks for a tool."""

    call: ToolCall


class ToolExecutionStarted(_Event, frozen=True, tag="tool_execution_started"):
    """A tool begins to run.

    Attributes:
        input: What it runs with; a host may have changed what the model asked for.
    """

    call_id: ToolCallId
    name: str
    input: dict[str, JsonValue]


class ToolProgress(_Event, frozen=True, tag="tool_progress"):
    """A running tool reports how far it is."""

    call_id: ToolCallId
    message: str
    data: JsonValue = None


class ToolResultReceived(_Event, frozen=True, tag="tool_result_received"):
    """A call has its result: the tool's, or why there is none.

    Attributes:
        background: Whether the call had gone on in the background; the transcript gets a
            notification.
    """

    call_id: ToolCallId
    name: str
    result: ToolResult
    background: bool = False


class ToolDetached(_Event, frozen=True, tag="tool_detached"):
    """A call goes on in the background; the model is told so in place of its result."""

    call_id: ToolCallId
    name: str


class ApprovalRequired(_Event, frozen=True, tag="approval_required"):
    """A call waits for a person: for a yes or no, for an answer, or for a login.

    Attributes:
        request: What the person has to decide, and the call that waits.
        background: Whether the call runs in the background, so that no turn waits for it.
    """

    request: ApprovalRequest
    background: bool = False


class ApprovalOutcome(StrEnum):
    """How an approval was resolved."""

    APPROVED = "approved"
    DENIED = "denied"
    WITHDRAWN = "withdrawn"
    """Nobody has to answer any more."""


class ApprovalResolved(_Event, frozen=True, tag="approval_resolved"):
    """A call no longer waits for this approval.

    Attributes:
        patched: Whether the arguments were changed by whoever approved.
    """

    approval_id: ApprovalId
    call_id: ToolCallId
    outcome: ApprovalOutcome
    patched: bool = False


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
    """An event with when and where it happened.

    Attributes:
        seq: From 1, without gaps, per session.
        at: Milliseconds since the Unix epoch; never goes back within a session.
        turn_id: The turn it belongs to; None between turns.
        number: The kernel's own count of its events, from 1; None for the pieces of an answer that
            is being streamed and the progress of tools. An event that is told once more after a
            crash has the number that it had, so whoever must not take it twice can know it.
    """

    seq: int
    session_id: SessionId
    at: int
    event: Event
    turn_id: TurnId | None = None
    number: int | None = None
