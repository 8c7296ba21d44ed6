"""Runs to report: envelopes around events, numbered as a session numbers them."""

from __future__ import annotations

from collections.abc import Iterable

from agentkit_core import SessionId, TurnId
from agentkit_loop.events import Envelope, Event

SESSION = SessionId("s")
TURN = TurnId("turn-1")


def enveloped(
    events: Iterable[Event], *, session_id: SessionId = SESSION, turn_id: TurnId | None = TURN
) -> list[Envelope]:
    """Put events into envelopes, from number 1."""
    return [
        Envelope(
            seq=seq, session_id=session_id, at=1_767_225_600_000 + seq, event=event, turn_id=turn_id
        )
        for seq, event in enumerate(events, start=1)
    ]
