"""What both drivers do around a save to the store."""

from __future__ import annotations

from agentkit_loop.drivers._engine import Engine
from agentkit_loop.persistence._outbox import Save
from agentkit_loop.persistence._records import Saved


def begin_save(engine: Engine) -> tuple[Save, bytes]:
    """Take what is to be saved, and the head to store with it; see `Outbox.begin`."""
    return engine.outbox.begin(engine.state, engine.events.seq)


def end_save(engine: Engine, save: Save) -> None:
    """Carry out what is saved now; what follows from that is for the next save."""
    engine.outbox.end()
    engine.carry_out_saved(save.effects)


def resolve_doubt(engine: Engine, stored: Saved | None) -> None:
    """Go on after a save whose outcome was unknown.

    Args:
        engine: The session's engine.
        stored: What the store has of the session; None if it has nothing.
    """
    save = engine.outbox.find(stored)
    if save is not None:
        end_save(engine, save)
