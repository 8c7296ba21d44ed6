"""Runs to report: envelopes around events, numbered as a session numbers them."""

from __future__ import annotations

from collections.abc import Iterable

from agentkit_core import SessionId, TurnId
from agentkit_loop.events import Envelope, Event
from agentkit_loop.kernel import Effect, Emit
from agentkit_loop.testing import walk

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


def emitted(effects: Iterable[Effect], *, at: int = 1_000) -> list[Envelope]:
    """Put the events among some effects into envelopes, each a millisecond after the other."""
    emits = (effect for effect in effects if isinstance(effect, Emit))
    return [
        Envelope(
            seq=seq,
            session_id=SESSION,
            at=at + seq,
            event=emit.event,
            turn_id=emit.turn_id,
            number=emit.number or None,
        )
        for seq, emit in enumerate(emits, start=1)
    ]


def walked(seed: int, *, length: int = 60) -> list[Envelope]:
    """The envelopes of a random walk through the kernel, up to its last input."""
    return emitted(effect for step in walk(seed, length=length) for effect in step.effects)
