"""What a page shows of a run, as data: sessions, their turns, entries and tool calls."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentkit_core import (
    ApprovalRequest,
    Item,
    JsonValue,
    Part,
    SessionId,
    ToolCallId,
    ToolResult,
    TurnId,
)
from agentkit_core.provider import Delta, fold
from agentkit_loop import TurnResult
from agentkit_loop.events import ApprovalResolved
from agentkit_reporting._page._notices import Notice


@dataclass(slots=True, eq=False)
class CallRecord:
    """What happened to a tool call; None where the record says nothing."""

    turn_id: TurnId | None = None
    """The turn in which the model asked for it."""
    requested_at: int | None = None
    started_at: int | None = None
    ended_at: int | None = None
    input: dict[str, JsonValue] | None = None
    """The arguments that the tool ran with."""
    progress: list[str] = field(default_factory=list)
    approvals: list[tuple[ApprovalRequest, ApprovalResolved | None]] = field(default_factory=list)
    detached: bool = False
    result: ToolResult | None = None
    reply: ToolResult | None = None
    """The result in the transcript: for a call in the background, a placeholder."""
    sessions: list[SessionRecord] = field(default_factory=list)
    """The sessions of inner agents that this call began."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemEntry:
    """An item that was appended.

    Attributes:
        at: When, in milliseconds since the Unix epoch.
        item: The item.
        duration_ms: How long its model call took; None for other items.
    """

    at: int
    item: Item
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PartialAnswer:
    """What had come of an answer that is not in the transcript.

    Attributes:
        at: When it ended, in milliseconds since the Unix epoch.
        parts: Its parts so far; never empty.
        why: Why it is not in the transcript, for people.
    """

    at: int
    parts: tuple[Part, ...]
    why: str


Entry = ItemEntry | PartialAnswer | Notice


@dataclass(slots=True, eq=False)
class TurnRecord:
    """A turn, or what happened between two turns (`turn_id` is None)."""

    turn_id: TurnId | None
    started_at: int
    ended_at: int
    entries: list[Entry] = field(default_factory=list)
    result: TurnResult | None = None


@dataclass(slots=True, eq=False)
class SessionRecord:
    """A session: its turns in order, and its calls by id."""

    session_id: SessionId
    started_at: int
    ended_at: int
    parent: tuple[SessionId, ToolCallId | None] | None = None
    left: bool = False
    """Whether the session was left without being closed, to go on later."""
    turns: list[TurnRecord] = field(default_factory=list)
    turn_by_id: dict[TurnId, TurnRecord] = field(default_factory=dict)
    calls: dict[ToolCallId, CallRecord] = field(default_factory=dict)
    shown_calls: set[ToolCallId] = field(default_factory=set)
    """The calls that are in an assistant item of this record."""
    revision: int = 0
    deltas: list[Delta] = field(default_factory=list)
    """What has come of the answer that is being received."""
    call_began_at: int | None = None
    call_took_ms: int | None = None

    def call(self, call_id: ToolCallId) -> CallRecord:
        """Return what is known of a call; a new one if nothing is."""
        record = self.calls.get(call_id)
        if record is None:
            record = self.calls[call_id] = CallRecord()
        return record

    def unfinished_parts(self) -> tuple[Part, ...]:
        """Return the parts of an answer that is not in the transcript yet, or never came there."""
        return fold(self.deltas, strict=False, cut=True) if self.deltas else ()
