"""Collects the transcript of a session from its events."""

from __future__ import annotations

from collections.abc import Iterable

from agentkit_core import Item, SessionId
from agentkit_loop.events import Envelope, ItemsAppended, RunStarted, TranscriptRewritten


class TranscriptReporter:
    """Collects every item of one session, in order: the same transcript that the session has."""

    __slots__ = (
        "__weakref__",
        "_has_gone_back",
        "_items",
        "_lengths",
        "complete",
        "revision",
        "session_id",
    )

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
        self._lengths: dict[int, int] = {0: 0}
        """How long the transcript was at each revision since it was rewritten last."""
        self._has_gone_back = False

    @property
    def items(self) -> tuple[Item, ...]:
        """The items so far."""
        return tuple(self._items)

    def __call__(self, envelope: Envelope) -> None:
        """Take one event; events of other sessions, and repeated ones, are ignored."""
        event = envelope.event
        if not isinstance(event, (ItemsAppended, TranscriptRewritten)):
            if envelope.seq == 1 and envelope.session_id == self.session_id:
                # The session begins anew, or continues from a snapshot, which may be an older one.
                self._has_gone_back = isinstance(event, RunStarted)
            return
        if self.session_id is None:
            self.session_id = envelope.session_id
        if envelope.session_id != self.session_id:
            return
        if self._has_gone_back:
            self._go_back(event.revision - 1)
        if event.revision <= self.revision:
            return  # a resumed session repeats events that may not have been reported
        if isinstance(event, TranscriptRewritten):
            self._items.clear()
            self._lengths = {0: 0}
            self.complete = True
        elif event.revision != self.revision + 1:
            self.complete = False
        self.revision = event.revision
        self._items.extend(event.items)
        self._lengths[self.revision] = len(self._items)

    def _go_back(self, revision: int) -> None:
        """Drop what was appended after a revision, if it is not the present one."""
        self._has_gone_back = False
        if revision >= self.revision:
            return
        length = self._lengths.get(revision)
        self.complete = self.complete and length is not None
        del self._items[length or 0 :]
        self.revision = revision


def transcript_of(
    envelopes: Iterable[Envelope], session_id: SessionId | None = None
) -> tuple[Item, ...]:
    """Return the transcript of a session at the end of a record.

    Args:
        envelopes: The events, in order.
        session_id: The session; None means the first one that appends an item.
    """
    reporter = TranscriptReporter(session_id)
    for envelope in envelopes:
        reporter(envelope)
    return reporter.items
