"""One session of a view: what is under way in it, and what its events show."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from agentkit_core import ApprovalId, SessionId, ToolCall, ToolCallId
from agentkit_loop import TurnEnd
from agentkit_loop.events import (
    ApprovalOutcome,
    ApprovalRequired,
    ApprovalResolved,
    AttemptSuperseded,
    ContentDelta,
    Diagnostic,
    Envelope,
    InputRejected,
    ModelCallFinished,
    ModelCallStarted,
    MutationFinished,
    MutationOutcome,
    RetryScheduled,
    RunSuspended,
    ToolCallRequested,
    ToolDetached,
    ToolExecutionStarted,
    ToolProgress,
    ToolResultReceived,
    TranscriptRewritten,
    TurnFinished,
    TurnStarted,
)
from agentkit_reporting._format import brief, describe_usage
from agentkit_reporting._open_requests import OpenRequests
from agentkit_reporting._terminal_view._answer import GrowingAnswer
from agentkit_reporting._terminal_view._calls import ShownCall, show_request
from agentkit_reporting._terminal_view._screen import Column

_WIDTH: Final = 400


class SessionView:
    """A session that is shown.

    Attributes:
        session_id: The session.
        column: Where its lines go.
        depth: How many calls of agents are around it.
        is_working: Whether a turn runs.
        model: The model that was called last; empty before the first call.
        context_tokens: How much of the context window the last model call has used; None if its
            provider did not say.
        calls: The calls that have no result yet.
    """

    def __init__(
        self,
        session_id: SessionId,
        column: Column,
        requests: OpenRequests,
        *,
        depth: int,
        show_reasoning: bool,
    ) -> None:
        self.session_id = session_id
        self.column = column
        self.depth = depth
        self.is_working = False
        self.model = ""
        self.context_tokens: int | None = None
        self.calls: dict[ToolCallId, ShownCall] = {}
        self._answer = GrowingAnswer(column, show_reasoning=show_reasoning)
        self._requests = requests
        self._answered: set[ApprovalId] = set()

    def take(self, envelope: Envelope, *, show_usage: bool) -> None:
        """Show one event."""
        event = envelope.event
        match event:
            case ContentDelta(deltas=deltas):
                self._answer.take(deltas)
            case TurnStarted():
                self.is_working = True
            case ModelCallStarted(model=model):
                self.model = brief(model, _WIDTH)
            case ModelCallFinished():
                self._answer.end()
                self._note_context(event)
            case AttemptSuperseded():
                self._warn("the answer so far is discarded")
            case RetryScheduled(failure=failure, wait_s=wait_s):
                self._warn(f"{failure.describe()}; trying again in {wait_s:.1f} s")
            case ToolCallRequested(call=call):
                self.calls[call.id] = ShownCall(call, envelope.at)
            case ToolExecutionStarted():
                self._call(event.call_id, event.name, envelope.at).input = event.input
            case ToolProgress():
                self._call(event.call_id, event.call_id, envelope.at).progress = event.message
            case ToolResultReceived():
                shown = self._call(event.call_id, event.name, envelope.at)
                del self.calls[event.call_id]
                shown.finish(self.column, event.result, envelope.at, background=event.background)
            case ToolDetached(name=name):
                self._note(f"{name} continues in the background")
            case MutationFinished(outcome=MutationOutcome.ROLLED_BACK, reason=reason):
                self._warn(f"the transcript was not changed: {reason}")
            case TranscriptRewritten(items=items):
                self._note(f"the transcript was rewritten: {len(items)} items")
            case ApprovalRequired():
                self._ask(event)
            case ApprovalResolved():
                self._resolve(event)
            case InputRejected(reason=reason):
                self._warn(f"not accepted: {reason}")
            case Diagnostic(message=message):
                self._warn(message)
            case TurnFinished():
                self._end_turn(event, show_usage=show_usage)
            case RunSuspended():
                self.leave()
            case _:
                pass

    def leave(self) -> None:
        """End what is shown of the session's work; it may go on later."""
        self._answer.end()
        self.is_working = False
        self.calls.clear()

    def answered_here(self, approval_id: ApprovalId) -> None:
        """Note that a person has answered in this terminal, where the answer can be seen."""
        self._answered.add(approval_id)

    def has_asked(self, approval_id: ApprovalId) -> bool:
        """Whether a request is shown that nobody has answered."""
        return self._requests.is_open(self.session_id, approval_id)

    def live(self, spinner: str, now_ms: int, most: int) -> list[str]:
        """Return the lines that may still change, at most about so many."""
        lines = self._answer.live(spinner)
        running = [call for call in self.calls.values() if not call.is_waiting]
        for call in running[-most:]:
            lines += call.live(self.column, spinner, now_ms)
        return lines

    def _call(self, call_id: ToolCallId, name: str, at_ms: int) -> ShownCall:
        """Return a call; one that was requested before this view saw the session begins."""
        if call_id not in self.calls:
            self.calls[call_id] = ShownCall(ToolCall(call_id, name), at_ms)
        return self.calls[call_id]

    def _note_context(self, event: ModelCallFinished) -> None:
        tokens = event.usage.tokens
        if tokens.prompt is not None:
            self.context_tokens = tokens.prompt + (tokens.output or 0)

    def _ask(self, event: ApprovalRequired) -> None:
        request = event.request
        call = self.calls.get(request.call.id)
        if not self._requests.add(request):
            if call is not None:
                call.is_waiting = True
            return
        edit = show_request(self.column, request)
        if call is not None:
            call.is_waiting, call.edit = True, edit

    def _resolve(self, event: ApprovalResolved) -> None:
        summary = self._requests.resolve(event)
        if event.call_id in self.calls:
            self.calls[event.call_id].is_waiting = False
        if event.approval_id in self._answered:
            self._answered.discard(event.approval_id)
            return
        if summary is None:
            return
        changed = ", arguments changed" if event.patched else ""
        which = f": {brief(summary, _WIDTH)}" if summary else ""
        style = "yellow" if event.outcome is ApprovalOutcome.APPROVED else "bold yellow"
        text = Text(f"{event.outcome.value}{changed}{which}", style)
        self.column.add(text, sign=Text("?", style))

    def _end_turn(self, event: TurnFinished, *, show_usage: bool) -> None:
        self._answer.end()
        self.is_working = False
        result = event.result
        if result.end is not TurnEnd.COMPLETED:
            self._warn(result.describe_end())
        if show_usage and not self.depth:
            self.column.gap()
            self.column.add(Text(f"[{describe_usage(result.usage)}]", "dim"))

    def _note(self, text: str) -> None:
        self.column.gap()
        self.column.add(Text(brief(text, _WIDTH), "dim"))

    def _warn(self, text: str) -> None:
        self.column.gap()
        self.column.add(Text(brief(text, _WIDTH), "red"), sign=Text("!", "bold red"))
