"""Which events are reported again after a crash."""

from __future__ import annotations

from typing import Final

from agentkit_core import SessionId
from agentkit_loop.events import Envelope, RunStarted

_MOST_SESSIONS: Final = 10_000
"""How many sessions are remembered: a process may have any number of them, one after another."""


class RepeatFilter:
    """Recognises events that it has had already, in any number of sessions.

    A session that continues after a crash reports the events of its last save again, because their
    reporters may not have had them; such an event has the same number. A session that begins anew
    under the same id, or continues from an older snapshot, has another history from there on, which
    counts.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        """Start without having seen anything."""
        self._last: dict[SessionId, int] = {}

    def is_repeat(self, envelope: Envelope) -> bool:
        """Return whether the event was seen before; take note of it."""
        number = envelope.number
        if number is None:
            return False
        if number > self._last.get(envelope.session_id, 0) or _begins_another_history(envelope):
            self._last[envelope.session_id] = number
            if len(self._last) > _MOST_SESSIONS:
                del self._last[next(iter(self._last))]
            return False
        return True


def _begins_another_history(envelope: Envelope) -> bool:
    # In a session that was stored, the numbers of envelopes go on too.
    return envelope.seq == 1 and isinstance(envelope.event, RunStarted)
