"""The outbox: what steps have decided waits here until it is saved, and only then takes effect.

One save is under way at a time. If an exception other than the store's own keeps a driver from
knowing whether a save was made, the save is in doubt until the driver has looked into the store.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentkit_loop.kernel._effects import Effect, Persist
from agentkit_loop.kernel._state import State
from agentkit_loop.persistence._records import LogEntry, Saved
from agentkit_loop.persistence._snapshot import encode_head
from agentkit_loop.persistence._stored_calls import StoredCalls


class Save:
    """What one save contains: everything that steps have decided since the last one.

    Attributes:
        effects: What the steps ask for, in order, except changes of the transcript.
        log: The changes of the transcript, oldest first.
        steps: How many steps.
    """

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.log: list[LogEntry] = []
        self.steps = 0

    def take(self, effects: Iterable[Effect]) -> None:
        """Add the effects of one step."""
        self.steps += 1
        for effect in effects:
            if isinstance(effect, Persist):
                self.log.append(LogEntry(effect.revision, effect.items, effect.rewrite))
            else:
                self.effects.append(effect)

    def join(self, later: Save) -> None:
        """Add everything of a later save."""
        self.steps += later.steps
        self.effects += later.effects
        self.log += later.log


class Outbox:
    """What was decided and is not certainly saved, and so has not taken effect.

    Args:
        saves: The number of the last save; 0 if there is none.

    Attributes:
        saves: The number of the last save; 0 if there is none.
    """

    __slots__ = ("_calls", "_is_due", "_sent", "_waiting", "saves")

    def __init__(self, saves: int) -> None:
        self.saves = saves
        self._waiting: Save | None = None
        self._is_due = False
        """Whether what waits has to be saved by itself, and not only with what comes later."""
        self._sent: tuple[Save, bytes] | None = None
        self._calls: StoredCalls | None = None

    def __bool__(self) -> bool:
        """Whether there is anything to save."""
        return self._is_due or self._sent is not None

    @property
    def in_doubt(self) -> bool:
        """Whether a save has begun, and it is not known whether it was made."""
        return self._sent is not None

    def take(self, effects: Iterable[Effect], *, is_due: bool = True) -> None:
        """Add the effects of one step.

        Args:
            effects: The effects.
            is_due: Whether they have to be saved soon; otherwise they are saved with what comes
                later, so that a session that was only opened is left as it was.
        """
        if self._waiting is None:
            self._waiting = Save()
        self._waiting.take(effects)
        self._is_due = self._is_due or is_due

    def begin(self, state: State, seq: int) -> tuple[Save, bytes]:
        """Begin a save; what is decided from now on is for the next one.

        Args:
            state: The present state.
            seq: The number of the last envelope that was dispatched.

        Returns:
            The save, and the head to store.
        """
        save = self._waiting or Save()
        self._calls = self._calls or StoredCalls()
        head = encode_head(state, save.effects, seq, self._calls)
        self._waiting, self._sent = None, (save, head)
        self._is_due = False
        return save, head

    def end(self) -> None:
        """End the save that has begun: it is stored."""
        self.saves += 1
        self._sent = None

    def find(self, stored: Saved | None) -> Save | None:
        """Find out whether the save in doubt was made.

        Args:
            stored: What the store has of the session; None if it has nothing.

        Returns:
            The save, if it was made. Otherwise None, and the next save contains it.
        """
        assert self._sent is not None  # noqa: S101  (only called while a save is in doubt)
        save, head = self._sent
        if stored is not None and stored.seq == self.saves + 1 and stored.head == head:
            return save
        if self._waiting is not None:
            save.join(self._waiting)
        self._waiting, self._sent = save, None
        self._is_due = True
        return None

    def clear(self) -> None:
        """Drop everything: nothing can be saved any more."""
        self._waiting = self._sent = None
        self._is_due = False
