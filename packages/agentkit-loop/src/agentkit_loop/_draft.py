"""A draft: the next state while one step works on it, and the effects so far.

It is made from a state, changed by the phases, frozen into the next state and thrown away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from agentkit_core import Item, ItemKind
from agentkit_loop._config import QueueMode
from agentkit_loop._effects import (
    Abort,
    AnsweredEffect,
    Effect,
    EffectId,
    Emit,
    Persist,
    Yield,
)
from agentkit_loop._state import Batch, State, TurnState
from agentkit_loop._steps import Step
from agentkit_loop.events import Diagnostic, Event, ItemsAppended


class Draft:
    """The next state in the making. Fields are those of `State` that may change."""

    def __init__(self, state: State, *, now: int) -> None:
        self._before = state
        self.config = state.config
        self.model = state.model
        self.phase = state.phase
        self.transcript = state.transcript
        self.revision = state.revision
        self.clock = max(state.clock, now)
        self.inputs = state.inputs
        self.steer = state.steer
        self.seen_calls = state.seen_calls
        self.turns = state.turns
        self.running = state.turn
        self.issued = state.effects
        self.out = dict(state.out)
        self.effects: list[Effect] = []

    @property
    def turn(self) -> TurnState:
        """The turn that runs; for phases in which there is one."""
        assert self.running is not None, f"no turn in phase {self.phase}"  # noqa: S101
        return self.running

    def frozen(self) -> State:
        """Make the next state of it."""
        return replace(
            self._before,
            phase=self.phase,
            transcript=self.transcript,
            revision=self.revision,
            clock=self.clock,
            inputs=self.inputs,
            steer=self.steer,
            seen_calls=self.seen_calls,
            turns=self.turns,
            turn=self.running,
            effects=self.issued,
            out=self.out,
        )

    def set_turn(self, **changes: Any) -> None:
        """Change fields of the turn that runs."""
        self.running = replace(self.turn, **changes)

    # effects

    def emit(self, event: Event) -> None:
        """Tell the reporters."""
        self.effects.append(Emit(event, None if self.running is None else self.running.id))

    def diagnose(self, message: str) -> None:
        """Tell of something odd that changes nothing."""
        self.emit(Diagnostic(message))

    def give(self, step: Step) -> None:
        """Give the host the word."""
        self.effects.append(Yield(step))

    def issue(self, make: Callable[[EffectId], AnsweredEffect]) -> EffectId:
        """Ask for an effect that is answered.

        Args:
            make: Makes the effect, with the id that it gets.
        """
        self.issued += 1
        effect = make(EffectId(f"e{self.issued}"))
        self.out[effect.id] = effect
        self.effects.append(effect)
        return effect.id

    def abort(self, effect_id: EffectId | None) -> None:
        """Give up an effect, if it is not answered yet; None does nothing."""
        if effect_id is not None and self.out.pop(effect_id, None) is not None:
            self.effects.append(Abort(effect_id))

    # transcript and lanes

    def append(self, *items: Item) -> None:
        """Append items to the transcript and tell of it; those without a time get the step's."""
        if not items:
            return
        stamped = tuple(
            item if item.created_at is not None else replace(item, created_at=self.clock)
            for item in items
        )
        self.transcript += stamped
        self.revision += 1
        self.effects.append(Persist(stamped, self.revision))
        if self.running is not None:
            made = tuple(
                item for item in stamped if item.kind in (ItemKind.ASSISTANT, ItemKind.TOOL)
            )
            self.set_turn(produced=self.running.produced + made)
        self.emit(ItemsAppended(stamped, self.revision))

    def append_inputs(self) -> None:
        """Move what waits for a turn into the transcript, as the queue mode says."""
        taken, self.inputs = self._drained(self.inputs)
        self.append(*taken)

    def append_steer(self) -> None:
        """Move what steers the turn into the transcript, as the queue mode says."""
        taken, self.steer = self._drained(self.steer)
        self.append(*taken)

    def _drained(self, lane: tuple[Batch, ...]) -> tuple[list[Item], tuple[Batch, ...]]:
        count = len(lane) if self.config.queue_mode is QueueMode.ALL else 1
        return [item for batch in lane[:count] for item in batch], lane[count:]
