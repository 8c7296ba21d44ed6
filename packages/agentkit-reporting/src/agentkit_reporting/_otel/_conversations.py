"""The newest messages of each conversation, for the contents of requests and answers."""

from __future__ import annotations

from collections import deque
from typing import Final

from agentkit_core import Item, ItemKind, SessionId
from agentkit_loop.events import (
    Envelope,
    ItemsAppended,
    RunFinished,
    RunStarted,
    TranscriptRewritten,
)
from agentkit_reporting._otel._capture import Message, MessageCapture

_MOST_SESSIONS: Final = 1_000
"""How many conversations are followed: those in which something was said last."""


class Conversations:
    """Follows the transcripts of sessions, as far back as is wanted.

    A session that is left may go on, so its messages are kept; each was written as JSON once, and
    of a long one only its size is kept.
    """

    def __init__(self, capture: MessageCapture) -> None:
        """Follow no session yet."""
        self._capture = capture
        self._kept: dict[SessionId, _Conversation] = {}

    def take(self, envelope: Envelope) -> None:
        """Take one event."""
        match envelope.event:
            case ItemsAppended(items=items, revision=revision):
                self._of(envelope.session_id).append(items, revision)
            case TranscriptRewritten(items=items, revision=revision):
                self._of(envelope.session_id).rewrite(items, revision)
            case RunStarted(resumed=resumed) if envelope.seq == 1:
                # It continues from a snapshot, which may be an older one, or begins anew.
                if resumed and (known := self._kept.get(envelope.session_id)) is not None:
                    known.has_gone_back = True
                else:
                    self._kept.pop(envelope.session_id, None)
            case RunFinished():
                self._kept.pop(envelope.session_id, None)

    def newest(self, session_id: SessionId) -> list[Message]:
        """Return the newest messages of a session, the oldest of them first."""
        conversation = self._kept.get(session_id)
        return [] if conversation is None else list(conversation.messages)

    def _of(self, session_id: SessionId) -> _Conversation:
        conversation = self._kept.pop(session_id, None) or _Conversation(self._capture)
        self._kept[session_id] = conversation  # as the last one
        if len(self._kept) > _MOST_SESSIONS:
            del self._kept[next(iter(self._kept))]
        return conversation


class _Conversation:
    """The newest messages of one session.

    Attributes:
        messages: The messages, the oldest first.
        has_gone_back: Whether the transcript may have become an older one.
    """

    __slots__ = ("_bytes", "_capture", "_revision", "has_gone_back", "messages")

    def __init__(self, capture: MessageCapture) -> None:
        self.messages: deque[Message] = deque()
        self.has_gone_back = False
        self._capture = capture
        self._bytes = 0
        self._revision = 0

    def append(self, items: tuple[Item, ...], revision: int) -> None:
        if revision <= self._revision and not self.has_gone_back:
            return  # it is reported again after a crash
        if revision != self._revision + 1:
            self._clear()  # what lies between was not reported here
        self._add(items, revision)

    def rewrite(self, items: tuple[Item, ...], revision: int) -> None:
        if revision > self._revision or self.has_gone_back:
            self._clear()
            self._add(items, revision)

    def _clear(self) -> None:
        self.messages.clear()
        self._bytes = 0

    def _add(self, items: tuple[Item, ...], revision: int) -> None:
        self._revision, self.has_gone_back = revision, False
        for item in items[-self._capture.max_messages :]:
            message = self._capture.message(item)
            self.messages.append(message)
            self._bytes += len(message.json)
        # The oldest one need not fit: then its size is told.
        most = self._capture
        while self.messages and (
            len(self.messages) > most.max_messages
            or self._bytes - len(self.messages[0].json) > most.max_bytes
        ):
            self._bytes -= len(self.messages.popleft().json)


def answer_in(envelope: Envelope) -> list[Item]:
    """Return the answers of a model that an event adds to the transcript; often none."""
    if not isinstance(envelope.event, ItemsAppended):
        return []
    return [item for item in envelope.event.items if item.kind is ItemKind.ASSISTANT]
