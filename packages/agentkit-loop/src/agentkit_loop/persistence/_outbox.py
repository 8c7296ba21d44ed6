"""Saving: what a step decided waits here until it is stored, and only then is carried out.

One save is under way at a time. Where it is not known what became of one (whoever waited for it
was struck by something else than its failure), it is in doubt until the store was looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentkit_loop.kernel._effects import Effect, Persist
from agentkit_loop.kernel._state import State
from agentkit_loop.persistence._records import LogEntry, Saved
from agentkit_loop.persistence._snapshot import encode_head


class Save:
    """What one save takes: all that was decided since the last one."""

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.log: list[LogEntry] = []
        self.steps = 0

    def take(self, effects: Iterable[Effect]) -> None:
        """Take what came of a step."""
        self.steps += 1
        for effect in effects:
            if isinstance(effect, Persist):
                self.log.append(LogEntry(effect.revision, effect.items, effect.rewrite))
            else:
                self.effects.append(effect)

    def join(self, later: Save) -> None:
        """Take what another one took after this one."""
        self.steps += later.steps
        self.effects += later.effects
        self.log += later.log


class Outbox:
    """What was decided and is not saved for sure, and so not carried out.

    Args:
        saves: The number of the last save there is.
    """

    __slots__ = ("_sent", "_waiting", "saves")

    def __init__(self, saves: int) -> None:
        self.saves = saves
        """The number of the last save."""
        self._waiting: Save | None = None
        self._sent: tuple[Save, bytes] | None = None

    def __bool__(self) -> bool:
        """Whether there is anything to save."""
        return self._waiting is not None or self._sent is not None

    @property
    def in_doubt(self) -> bool:
        """Whether a save was begun, and it is not known what became of it."""
        return self._sent is not None

    def take(self, effects: Iterable[Effect]) -> None:
        """Take what came of a step."""
        if self._waiting is None:
            self._waiting = Save()
        self._waiting.take(effects)

    def begin(self, state: State, seq: int) -> tuple[Save, bytes]:
        """Take what is to be saved; what is decided from now on is for the next save.

        Args:
            state: As it stands now.
            seq: The number of the last envelope that was told.

        Returns:
            That, and the head to be stored.
        """
        save = self._waiting or Save()
        head = encode_head(state, save.effects, seq)
        self._waiting, self._sent = None, (save, head)
        return save, head

    def end(self) -> None:
        """The save that was begun is stored."""
        self.saves += 1
        self._sent = None

    def find(self, stored: Saved | None) -> Save | None:
        """Find out about a save that was in doubt.

        Args:
            stored: What the store has of the session.

        Returns:
            The save, if it was made; else None, and it is to be made with what came since.
        """
        assert self._sent is not None  # noqa: S101  (only then is there a doubt)
        save, head = self._sent
        if stored is not None and stored.seq == self.saves + 1 and stored.head == head:
            return save
        if self._waiting is not None:
            save.join(self._waiting)
        self._waiting, self._sent = save, None
        return None

    def clear(self) -> None:
        """Forget it all: nothing can be saved any more."""
        self._waiting = self._sent = None
