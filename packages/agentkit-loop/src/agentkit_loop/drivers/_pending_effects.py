"""The effects of a session that take time and have not begun, in order."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from agentkit_loop.kernel._effects import AnsweredEffect, EffectId, StartTimer, StartTool


class PendingEffects(OrderedDict[EffectId, AnsweredEffect]):
    """A queue of effects by id, from which any one can be removed without a look at the others.

    Attributes:
        has_detaching: Whether calls that may go on in the background were added and not looked at.
        has_timers: The same for timers of calls.
    """

    __slots__ = ("has_detaching", "has_timers")

    def __init__(self) -> None:
        super().__init__()
        self.has_detaching = self.has_timers = False

    @property
    def first(self) -> AnsweredEffect:
        """The next effect; there has to be one."""
        return next(iter(self.values()))

    def add(self, effect: AnsweredEffect) -> None:
        """Add an effect at the end."""
        self[effect.id] = effect
        kind = type(effect)
        if kind is StartTool:
            self.has_detaching = self.has_detaching or effect.detaches  # type: ignore[union-attr]
        elif kind is StartTimer:
            self.has_timers = True

    def take_first(self) -> AnsweredEffect:
        """Remove and return the next effect; there has to be one."""
        return self.popitem(last=False)[1]

    def put_back(self, effects: Iterable[AnsweredEffect]) -> None:
        """Put effects that had begun at the front, in order; those that wait stay in place."""
        for effect in reversed([each for each in effects if each.id not in self]):
            self.add(effect)
            self.move_to_end(effect.id, last=False)
