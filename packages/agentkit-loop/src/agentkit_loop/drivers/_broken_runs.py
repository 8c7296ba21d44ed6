"""What an exception that leaves a driver does to the turn.

It cancels the turn, except where calls of it wait for people. What waits for a person is kept
through whatever breaks the run: the exception ends the call that raised it, and the others are put
back. Only who cancels the run, or leaves it, ends the turn with all that waits.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentkit_loop._errors import ReporterFailed
from agentkit_loop.drivers._effect_results import interrupted_answer
from agentkit_loop.drivers._engine import Engine
from agentkit_loop.kernel._effects import AnsweredEffect, EffectId, StartTool


def keeps_turn(engine: Engine, error: BaseException | None) -> bool:
    """Whether a turn goes on after an exception, because calls of it wait for people.

    Args:
        engine: The session's engine.
        error: What broke the run; None if the host has cancelled or left it.
    """
    turn = engine.state.turn
    if error is None or isinstance(error, ReporterFailed) or turn is None:
        return False
    return any(call.pending_approvals for call in turn.calls)


def recover(engine: Engine, effects: Iterable[AnsweredEffect]) -> None:
    """Answer, or put back, effects that an exception interrupted and that are still wanted.

    A tool that ran is not run again; its call has failed. Everything else had no effect yet.

    Args:
        engine: The session's engine.
        effects: The effects, in order; those that were answered meanwhile are left alone.
    """
    put_back = []
    for effect in effects:
        if engine.save_error is not None or not engine.is_wanted(effect.id):
            continue
        if isinstance(effect, StartTool) and engine.tools.is_running(effect.id):
            engine.post(interrupted_answer(effect))
        else:
            put_back.append(effect)
    engine.pending.put_back(put_back)


class BegunEffects:
    """The effects that were taken from those that wait, and have not been answered.

    Args:
        engine: The session's engine.
    """

    __slots__ = ("_begun", "_engine")

    def __init__(self, engine: Engine) -> None:
        self._begun: dict[EffectId, AnsweredEffect] = {}
        self._engine = engine

    def take_next(self) -> AnsweredEffect:
        """Remove and return the next effect that waits."""
        effect = self._engine.pending.take_first()
        self._begun[effect.id] = effect
        return effect

    def end(self, effect: AnsweredEffect) -> None:
        """Forget an effect that was performed."""
        self._begun.pop(effect.id, None)

    def end_answered(self) -> None:
        """Forget all effects that have been answered."""
        out = self._engine.state.out
        for effect_id in [each for each in self._begun if each not in out]:
            del self._begun[effect_id]

    def rest(self) -> None:
        """Let go of what only work needs; see `EffectRunner.rest`."""
        if not self._begun:
            self._begun.clear()

    def recover(self) -> None:
        """Answer, or put back, effects that an exception interrupted and that are still wanted."""
        effects = tuple(self._begun.values())
        self._begun.clear()
        recover(self._engine, effects)
