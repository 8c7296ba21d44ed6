"""Spans: what happened in a run, and when each of it began and ended.

    RunSpan                 one run of a session, from `run_started` on
      TurnSpan              a turn
        ModelCallSpan       one attempt at a model call
        ToolCallSpan        a tool call, from the request to its result
          RunSpan           the run of the agent that is this tool

A session that is left and continues later has several runs. Each run has spans of its own for what
was under way: `continues` says so. A background call may end after its turn.

`SpanTree` builds them; they change until they end, and nothing but the tree changes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    FinishReason,
    JsonValue,
    ModelOptions,
    Provenance,
    ProviderFailure,
    SessionId,
    ToolCallId,
    ToolFailure,
    ToolResult,
    TurnId,
    Usage,
    to_json,
)
from agentkit_core.values import StringEnum
from agentkit_loop import TurnResult
from agentkit_loop.events import ApprovalOutcome


class SpanStatus(StringEnum):
    """How a span ended, or that it has not."""

    RUNNING = "running"
    """It has not ended."""
    OK = "ok"
    """It was completed."""
    ERROR = "error"
    """It failed, or came to another end: a turn that reached a limit, a call that was denied."""
    CANCELLED = "cancelled"
    """The host stopped it, or it never began because something else came first."""
    PAUSED = "paused"
    """The session was left in an orderly way, or waits for a person, and may continue later."""
    UNFINISHED = "unfinished"
    """Nothing says how it ended: the record ends, or the process was killed."""


class Span(Struct, kw_only=True, eq=False):
    """Something that took time.

    Attributes:
        session_id: The session.
        turn_id: The turn; None for a run, and for what happened between turns.
        started_ms: When it began, in milliseconds since the Unix epoch. If its beginning was not
            reported here, when something of it was reported first.
        ended_ms: When it ended; None if it has not.
        status: How it ended.
        continues: Whether it began before what was reported here: in an earlier run, or unseen.
        parent: The span that contains it; None for a run that no tool call began.
        children: The spans that it contains, in the order in which they began.
    """

    session_id: SessionId
    started_ms: int
    turn_id: TurnId | None = None
    ended_ms: int | None = None
    status: SpanStatus = SpanStatus.RUNNING
    continues: bool = False
    parent: Span | None = None
    children: list[Span] = field(default_factory=list)

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self.ended_ms is not None

    @property
    def duration_ms(self) -> int | None:
        """How long it took, in milliseconds; None if it has not ended."""
        return None if self.ended_ms is None else self.ended_ms - self.started_ms

    def __repr__(self) -> str:
        # The fields refer to all other spans of the run.
        return f"<{type(self).__name__} {self.status} of {self.session_id!r}, {self.turn_id}>"

    def walk(self) -> Iterator[Span]:
        """Yield the span and all spans in it, each before its children."""
        waiting: list[Span] = [self]
        while waiting:
            span = waiting.pop()
            yield span
            waiting += reversed(span.children)


class RunSpan(Span, kw_only=True, eq=False):
    """A run of a session: until it is closed or left.

    It has the status of its last turn; without a turn, it is `ok`.

    Attributes:
        session_id: The session.
        turn_id: None.
        started_ms: When it began, as for `Span`.
        ended_ms: When it ended; None if it has not.
        status: How it ended.
        continues: Whether the session began in an earlier run, or unseen.
        parent: The tool call that the run answers; None if it answers none, or one that was not
            reported here.
        children: Its turns, and calls in the background that it took over from an earlier run.
        parent_session_id: The session of that tool call; None for a session of its own.
        parent_call_id: That call; None for a session of its own.
    """

    parent_session_id: SessionId | None = None
    parent_call_id: ToolCallId | None = None


class TurnSpan(Span, kw_only=True, eq=False):
    """A turn.

    Attributes:
        session_id: The session.
        turn_id: The turn.
        started_ms: When it began, as for `Span`.
        ended_ms: When it ended; None if it has not.
        status: `ok` if it was completed; `result` says why it was not.
        continues: Whether the turn began in an earlier run, or unseen.
        parent: The run.
        children: Its model calls and tool calls.
        result: What it came to; None if that was not reported.
    """

    result: TurnResult | None = None


class ModelCallSpan(Span, kw_only=True, eq=False):
    """One attempt at a model call.

    Attributes:
        session_id: The session.
        turn_id: The turn.
        started_ms: When it began, as for `Span`.
        ended_ms: When it ended; None if it has not.
        status: How it ended.
        continues: Whether its beginning was not reported here.
        parent: The turn.
        children: Empty.
        call: The number of the call in its turn, from 1.
        attempt: The number of the attempt at this call, from 1.
        model: The model that is called; if its beginning was not reported, the one that answered.
            None if nobody says.
        provider: The name of its provider; None if nobody says.
        options: The options of the request; None if they were not reported.
        first_delta_ms: When the first of the answer came, in milliseconds since the Unix epoch;
            None if nothing came, or the deltas were not reported.
        finish_reason: Why the answer ended; None until then.
        usage: What the attempt has used; None until it has ended.
        provenance: Which model answered; None if that is not known.
        failure: What went wrong; None if nothing did.
        is_superseded: Whether another attempt replaced what came of this one. This, and the wait,
            is reported after the attempt has ended.
        retry_wait_s: The wait before the next attempt, in seconds; None if there is none.
    """

    call: int
    attempt: int
    model: str | None = None
    provider: str | None = None
    options: ModelOptions | None = None
    first_delta_ms: int | None = None
    finish_reason: FinishReason | None = None
    usage: Usage | None = None
    provenance: Provenance | None = None
    failure: ProviderFailure | None = None
    is_superseded: bool = False
    retry_wait_s: float | None = None

    @property
    def time_to_first_delta_ms(self) -> int | None:
        """The time until the first of the answer came, in milliseconds; None if it is unknown."""
        if self.first_delta_ms is None or self.continues:
            return None
        return self.first_delta_ms - self.started_ms


class ApprovalWait(Struct, kw_only=True, eq=False):
    """A time in which a call waited for a person.

    Attributes:
        approval_id: The id of the request.
        since_ms: When it was asked for, in milliseconds since the Unix epoch; if that was not
            reported here, when it was resolved.
        request: What the person had to decide; None if that was not reported here.
        until_ms: When it was resolved; None if it was not.
        outcome: How it was resolved; None if it was not.
        is_patched: Whether the person changed the arguments of the call.
    """

    approval_id: ApprovalId
    since_ms: int
    request: ApprovalRequest | None = None
    until_ms: int | None = None
    outcome: ApprovalOutcome | None = None
    is_patched: bool = False


class ToolCallSpan(Span, kw_only=True, eq=False):
    """A tool call, from the model's request to its result.

    Attributes:
        session_id: The session.
        turn_id: The turn in which it was requested; None if that was not reported here.
        started_ms: When it was requested, as for `Span`.
        ended_ms: When its result came; None if none did. A call that was detached ends with its
            own result, not with the placeholder that the model gets.
        status: How it ended.
        continues: Whether its request was not reported here.
        parent: The turn; the run, for a background call that an earlier run began.
        children: The runs of the agent that is this tool.
        call_id: The call.
        name: The tool.
        requested_input: The arguments that the model gave; None if that was not reported here.
        input: The arguments that the tool ran with; None if it did not run.
        run_started_ms: When the tool began to run; None if it did not.
        progress_count: How often it reported its progress.
        last_progress: What it reported last; None if nothing.
        approvals: Its waits for a person, in order.
        is_background: Whether it went on in the background.
        result: Its result; None if it has none.
    """

    call_id: ToolCallId
    name: str
    requested_input: dict[str, JsonValue] | None = None
    input: dict[str, JsonValue] | None = None
    run_started_ms: int | None = None
    progress_count: int = 0
    last_progress: str | None = None
    approvals: list[ApprovalWait] = field(default_factory=list)
    is_background: bool = False
    result: ToolResult | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for a person."""
        return any(wait.until_ms is None for wait in self.approvals)

    @property
    def is_denied(self) -> bool:
        """Whether a policy or a person denied it."""
        return self.result is not None and self.result.failure is ToolFailure.PERMISSION_DENIED

    @property
    def result_bytes(self) -> int | None:
        """The size of its output, in bytes of JSON; None if it has no result."""
        return None if self.result is None else len(to_json(self.result.output))
