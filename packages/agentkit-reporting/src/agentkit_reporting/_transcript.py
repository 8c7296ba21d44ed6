"""The transcript of a session, kept by listening."""

from __future__ import annotations

from agentkit_core import Item, SessionId
from agentkit_loop.events import Envelope, ItemsAppended, TranscriptRewritten


class TranscriptReporter:
    """Keeps every item of one session, in order: the same transcript that the session has."""

    def __init__(self, session_id: SessionId | None = None) -> None:
        """Follow a session.

        Args:
            session_id: Which one; None follows the first that appends an item.
        """
        self.session_id = session_id
        self.complete = True
        """Whether no change was missed, which happens to who begins to listen later."""
        self.revision = 0
        """The transcript's revision after the last change that was told."""
        self._items: list[Item] = []

    @property
    def items(self) -> tuple[Item, ...]:
        """The items so far."""
        return tuple(self._items)

    def __call__(self, envelope: Envelope) -> None:
        """Take one event; those of other sessions, and those told before, are passed over."""
        event = envelope.event
        if not isinstance(event, (ItemsAppended, TranscriptRewritten)):
            return
        if self.session_id is None:
            self.session_id = envelope.session_id
        if envelope.session_id != self.session_id:
            return
        if event.revision <= self.revision:
            return  # a session that was resumed tells again what may not have been told
        if isinstance(event, TranscriptRewritten):
            self._items.clear()
            self.complete = True
        elif event.revision != self.revision + 1:
            self.complete = False
        self.revision = event.revision
        self._items.extend(event.items)
