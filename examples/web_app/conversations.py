"""Sessions that several processes serve: who works on one, and what browsers are told of it.

Everything that must survive is in one folder: the sessions in a store, and beside it the record of
each session, one event a line. A process that serves a browser reads the record, and so it does
not matter which process works on the session.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup, TaskStatus

from agentkit_core import ApprovalId, ApprovalRequest, Item, SessionId, Text
from agentkit_core.provider import AppendText, BeginPart, Delta, PartId
from agentkit_loop import (
    Agent,
    AwaitingInput,
    Session,
    SessionClosed,
    StoredSession,
    WaitingForApproval,
    read_session,
)
from agentkit_loop.events import (
    ApprovalRequired,
    ApprovalResolved,
    ContentDelta,
    Envelope,
    ItemsAppended,
    ModelCallStarted,
    TurnFinished,
    TurnStarted,
)
from agentkit_loop.ports import Reporter
from agentkit_loop.stores import FileStore, SessionInUse
from agentkit_reporting import JsonlReporter, TranscriptReporter
from agentkit_reporting.replay import read_record

Message = dict[str, Any]
"""What a browser is told, as JSON; its `type` says what it is."""

_log: Final = logging.getLogger("web_app")
_PATIENCE_S: Final = 0.5
_POLL_S: Final = 0.05


class NoSuchSession(Exception):
    """Nothing has been said in this session yet."""


class Conversations:
    """The sessions in a folder. Each process that serves them has one of these."""

    def __init__(
        self, make_agent: Callable[[Reporter], Agent], folder: Path, tasks: TaskGroup
    ) -> None:
        """Serve the sessions of a folder.

        Args:
            make_agent: Makes an agent that tells a reporter what happens.
            folder: Where sessions and records are kept; it is made if it is missing.
            tasks: Where turns run: they go on when the request that began them is answered.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._make_agent = make_agent
        self._folder = folder
        self._tasks = tasks
        self._store = FileStore(folder / "sessions")
        self._sessions: set[Session] = set()
        """Those on which this process works."""

    async def prompt(self, name: SessionId, text: str) -> None:
        """Begin a turn; return when the prompt is saved.

        Raises:
            SessionInUse: A turn runs, in this process or in another one.
        """
        await self._work(name, lambda session: session.submit(text))

    async def decide(self, name: SessionId, approval_id: ApprovalId, *, yes: bool) -> None:
        """Answer an approval, and go on with the turn; return when the answer is saved.

        Raises:
            SessionInUse: Other calls of the turn still run.
            UnknownApproval: Nobody waits for it, or somebody else was quicker.
            NoSuchSession: There is no such session.
        """
        await self.read(name)

        def begin(session: Session) -> None:
            if yes:
                session.approve(approval_id)
            else:
                session.deny(approval_id, reason="The person said no.")

        await self._work(name, begin)

    async def go_on(self, name: SessionId) -> None:
        """Go on with a turn that a process left behind; see `prompt`."""
        await self.read(name)
        await self._work(name, lambda session: None)

    async def cancel(self, name: SessionId) -> None:
        """Cancel the turn that is under way, wherever it runs."""
        await self.read(name)
        try:
            await self._work(name, Session.cancel, patience_s=0)
        except SessionInUse:  # the process that works on it looks for this file
            self._path(name, "cancel").touch()

    async def read(self, name: SessionId) -> StoredSession:
        """Read a session as it was saved last, without disturbing whoever works on it."""
        stored = await read_session(self._store, name)
        if stored is None:
            raise NoSuchSession(name)
        return stored

    async def state(self, name: SessionId) -> Message:
        """Describe a session for a page that is loaded.

        `event` is the number of the last event that `items` contains: `events` goes on after it.
        """
        stored = await read_session(self._store, name)
        feed, transcript, last = Feed(), TranscriptReporter(), 0
        path = self._path(name, "jsonl")
        record = path.read_bytes() if path.exists() else b""
        for number, envelope in numbered(record.split(b"\n")[:-1], 1):
            before = transcript.revision
            transcript(envelope)
            feed.take(envelope)
            if transcript.revision != before or isinstance(envelope.event, TurnFinished):
                last = number
        waiting = () if stored is None else stored.pending_approvals
        return {
            "items": [shown_item(item) for item in transcript.items],
            "event": last,
            "waiting": [shown_approval(request) for request in waiting],
            "running": stored is not None and stored.is_running,
        }

    async def events(self, name: SessionId, after: int) -> AsyncIterator[tuple[int, Message]]:
        """Follow a session: what browsers are told after an event, and what comes from now on.

        Yields:
            The number of the event in the session's record, from 1, and what it means.
        """
        feed, number, rest = Feed(), 0, b""
        path = self._path(name, "jsonl")
        while not path.exists():
            await anyio.sleep(_POLL_S)
        with path.open("rb") as file:
            while True:
                # A small file beside the process; a database would have a query here.
                *lines, rest = (rest + file.read()).split(b"\n")
                for at, envelope in numbered(lines, number + 1):
                    message = feed.take(envelope)
                    if message is not None and at > after:
                        yield at, message
                number += len(lines)
                if not lines:
                    await anyio.sleep(_POLL_S)

    async def leave(self) -> None:
        """Leave all sessions as they stand, so that another process can go on with them.

        To cancel the tasks that work on them would cancel their turns.
        """
        for session in list(self._sessions):
            await session.suspend()

    async def _work(
        self,
        name: SessionId,
        begin: Callable[[Session], None],
        *,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        """Open a session, begin something, and let it go on in a task of its own."""
        deadline = anyio.current_time() + patience_s
        while True:
            try:
                await self._tasks.start(self._run, name, begin)
            except SessionInUse:  # it may be about to be left
                if anyio.current_time() > deadline:
                    raise
                await anyio.sleep(_POLL_S)
            else:
                return

    async def _run(
        self,
        name: SessionId,
        begin: Callable[[Session], None],
        *,
        task_status: TaskStatus[None],
    ) -> None:
        """Work on a session until the turn is over or a person has to decide."""
        begun = False
        try:
            with JsonlReporter(self._path(name, "jsonl")) as record:
                agent = self._make_agent(record)
                async with agent.session(session_id=name, store=self._store) as session:
                    self._path(name, "cancel").unlink(missing_ok=True)
                    begin(session)
                    await session.flush()
                    begun = True
                    task_status.started()
                    await self._work_on(session)
        except Exception:
            if not begun:
                raise  # to the request
            _log.exception("the work on session %s has failed", name)

    async def _work_on(self, session: Session) -> None:
        self._sessions.add(session)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._cancel_when_told, session)
                with suppress(SessionClosed):  # by `leave`
                    while not isinstance(await session.next(), (WaitingForApproval, AwaitingInput)):
                        pass
                tasks.cancel_scope.cancel()
        finally:
            self._sessions.discard(session)

    async def _cancel_when_told(self, session: Session) -> None:
        path = self._path(session.id, "cancel")
        while True:
            await anyio.sleep(_POLL_S)
            if path.exists():
                path.unlink(missing_ok=True)
                session.cancel()

    def _path(self, name: SessionId, kind: str) -> Path:
        return self._folder / f"{name}.{kind}"


class Feed:
    """Turns the events of a record into messages for browsers."""

    def __init__(self) -> None:
        self._last = 0
        self._hidden: set[PartId] = set()
        """Parts of the answer that are no text: reasoning, arguments of calls."""

    def take(self, envelope: Envelope) -> Message | None:
        """Return what browsers are told of the next event of the record, if anything."""
        if envelope.number is not None:
            if envelope.number <= self._last:
                return None  # reported again after a crash
            self._last = envelope.number
        match envelope.event:
            case TurnStarted():
                return {"type": "turn"}
            case ModelCallStarted():
                self._hidden.clear()
                return {"type": "answer"}  # a new one: what has come of the last attempt is void
            case ContentDelta(deltas=deltas):
                text = "".join(self._text_in(delta) for delta in deltas)
                return {"type": "text", "text": text} if text else None
            case ItemsAppended(items=items):
                return {"type": "items", "items": [shown_item(item) for item in items]}
            case ApprovalRequired(request=request):
                return {"type": "approval", **shown_approval(request)}
            case ApprovalResolved(approval_id=approval_id, outcome=outcome):
                return {"type": "resolved", "id": approval_id, "outcome": outcome}
            case TurnFinished(result=result):
                return {"type": "end", "end": result.end, "why": result.describe_end()}
        return None

    def _text_in(self, delta: Delta) -> str:
        match delta:
            case BeginPart(part_id=part_id, part=part):
                if isinstance(part, Text):
                    return part.text
                self._hidden.add(part_id)
            case AppendText(part_id=part_id, chunk=chunk) if part_id not in self._hidden:
                return chunk
        return ""


def numbered(lines: Iterable[bytes], first: int) -> Iterator[tuple[int, Envelope]]:
    """Read lines of a record, and number them; what cannot be read has a number as well."""
    for number, line in enumerate(lines, start=first):
        for envelope in read_record([line], on_problem=_ignore):
            yield number, envelope


def shown_item(item: Item) -> Message:
    """Describe an item of a transcript."""
    return {
        "kind": item.kind,
        "text": item.text,
        "calls": [{"name": call.name, "input": call.input} for call in item.tool_calls],
        "results": [
            {"text": result.text, "failed": result.is_error} for result in item.tool_results
        ],
    }


def shown_approval(request: ApprovalRequest) -> Message:
    """Describe what a person has to decide."""
    return {"id": request.id, "summary": request.summary, "input": request.call.input}


def _ignore(problem: object) -> None:
    """A process that was killed leaves gaps and half lines; the store has what counts."""
