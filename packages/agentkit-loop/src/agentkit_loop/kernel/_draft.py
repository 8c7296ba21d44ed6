"""A draft: the next state while one step works on it, and the effects so far.

It is made from a state, changed by the phases, frozen into the next state and thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from agentkit_core import Item, ItemKind, ToolCallId, Transcript, Usage
from agentkit_loop.events import Diagnostic, Event, ItemsAppended, TranscriptRewritten
from agentkit_loop.kernel._config import QueueMode
from agentkit_loop.kernel._effects import (
    Abort,
    AnsweredEffect,
    Effect,
    EffectId,
    Emit,
    Persist,
    Yield,
)
from agentkit_loop.kernel._limits import is_unpriced, is_unreported
from agentkit_loop.kernel._state import Batch, CallState, State, TurnState
from agentkit_loop.kernel._status import SessionStatus


class Draft:
    """The next state in the making. Fields are those of `State` that may change."""

    def __init__(self, state: State, *, now: int) -> None:
        self._before = state
        self.config = state.config
        self.hooks = state.hooks
        self.model = state.model
        self.options = state.options
        self.once = state.once
        self.instructions = state.instructions
        self.phase = state.phase
        self.transcript = state.transcript
        self.revision = state.revision
        self.retired_calls = state.retired_calls
        self.clock = max(state.clock, now)
        self.inputs = state.inputs
        self.steer = state.steer
        self.notices = state.notices
        self.background = state.background
        self.owed = state.owed
        self.grants = state.grants
        self.tools = state.tools
        self.added_tools = state.added_tools
        self.turns = state.turns
        self.calls = state.calls
        self.told = state.events
        self.running = state.turn
        self.issued = state.effects
        self.out = dict(state.out)
        self.effects: list[Effect] = []
        self.answered: AnsweredEffect | None = None
        """The effect that the input answers; no longer in `out` if the answer was the last."""

    @property
    def turn(self) -> TurnState:
        """The turn that runs; for phases in which there is one."""
        assert self.running is not None, f"no turn in phase {self.phase}"  # noqa: S101
        return self.running

    def frozen(self) -> State:
        """Make the next state of it."""
        return replace(
            self._before,
            config=self.config,
            model=self.model,
            options=self.options,
            once=self.once,
            instructions=self.instructions,
            phase=self.phase,
            transcript=self.transcript,
            revision=self.revision,
            retired_calls=self.retired_calls,
            clock=self.clock,
            inputs=self.inputs,
            steer=self.steer,
            notices=self.notices,
            background=self.background,
            owed=self.owed,
            grants=self.grants,
            tools=self.tools,
            added_tools=self.added_tools,
            turns=self.turns,
            calls=self.calls,
            events=self.told,
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
        self.told += 1
        turn_id = None if self.running is None else self.running.id
        self.effects.append(Emit(event, turn_id, self.told))

    def remark(self, event: Event) -> None:
        """Tell the reporters what leaves no trace in the state, and so has no number."""
        self.effects.append(Emit(event, None if self.running is None else self.running.id))

    def diagnose(self, message: str) -> None:
        """Tell of something odd that changes nothing."""
        self.emit(Diagnostic(message))

    def give(self, step: SessionStatus) -> None:
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

    def issue_again(self, effect: AnsweredEffect) -> EffectId:
        """Ask once more, under another id, for an effect that was lost."""
        return self.issue(lambda effect_id: replace(effect, id=effect_id))

    def abort(self, effect_id: EffectId | None) -> None:
        """Give up an effect, if it is not answered yet; None does nothing."""
        if effect_id is not None and self.out.pop(effect_id, None) is not None:
            self.effects.append(Abort(effect_id))

    def add_usage(self, usage: Usage) -> None:
        """Count a tool's own model calls for the turn that runs, or else for the next one."""
        if self.running is None:
            self.owed += usage
            return
        turn = self.turn
        self.set_turn(
            usage=turn.usage + usage,
            unreported=turn.unreported or is_unreported(usage),
            unpriced=turn.unpriced or is_unpriced(usage),
        )

    def add_tools(self, names: Iterable[str]) -> None:
        """Offer the model tools that a result brought, from the next call on."""
        self.added_tools += tuple(name for name in names if name not in self.added_tools)

    # calls in the background

    def set_background(self, call: CallState) -> None:
        """Put a call in the background, or change the one that is there."""
        self.background = {**self.background, call.id: call}

    def drop_background(self, call_id: ToolCallId) -> CallState:
        """Take a call out of the background."""
        kept = dict(self.background)
        call = kept.pop(call_id)
        self.background = kept
        return call

    # transcript and lanes

    def append(self, *items: Item) -> None:
        """Append items to the transcript and tell of it; those without a time get the step's."""
        if not items:
            return
        stamped = tuple(
            item if item.created_at is not None else replace(item, created_at=self.clock)
            for item in items
        )
        self.transcript = self.transcript.append(*stamped)
        self.revision += 1
        self.effects.append(Persist(stamped, self.revision))
        self.emit(ItemsAppended(stamped, self.revision))

    def rewrite(self, transcript: Transcript) -> None:
        """Put another transcript in the place of this one, and tell of it."""
        gone = (call.id for item in self.transcript for call in item.tool_calls)
        self.retired_calls |= {call_id for call_id in gone if transcript.call_at(call_id) is None}
        if self.running is not None:
            self.set_turn(produced=self.produced(), first=len(transcript))
        self.transcript = transcript
        self.revision += 1
        items = transcript.items
        self.effects.append(Persist(items, self.revision, rewrite=True))
        self.emit(TranscriptRewritten(items, self.revision))

    def produced(self) -> tuple[Item, ...]:
        """The assistant and tool items of the turn so far."""
        turn = self.turn
        new = (self.transcript[at] for at in range(turn.first, len(self.transcript)))
        return turn.produced + tuple(
            item for item in new if item.kind in (ItemKind.ASSISTANT, ItemKind.TOOL)
        )

    def is_call_known(self, call_id: ToolCallId) -> bool:
        """Whether a call of that id was ever made here."""
        return self.transcript.call_at(call_id) is not None or call_id in self.retired_calls

    def append_inputs(self) -> None:
        """Move what waits for a turn into the transcript, as the queue mode says."""
        taken, self.inputs = _drained(self.inputs, self.config.queue_mode)
        self.append(*self._taken_notices(), *taken)

    def append_steer(self) -> None:
        """Move notices and what steers the turn into the transcript, as the queue mode says."""
        mode = self.config.steer_mode or self.config.queue_mode
        taken, self.steer = _drained(self.steer, mode)
        self.append(*self._taken_notices(), *taken)

    def _taken_notices(self) -> Iterable[Item]:
        taken, self.notices = self.notices, ()
        return taken


def _drained(lane: tuple[Batch, ...], mode: QueueMode) -> tuple[list[Item], tuple[Batch, ...]]:
    count = len(lane) if mode is QueueMode.ALL else 1
    return [item for batch in lane[:count] for item in batch], lane[count:]
