"""Events of tool calls: requests, runs, results, approvals."""

from __future__ import annotations

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    JsonValue,
    ToolCall,
    ToolCallId,
    ToolResult,
)
from agentkit_core.values import StringEnum
from agentkit_loop.events._event import EventRecord


class ToolCallRequested(EventRecord, frozen=True, tag="tool_call_requested"):
    """The model calls a tool.

    Attributes:
        call: The call, as it is in the transcript.
    """

    call: ToolCall


class ToolExecutionStarted(EventRecord, frozen=True, tag="tool_execution_started"):
    """A tool begins to run.

    Attributes:
        call_id: The call.
        name: The tool.
        input: The arguments that it runs with; a hook or a person may have changed the model's.
    """

    call_id: ToolCallId
    name: str
    input: dict[str, JsonValue]


class ToolProgress(EventRecord, frozen=True, tag="tool_progress"):
    """A running tool reports its progress.

    Attributes:
        call_id: The call.
        message: The progress, for people, one line.
        data: The same for programs; None if there is nothing more.
    """

    call_id: ToolCallId
    message: str
    data: JsonValue = None


class ToolResultReceived(EventRecord, frozen=True, kw_only=True, tag="tool_result_received"):
    """A call has its result: the tool's own, or one that says why there is none.

    Attributes:
        call_id: The call.
        name: The tool.
        result: The result.
        background: Whether the call ran in the background; the transcript gets a notification
            instead of the result.
    """

    call_id: ToolCallId
    name: str
    result: ToolResult
    background: bool = False


class ToolDetached(EventRecord, frozen=True, tag="tool_detached"):
    """A call goes on in the background; the model gets a placeholder as its result.

    Attributes:
        call_id: The call.
        name: The tool.
    """

    call_id: ToolCallId
    name: str


class ApprovalRequired(EventRecord, frozen=True, tag="approval_required"):
    """A call waits for a person: for a yes or no, for an answer, or for a login.

    Attributes:
        request: What the person has to decide, and the call that waits.
        background: Whether the call runs in the background, so that no turn waits for it.
    """

    request: ApprovalRequest
    background: bool = False


class ApprovalOutcome(StringEnum):
    """How an approval request was resolved."""

    APPROVED = "approved"
    """A person approved it, or answered."""
    DENIED = "denied"
    """A person denied it."""
    WITHDRAWN = "withdrawn"
    """Nobody has to decide any more."""


class ApprovalResolved(EventRecord, frozen=True, kw_only=True, tag="approval_resolved"):
    """A call no longer waits for an approval.

    Attributes:
        approval_id: The id of the request.
        call_id: The call.
        outcome: How it was resolved.
        patched: Whether the person changed the arguments of the call.
    """

    approval_id: ApprovalId
    call_id: ToolCallId
    outcome: ApprovalOutcome
    patched: bool = False
