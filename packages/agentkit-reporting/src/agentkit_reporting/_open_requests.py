"""Which requests wait for a person, so that each is shown once.

When the agent of a tool stops for a person, the call around it asks for the same in its own
session.
"""

from __future__ import annotations

from agentkit_core import ApprovalId, ApprovalRequest, SessionId, ToolCallId
from agentkit_loop.events import ApprovalResolved, RunStarted

_Call = tuple[SessionId, ToolCallId]


class OpenRequests:
    """The requests of any number of sessions.

    Attributes:
        session_id: The session whose events come next.
    """

    __slots__ = ("_asked_inside", "_open", "_parents", "session_id")

    def __init__(self) -> None:
        self.session_id = SessionId("")
        self._open: dict[tuple[SessionId, ApprovalId], str] = {}
        """Their summaries."""
        self._parents: dict[SessionId, _Call] = {}
        self._asked_inside: dict[_Call, set[str]] = {}
        """The summaries of what was shown of agents within calls, as those calls ask for it."""

    def begin_run(self, event: RunStarted) -> None:
        """Note whose call the session answers."""
        if event.parent_session_id is not None and event.parent_call_id is not None:
            self._parents[self.session_id] = event.parent_session_id, event.parent_call_id

    def add(self, request: ApprovalRequest) -> bool:
        """Add a request; return whether it is to be shown."""
        key = self.session_id, request.id
        if key in self._open:  # reported again by a session that goes on
            return False
        self._open[key] = request.summary
        parent = self._parents.get(self.session_id)
        if parent is not None:
            summary = f"{request.call.name}: {request.summary}"
            self._asked_inside.setdefault(parent, set()).add(summary)
        inside = self._asked_inside.get((self.session_id, request.call.id), set())
        return request.summary not in inside

    def is_open(self, session_id: SessionId, approval_id: ApprovalId) -> bool:
        """Whether a request waits."""
        return (session_id, approval_id) in self._open

    def resolve(self, event: ApprovalResolved) -> str | None:
        """Remove a request.

        Returns:
            What the decision is about: its summary if others wait too, else an empty text. None if
            the decision is not to be told, because the call around the session has told it.
        """
        key = self.session_id, event.approval_id
        if key not in self._open:
            return None if self.session_id in self._parents else ""
        summary = self._open.pop(key)
        self._asked_inside.pop((self.session_id, event.call_id), None)
        return summary if self._open else ""

    def end_run(self, _: object) -> None:
        """Forget what waits in the session, which is left or closed."""
        for key in [key for key in self._open if key[0] == self.session_id]:
            del self._open[key]
