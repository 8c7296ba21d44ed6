"""Collects the events of a run into what a page shows of it.

Keeps items, calls and notices; deltas only until their answer is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from agentkit_core import Item, ItemKind, Part, SessionId
from agentkit_loop.events import (
    ApprovalRequired,
    ApprovalResolved,
    AttemptSuperseded,
    ContentDelta,
    Envelope,
    ItemsAppended,
    ModelCallFinished,
    ModelCallStarted,
    RunStarted,
    RunSuspended,
    ToolCallRequested,
    ToolDetached,
    ToolExecutionStarted,
    ToolProgress,
    ToolResultReceived,
    TranscriptRewritten,
    TurnFinished,
)
from agentkit_reporting._page._notices import notice_of
from agentkit_reporting._page._sessions import (
    ItemEntry,
    PartialAnswer,
    SessionRecord,
    TurnRecord,
)

_MOST_PROGRESS: Final = 200
"""Messages of progress that are kept of one call; of more, the first are dropped."""


class RunRecord:
    """Collects the events of a run, and of the inner agents that it began."""

    def __init__(self) -> None:
        self.sessions: dict[SessionId, SessionRecord] = {}
        self._take: dict[type[Any], Callable[[SessionRecord, TurnRecord, int, Any], None]] = {
            RunStarted: _start_run,
            RunSuspended: _suspend_run,
            TurnFinished: _finish_turn,
            ItemsAppended: _append_items,
            ModelCallStarted: _start_model_call,
            ModelCallFinished: _finish_model_call,
            AttemptSuperseded: _supersede_attempt,
            ToolCallRequested: _request_call,
            ToolExecutionStarted: _start_call,
            ToolProgress: _note_progress,
            ToolResultReceived: _finish_call,
            ToolDetached: _detach_call,
            ApprovalRequired: _require_approval,
            ApprovalResolved: _resolve_approval,
        }

    @property
    def ended_at(self) -> int:
        """The time of the last event, in milliseconds since the Unix epoch; 0 before the first."""
        return max((session.ended_at for session in self.sessions.values()), default=0)

    def add(self, envelope: Envelope) -> None:
        """Take one event."""
        session = self.sessions.get(envelope.session_id)
        if session is None:
            session = SessionRecord(envelope.session_id, envelope.at, envelope.at)
            self.sessions[envelope.session_id] = session
        event = envelope.event
        if type(event) is ContentDelta:
            session.deltas += event.deltas
            return
        if isinstance(event, ItemsAppended | TranscriptRewritten):
            if envelope.number is None and event.revision <= session.revision:
                return  # reported again, in a record without numbers
            session.revision = event.revision
        session.ended_at = max(session.ended_at, envelope.at)
        turn = _turn_of(session, envelope)
        take = self._take.get(type(event))
        if take is not None:
            take(session, turn, envelope.at, event)
        notice = notice_of(envelope.at, event)
        if notice is not None:
            turn.entries.append(notice)
        if type(event) is RunStarted and session.parent is not None:
            self._place(session)

    def roots(self) -> list[SessionRecord]:
        """Return the sessions that no call of this record began, in order."""
        return [session for session in self.sessions.values() if not self._outer_of(session)]

    def _place(self, session: SessionRecord) -> None:
        """Put an inner session below the call that began it, once."""
        outer = self._outer_of(session)
        call_id = session.parent[1] if session.parent else None
        if outer is not None and call_id is not None:
            inner = outer.call(call_id).sessions
            if all(other is not session for other in inner):
                inner.append(session)

    def _outer_of(self, session: SessionRecord) -> SessionRecord | None:
        if session.parent is None or session.parent[1] is None:
            return None
        outer = self.sessions.get(session.parent[0])
        # A record may name sessions in a circle; one that is its own ancestor has no parent.
        above, seen = outer, {session.session_id}
        while above is not None:
            if above.session_id in seen:
                return None
            seen.add(above.session_id)
            above = self.sessions.get(above.parent[0]) if above.parent else None
        return outer


def _turn_of(session: SessionRecord, envelope: Envelope) -> TurnRecord:
    turn_id = envelope.turn_id
    last = session.turns[-1] if session.turns else None
    turn = last if last is not None and last.turn_id == turn_id else None
    if turn is None and turn_id is not None:
        turn = session.turn_by_id.get(turn_id)  # what belongs to no turn may come in between
    if turn is None:
        turn = TurnRecord(turn_id, envelope.at, envelope.at)
        session.turns.append(turn)
        if turn_id is not None:
            session.turn_by_id[turn_id] = turn
    turn.ended_at = max(turn.ended_at, envelope.at)
    return turn


def _start_run(session: SessionRecord, _: TurnRecord, at: int, event: RunStarted) -> None:
    session.left = False
    if not event.resumed:
        session.revision = 0
    if event.parent_session_id is not None:
        session.parent = (event.parent_session_id, event.parent_call_id)


def _suspend_run(session: SessionRecord, _: TurnRecord, at: int, event: RunSuspended) -> None:
    session.left = True


def _finish_turn(session: SessionRecord, turn: TurnRecord, at: int, event: TurnFinished) -> None:
    turn.result = event.result
    partial = event.result.partial
    parts = partial.parts if partial is not None else session.unfinished_parts()
    session.deltas.clear()
    _keep_partial(turn, at, parts, "It is not part of the conversation.")


def _append_items(session: SessionRecord, turn: TurnRecord, at: int, event: ItemsAppended) -> None:
    for item in event.items:
        took_ms = None
        if item.kind is ItemKind.ASSISTANT:
            took_ms, session.call_took_ms = session.call_took_ms, None
            session.deltas.clear()
        turn.entries.append(ItemEntry(at, item, took_ms))
    _link_calls(session, event.items)


def _link_calls(session: SessionRecord, items: Iterable[Item]) -> None:
    for item in items:
        session.shown_calls.update(call.id for call in item.tool_calls)
        for result in item.tool_results:
            session.call(result.call_id).reply = result


def _start_model_call(
    session: SessionRecord, _: TurnRecord, at: int, event: ModelCallStarted
) -> None:
    session.deltas.clear()
    session.call_began_at = at


def _finish_model_call(
    session: SessionRecord, _: TurnRecord, at: int, event: ModelCallFinished
) -> None:
    if session.call_began_at is not None:
        session.call_took_ms = at - session.call_began_at
    session.call_began_at = None


def _supersede_attempt(
    session: SessionRecord, turn: TurnRecord, at: int, event: AttemptSuperseded
) -> None:
    parts = session.unfinished_parts()
    session.deltas.clear()
    _keep_partial(turn, at, parts, f"Attempt {event.attempt} failed; another one replaced it.")


def _keep_partial(turn: TurnRecord, at: int, parts: tuple[Part, ...], why: str) -> None:
    last = turn.entries[-1] if turn.entries else None
    if parts and not (isinstance(last, ItemEntry) and last.item.parts == parts):
        turn.entries.append(PartialAnswer(at, parts, why))


def _request_call(
    session: SessionRecord, turn: TurnRecord, at: int, event: ToolCallRequested
) -> None:
    call = session.call(event.call.id)
    call.requested_at, call.turn_id = at, turn.turn_id


def _start_call(
    session: SessionRecord, _: TurnRecord, at: int, event: ToolExecutionStarted
) -> None:
    call = session.call(event.call_id)
    if call.started_at is None:
        call.started_at = at  # a call that asked is started again when it has its answer
    call.input = event.input


def _note_progress(session: SessionRecord, _: TurnRecord, at: int, event: ToolProgress) -> None:
    progress = session.call(event.call_id).progress
    progress.append(event.message)
    if len(progress) > 2 * _MOST_PROGRESS:
        del progress[:-_MOST_PROGRESS]


def _finish_call(session: SessionRecord, _: TurnRecord, at: int, event: ToolResultReceived) -> None:
    call = session.call(event.call_id)
    call.result, call.ended_at = event.result, at


def _detach_call(session: SessionRecord, _: TurnRecord, at: int, event: ToolDetached) -> None:
    session.call(event.call_id).detached = True


def _require_approval(
    session: SessionRecord, _: TurnRecord, at: int, event: ApprovalRequired
) -> None:
    call = session.call(event.request.call.id)
    if not any(request.id == event.request.id and not end for request, end in call.approvals):
        call.approvals.append((event.request, None))


def _resolve_approval(
    session: SessionRecord, _: TurnRecord, at: int, event: ApprovalResolved
) -> None:
    approvals = session.call(event.call_id).approvals
    for index, (request, end) in enumerate(approvals):
        if request.id == event.approval_id and end is None:
            approvals[index] = (request, event)
