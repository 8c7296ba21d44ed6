"""Collects the transcript of a session from its events."""

from __future__ import annotations

from agentkit_core import Item, SessionId
from agentkit_loop.events import Envelope, ItemsAppended, TranscriptRewritten


class TranscriptReporter:
    """Collects every item of one session, in order: the same transcript that the session has."""

    __slots__ = ("__weakref__", "_items", "complete", "revision", "session_id")

    def __init__(self, session_id: SessionId | None = None) -> None:
        """Follow a session.

        Args:
            session_id: The session; None means the first one that appends an item.
        """
        self.session_id = session_id
        self.complete = True
        """Whether no change was missed; false if the reporter was added after the start."""
        self.revision = 0
        """The revision of the transcript after the last change that was reported."""
        self._items: list[Item] = []

    @property
    def items(self) -> tuple[Item, ...]:
        """The items so far."""
        return tuple(self._items)

    def __call__(self, envelope: Envelope) -> None:
        """Take one event; events of other sessions, and repeated ones, are ignored."""
        event = envelope.event
        if not isinstance(event, (ItemsAppended, TranscriptRewritten)):
            return
        if self.session_id is None:
            self.session_id = envelope.session_id
        if envelope.session_id != self.session_id:
            return
        if event.revision <= self.revision:
            return  # a resumed session repeats events that may not have been reported
        if isinstance(event, TranscriptRewritten):
            self._items.clear()
            self.complete = True
        elif event.revision != self.revision + 1:
            self.complete = False
        self.revision = event.revision
        self._items.extend(event.items)
