"""The union of all events, and the envelope in which reporters get them."""

from __future__ import annotations

from agentkit_core import SessionId, TurnId
from agentkit_core.values import Record
from agentkit_loop.events._model_calls import (
    AttemptSuperseded,
    ContentDelta,
    ModelCallFinished,
    ModelCallStarted,
    RetryScheduled,
    ToolCatalogChanged,
)
from agentkit_loop.events._sessions import (
    Diagnostic,
    InputQueued,
    InputRejected,
    InputWithdrawn,
    ItemsAppended,
    MutationFinished,
    MutationStarted,
    RunFinished,
    RunStarted,
    RunSuspended,
    SettingsChanged,
    TranscriptRewritten,
    TurnFinished,
    TurnStarted,
)
from agentkit_loop.events._tool_calls import (
    ApprovalRequired,
    ApprovalResolved,
    ToolCallRequested,
    ToolDetached,
    ToolExecutionStarted,
    ToolProgress,
    ToolResultReceived,
)

Event = (
    RunStarted
    | RunFinished
    | RunSuspended
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
"""Anything that a run reports."""


class Envelope(Record, frozen=True, kw_only=True, omit_defaults=True):
    """An event, with when and where it happened.

    Attributes:
        seq: The number of the envelope in its session, from 1, without gaps. A session that goes on
            from a store counts on from what was saved, so numbers after that come once more.
        session_id: The session.
        at: When, in milliseconds since the Unix epoch; never goes back within a session.
        event: What happened.
        turn_id: The turn that it belongs to; None between turns.
        number: The event's sequence number in the session, from 1, which the kernel gives. None for
            deltas and the progress of tools. An event that is reported again after a crash has the
            same number, so a reporter can skip events that it has had.
    """

    seq: int
    session_id: SessionId
    at: int
    event: Event
    turn_id: TurnId | None = None
    number: int | None = None
