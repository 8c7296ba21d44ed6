"""The effects of a session that take time and have not begun, in order."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator

from agentkit_loop.kernel._effects import AnsweredEffect, EffectId, StartTimer, StartTool


class PendingEffects:
    """A queue of effects, from which any one can be removed without a look at the others.

    Iteration gives the effects in order, `len` their number.

    Attributes:
        has_detaching: Whether calls that may go on in the background were added and not looked at.
        has_timers: The same for timers of calls.
    """

    __slots__ = ("_effects", "has_detaching", "has_timers")

    def __init__(self) -> None:
        self.has_detaching = self.has_timers = False
        self._effects: OrderedDict[EffectId, AnsweredEffect] = OrderedDict()

    def __len__(self) -> int:
        return len(self._effects)

    def __iter__(self) -> Iterator[AnsweredEffect]:
        return iter(self._effects.values())

    @property
    def first(self) -> AnsweredEffect:
        """The next effect; there has to be one."""
        return next(iter(self._effects.values()))

    def add(self, effect: AnsweredEffect) -> None:
        """Add an effect at the end."""
        self._effects[effect.id] = effect
        self._note(effect)

    def take_first(self) -> AnsweredEffect:
        """Remove and return the next effect; there has to be one."""
        return self._effects.popitem(last=False)[1]

    def put_back(self, effects: Iterable[AnsweredEffect]) -> None:
        """Put effects that had begun at the front, in order; those that wait stay in place."""
        for effect in reversed([each for each in effects if each.id not in self._effects]):
            self._effects[effect.id] = effect
            self._effects.move_to_end(effect.id, last=False)
            self._note(effect)

    def discard(self, effect_id: EffectId) -> None:
        """Remove an effect if it waits."""
        self._effects.pop(effect_id, None)

    def clear(self) -> None:
        """Remove all effects."""
        self._effects.clear()

    def _note(self, effect: AnsweredEffect) -> None:
        if isinstance(effect, StartTool):
            self.has_detaching = self.has_detaching or effect.detaches
        elif isinstance(effect, StartTimer):
            self.has_timers = self.has_timers or effect.call_id is not None
