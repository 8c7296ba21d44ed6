"""The draft: the next state while one step works on it, and the effects so far.

A step makes a draft from the state, its handler changes it, and `freeze` returns the next state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from agentkit_core import Item, ItemKind, ToolCallId, Transcript, Usage
from agentkit_loop.events import Diagnostic, Event, ItemsAppended, TranscriptRewritten
from agentkit_loop.kernel._call_state import CallState
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
from agentkit_loop.kernel._refused_media import accepted_after_rewrite, refused_after_rewrite
from agentkit_loop.kernel._round_draft import RoundDraft, calls_of, draft_of, give_back
from agentkit_loop.kernel._state import Batch, State, TurnState
from agentkit_loop.kernel._status import SessionStatus


class Draft:
    """The next state in the making.

    Args:
        state: The session before the step; it is not changed.
        now: Milliseconds since the Unix epoch.

    Attributes:
        effects: What the step asks for so far, in order.
        answered: The effect that the input answers; None if it answers none.
        current_turn: The running turn; None if none runs.
        event_count: How many events there have been.
        effect_count: How many effects with an answer there have been.
        approvals_shown_at: Where among the effects the host is shown all pending approvals, once
            what is pending at the end of the step is known; None if it is not.

    All other attributes are the fields of `State` that a step may change.
    """

    def __init__(self, state: State, *, now: int) -> None:
        self._before = state
        self.config = state.config
        self.hooks = state.hooks
        self.model = state.model
        self.provider = state.provider
        self.options = state.options
        self.once = state.once
        self.instructions = state.instructions
        self.changed = state.changed
        self.phase = state.phase
        self.transcript = state.transcript
        self.revision = state.revision
        self.retired_calls = state.retired_calls
        self.accepted_items = state.accepted_items
        self.refused_media = state.refused_media
        self.clock = max(state.clock, now)
        self.inputs = state.inputs
        self.steer = state.steer
        self.notices = state.notices
        self.background = state.background
        self.owed = state.owed
        self.spent = state.spent
        self.follow_ups = state.follow_ups
        self.grants = state.grants
        self.kind_grants = state.kind_grants
        self.tools = state.tools
        self.callable_tools = state.callable_tools
        self.added_tools = state.added_tools
        self.turns = state.turns
        self.calls = state.calls
        self.event_count = state.events
        self.current_turn = state.turn
        self.effect_count = state.effects
        self.out = dict(state.out)
        self.effects: list[Effect] = []
        self._round: RoundDraft | None = None
        self.approvals_shown_at: int | None = None
        self._owns_background = False
        self.answered: AnsweredEffect | None = None

    @property
    def turn(self) -> TurnState:
        """The running turn, in phases in which there is one."""
        assert self.current_turn is not None, f"no turn in phase {self.phase}"  # noqa: S101
        return self.current_turn

    @property
    def round(self) -> RoundDraft:
        """The calls of the running round; `turn.calls` has those before the step."""
        if self._round is None:
            turn = self.current_turn
            self._round = draft_of(() if turn is None else turn.calls)
        return self._round

    def begin_round(self, calls: Sequence[CallState]) -> None:
        """Begin a round with these calls; none ends the round."""
        self._round = RoundDraft(calls) if calls else None
        if self._round is None:
            self.set_turn(calls=())
        else:
            self._round.is_changed = True

    def freeze(self) -> State:
        """Return the next state."""
        if self._round is not None and self.current_turn is not None:
            if self._round.is_changed:
                self.set_turn(calls=calls_of(self._round))
            else:
                give_back(self._round, self.turn.calls)
        return replace(
            self._before,
            config=self.config,
            model=self.model,
            provider=self.provider,
            options=self.options,
            once=self.once,
            instructions=self.instructions,
            changed=self.changed,
            phase=self.phase,
            transcript=self.transcript,
            revision=self.revision,
            retired_calls=self.retired_calls,
            accepted_items=self.accepted_items,
            refused_media=self.refused_media,
            clock=self.clock,
            inputs=self.inputs,
            steer=self.steer,
            notices=self.notices,
            background=self.background,
            owed=self.owed,
            spent=self.spent,
            follow_ups=self.follow_ups,
            grants=self.grants,
            kind_grants=self.kind_grants,
            tools=self.tools,
            callable_tools=self.callable_tools,
            added_tools=self.added_tools,
            turns=self.turns,
            calls=self.calls,
            events=self.event_count,
            turn=self.current_turn,
            effects=self.effect_count,
            out=self.out or {},  # a dict that was emptied keeps its size
        )

    def set_turn(self, **changes: Any) -> None:
        """Change fields of the running turn."""
        self.current_turn = replace(self.turn, **changes)

    # effects

    def emit(self, event: Event) -> None:
        """Report an event."""
        self.event_count += 1
        turn_id = None if self.current_turn is None else self.current_turn.id
        self.effects.append(Emit(event, turn_id, self.event_count))

    def emit_unnumbered(self, event: Event) -> None:
        """Report an event that leaves no trace in the state, and so has no number."""
        turn_id = None if self.current_turn is None else self.current_turn.id
        self.effects.append(Emit(event, turn_id))

    def diagnose(self, message: str) -> None:
        """Report something unexpected that changes nothing."""
        self.emit(Diagnostic(message))

    def yield_status(self, status: SessionStatus) -> None:
        """Return control to the host."""
        self.effects.append(Yield(status))

    def issue(self, make: Callable[[EffectId], AnsweredEffect]) -> EffectId:
        """Ask for an effect with an answer.

        Args:
            make: Makes the effect with the id that it gets.

        Returns:
            That id.
        """
        self.effect_count += 1
        effect = make(EffectId(f"e{self.effect_count}"))
        self.out[effect.id] = effect
        self.effects.append(effect)
        return effect.id

    def reissue(self, effect: AnsweredEffect) -> EffectId:
        """Ask again, under a new id, for an effect that was lost."""
        return self.issue(lambda effect_id: replace(effect, id=effect_id))

    def abort(self, effect_id: EffectId | None) -> None:
        """Stop an effect if it is not answered yet; None does nothing."""
        if effect_id is not None and self.out.pop(effect_id, None) is not None:
            self.effects.append(Abort(effect_id))

    def add_usage(self, usage: Usage) -> None:
        """Count a tool's own model calls for the running turn, or else for the next one."""
        if self.current_turn is None:
            self.owed += usage
            return
        turn = self.turn
        self.set_turn(
            usage=turn.usage + usage,
            unreported=turn.unreported or is_unreported(usage),
            unpriced=turn.unpriced or is_unpriced(usage),
        )

    def add_tools(self, names: Iterable[str]) -> None:
        """Offer the model tools that a result added, from the next call on."""
        known = self.added_tools
        if new := tuple(name for name in names if name not in known):
            self.added_tools = known + new

    # background calls

    def set_background(self, call: CallState) -> None:
        """Put a call in the background, or change one that is there."""
        if not self._owns_background:
            self.background, self._owns_background = dict(self.background), True
        self.background[call.id] = call

    def drop_background(self, call_id: ToolCallId) -> CallState:
        """Remove a call from the background and return it."""
        if not self._owns_background:
            self.background, self._owns_background = dict(self.background), True
        return self.background.pop(call_id)

    # transcript and queues

    def append(self, *items: Item) -> None:
        """Append items to the transcript; those without a time get the step's."""
        if not items:
            return
        stamped = stamp(items, self.clock)
        self.transcript = self.transcript.append(*stamped)
        _tell_of(self, stamped)

    def begin_with(self, transcript: Transcript) -> None:
        """Take a whole transcript, whose items have their times, as the first that is appended."""
        if len(transcript):
            self.transcript = transcript
            _tell_of(self, transcript.items)

    def rewrite(self, transcript: Transcript) -> None:
        """Replace the transcript by another one."""
        before = (call.id for item in self.transcript for call in item.tool_calls)
        self.retired_calls |= {call_id for call_id in before if transcript.call_at(call_id) is None}
        if self.current_turn is not None:
            self.set_turn(produced=self.turn_items(), first=len(transcript))
        items, old_items = transcript.items, self.transcript.items
        self.refused_media = refused_after_rewrite(self.refused_media, old_items, items)
        self.accepted_items = accepted_after_rewrite(self.accepted_items, old_items, items)
        self.transcript = transcript
        self.revision += 1
        self.effects.append(Persist(items, self.revision, rewrite=True))
        self.emit(TranscriptRewritten(items, self.revision))

    def turn_items(self) -> tuple[Item, ...]:
        """Return the assistant and tool items of the turn so far."""
        turn = self.turn
        new = (self.transcript[at] for at in range(turn.first, len(self.transcript)))
        return turn.produced + tuple(
            item for item in new if item.kind in (ItemKind.ASSISTANT, ItemKind.TOOL)
        )

    def is_call_known(self, call_id: ToolCallId) -> bool:
        """Whether the session ever had a call of that id."""
        return self.transcript.call_at(call_id) is not None or call_id in self.retired_calls

    def append_inputs(self) -> None:
        """Move notices and input for a turn into the transcript, as the queue mode says."""
        items, self.inputs = _take(self.inputs, self.config.queue_mode)
        self.append(*self._take_notices(), *items)

    def append_steer(self) -> None:
        """Move notices and steering into the transcript, as the queue mode says."""
        mode = self.config.steer_mode or self.config.queue_mode
        items, self.steer = _take(self.steer, mode)
        self.append(*self._take_notices(), *items)

    def _take_notices(self) -> Iterable[Item]:
        notices, self.notices = self.notices, ()
        return notices


def _tell_of(draft: Draft, appended: tuple[Item, ...]) -> None:
    draft.revision += 1
    draft.effects.append(Persist(appended, draft.revision))
    draft.emit(ItemsAppended(appended, draft.revision))


def stamp(items: Iterable[Item], now: int) -> tuple[Item, ...]:
    """Give items without a time this one, in milliseconds since the Unix epoch."""
    return tuple(
        [item if item.created_at is not None else replace(item, created_at=now) for item in items]
    )


def _take(queue: tuple[Batch, ...], mode: QueueMode) -> tuple[list[Item], tuple[Batch, ...]]:
    """Split a queue into the items that its mode takes and the rest."""
    count = len(queue) if mode is QueueMode.ALL else 1
    return [item for batch in queue[:count] for item in batch], queue[count:]
