"""The newest items of each conversation, for the contents of requests and answers."""

from __future__ import annotations

from collections import deque

from agentkit_core import Item, ItemKind, SessionId
from agentkit_loop.events import Envelope, ItemsAppended, RunFinished, TranscriptRewritten


class Conversations:
    """Follows the transcripts of sessions, as far back as is wanted."""

    def __init__(self, most: int) -> None:
        """Keep so many items of each session."""
        self._most = most
        self._items: dict[SessionId, deque[Item]] = {}

    def take(self, envelope: Envelope) -> None:
        """Take one event."""
        match envelope.event:
            case ItemsAppended(items=items):
                self._of(envelope.session_id).extend(items[-self._most :])
            case TranscriptRewritten(items=items):
                self._items[envelope.session_id] = deque(items[-self._most :], self._most)
            case RunFinished():
                self._items.pop(envelope.session_id, None)

    def newest(self, session_id: SessionId) -> list[Item]:
        """Return the newest items of a session, the oldest of them first."""
        return list(self._items.get(session_id, ()))

    def _of(self, session_id: SessionId) -> deque[Item]:
        return self._items.setdefault(session_id, deque(maxlen=self._most))


def answer_in(envelope: Envelope) -> list[Item]:
    """Return the answers of a model that an event adds to the transcript; often none."""
    if not isinstance(envelope.event, ItemsAppended):
        return []
    return [item for item in envelope.event.items if item.kind is ItemKind.ASSISTANT]
