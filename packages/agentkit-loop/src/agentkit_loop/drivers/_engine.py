"""What every driver does alike: step the kernel, and carry out what needs no waiting.

Effects that take time are left in `pending`, for the driver to perform in its own way. Where there
is a store, nothing that follows from a step is carried out before the step is saved: what was
decided waits in `outbox` until the driver has flushed it. Only aborts are not waited for; work
that is given up is given up in any case.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import ModelResponse, ToolCallId, TurnId, Usage
from agentkit_core.provider import ResponseFold
from agentkit_loop._result import TurnResult
from agentkit_loop.drivers._effect_results import verdict_on
from agentkit_loop.drivers._hook_runner import Hooked
from agentkit_loop.drivers._parts import Parts
from agentkit_loop.extensions._budget import Budget
from agentkit_loop.kernel._effects import (
    Abort,
    CallModel,
    CheckFinish,
    Effect,
    EffectId,
    Emit,
    Persist,
    Preflight,
    Prepare,
    RunMutators,
    StartTimer,
    StartTool,
    Yield,
)
from agentkit_loop.kernel._inputs import (
    Cancel,
    Close,
    EffectLost,
    Input,
    ToolProgressed,
    ToolSpent,
)
from agentkit_loop.kernel._state import State
from agentkit_loop.kernel._status import Finished, SessionStatus
from agentkit_loop.kernel._step import step
from agentkit_loop.persistence._outbox import Outbox, Save
from agentkit_loop.persistence._records import Saved
from agentkit_loop.persistence._snapshot import Head
from agentkit_tools_core import ToolInvocation


class Answering:
    """A model's answer while it comes."""

    def __init__(self, effect: CallModel, turn_id: TurnId | None) -> None:
        self.effect = effect
        self.turn_id = turn_id
        self.fold = ResponseFold()


class Stepper(ABC):
    """Steps the kernel for one session, one input at a time.

    Args:
        parts: What it is made of.
    """

    answering: Answering | None
    """The answer that is being read."""

    def __init__(self, parts: Parts) -> None:
        self.state: State = parts.state
        self.pending: list[Any] = []
        """Effects that take time and were not begun, in order."""
        self.answering = None
        self.listened = False
        """Whether work stops after each read, so that events can be handed on."""
        self.teller = parts.teller
        self.executor = parts.executor
        self.hooked = Hooked(parts.hooks, parts.mutators)
        self.last_result: TurnResult | None = None
        """What the last turn came to, of those that ended here."""
        self.broken: Exception | None = None
        """Why nothing can be saved any more; nothing is done then."""
        self._store = parts.store
        self.outbox = Outbox(parts.saves)
        self._undone: list[Effect] = []
        self._clock = parts.clock
        self._jitter = parts.jitter
        self._dependencies = parts.dependencies
        self.budget = Budget(lambda: self.state, parts.clock.now_ms, parts.above, told=self._spent)
        self._inbox: list[Input] = []
        self._stepping = False
        self._over = False
        self._steps: list[SessionStatus] = []
        self._begun: dict[EffectId, ToolCallId] = {}
        """Tools that run, or have run and were not answered."""

    # inputs

    def feed(self, given: Input) -> None:
        """Take an input, and carry out what follows from it and needs no waiting.

        Called within itself (by a reporter that does something to the session), the input
        waits for its turn. With a store, what follows waits for the save.

        Raises:
            Exception: What the session was decided is not saved, and cannot be: see `broken`.
        """
        if self.broken is not None:
            raise self.broken
        self._inbox.append(given)
        if self._stepping:
            return
        self._go_through()

    def _go_through(self) -> None:
        self._stepping = True
        try:
            self.carry_out(())
            self._decide()
        finally:
            self._stepping = False

    def post(self, given: Input) -> None:
        """Take an input from outside the work."""
        self.feed(given)

    def notify(self) -> None:  # noqa: B027  (one driver has nobody to wake)
        """Wake whoever waits for something new."""

    def _decide(self) -> None:
        while self._inbox:
            given = self._inbox.pop(0)
            self.state, effects = step(self.state, given, self._clock.now_ms())
            # How far a tool is changes nothing that has to be saved.
            if self._store is None or (type(given) is ToolProgressed and not self.is_unsaved):
                self.carry_out(effects)
                continue
            self.outbox.take(effects)
            for effect in effects:
                if isinstance(effect, Abort):
                    self._abort(effect)

    def carry_out(self, effects: Iterable[Effect]) -> None:
        """Carry out effects in order, as far as they need no waiting.

        Where something strikes in between (a Ctrl-C while a reporter prints), the rest is carried
        out with those that come next.
        """
        waiting = [*self._undone, *effects] if self._undone else list(effects)
        done = 0
        try:
            for effect in waiting:
                done += 1
                _FIRE[type(effect)](self, effect)
        finally:
            self._undone = waiting[done:]

    def cancel(self) -> None:
        """Cancel the turn, keeping what came of an answer; nothing to do when none runs."""
        if self.state.turn is not None and self.broken is None and not self._over:
            self.feed(Cancel(self._partial()))

    def close(self) -> None:
        """End the session; a turn that runs is cancelled."""
        self.feed(Close(self._partial()))

    def _partial(self) -> ModelResponse | None:
        reading = self.answering
        if reading is None or not self.is_wanted(reading.effect.id):
            return None
        return reading.fold.cancel()

    # saving

    @property
    def is_over(self) -> bool:
        """Whether the session was closed or suspended."""
        return self._over

    @property
    def is_unsaved(self) -> bool:
        """Whether something was decided that is not saved for sure, and so not carried out."""
        return bool(self.outbox)

    def begin_save(self) -> tuple[Save, bytes]:
        """Take what is to be saved, and the head that says so; see `Outbox.begin`."""
        return self.outbox.begin(self.state, self.teller.seq)

    def end_save(self, save: Save) -> None:
        """Carry out what is saved now; what follows from that is to be saved next."""
        self.outbox.end()
        self._stepping = True
        try:
            out = self.state.out
            self.carry_out(
                effect
                for effect in save.effects
                if (effect_id := getattr(effect, "id", None)) is None or effect_id in out
            )
            self._decide()
        finally:
            self._stepping = False

    def find_save(self, stored: Saved | None) -> None:
        """Go on after a save that was in doubt, now that it is known what is stored."""
        save = self.outbox.find(stored)
        if save is not None:
            self.end_save(save)

    def fail_save(self, error: Exception) -> None:
        """Do nothing any more: what was decided could not be saved."""
        self.broken = error
        self.outbox.clear()
        self.pending.clear()
        for effect_id in self.state.out:
            self.stop_work(effect_id)

    def begin(self, head: Head | None, effects: Sequence[Effect]) -> None:
        """Carry out what there is to begin with.

        Args:
            head: What was saved of a session that goes on, in another process maybe; what may
                not have been told is told again. None for a new one.
            effects: What starting or resuming asks for.
        """
        self._stepping = True
        try:
            if head is not None:
                self.carry_out(head.told)
            if self._store is None:
                self.carry_out(effects)
            else:
                self.outbox.take(effects)
            if head is not None:
                self._take_over()
            self._decide()
        finally:
            self._stepping = False

    def _take_over(self) -> None:
        for effect in list(self.state.out.values()):
            if isinstance(effect, StartTool) and not effect.started:
                self.pending.append(effect)
            else:
                self._inbox.append(EffectLost(effect.id))

    def snapshot(self) -> State:
        """The state as whoever goes on from it has to see it: what runs here is lost there."""
        state = self.state  # read once: others may step meanwhile
        out = {
            effect_id: replace(effect, started=True)
            if isinstance(effect, StartTool) and effect_id in self._begun
            else effect
            for effect_id, effect in state.out.items()
        }
        return replace(state, out=out)

    # what the host is handed

    def take_step(self) -> SessionStatus | None:
        """Take the next step for the host; None while there is something to perform first.

        A turn that is over is handed over at once; what is asked of the host comes when
        everything else is done, as it stands then.
        """
        if self._steps and (isinstance(self._steps[0], Finished) or not self.is_at_work):
            return self._steps.pop(0)
        return None

    def drop_steps(self) -> None:
        """Hand nothing over of what is past: whoever begins a turn asks for that turn's end."""
        self._steps.clear()

    @property
    def turn_id(self) -> TurnId | None:
        """The turn that runs."""
        return None if self.state.turn is None else self.state.turn.id

    @property
    def is_stopped(self) -> bool:
        """Whether a reporter wants the turn to stop."""
        return self.teller.stopped_by is not None

    @property
    def is_at_work(self) -> bool:
        """Whether there is something to perform, to read on or to save."""
        return bool(self.pending) or self.answering is not None or self.is_unsaved

    @property
    def has_word(self) -> bool:
        """Whether there is something to do or to hand over before the host is heard."""
        return self.is_at_work or bool(self._steps)

    def is_wanted(self, effect_id: EffectId) -> bool:
        """Whether an effect is still to be answered."""
        return effect_id in self.state.out

    # effects that need no waiting

    def _emit(self, effect: Emit) -> None:
        self.teller.tell(effect.event, effect.turn_id, effect.number or None)

    def _yield(self, effect: Yield) -> None:
        if self._steps and not isinstance(self._steps[-1], Finished):
            self._steps.pop()
        self._steps.append(effect.step)
        if isinstance(effect.step, Finished):
            self.last_result = effect.step.result

    def _abort(self, effect: Abort) -> None:
        call_id = self._begun.pop(effect.id, None)
        if call_id is not None:
            self.budget.settle(call_id)  # what it has said is in the result that it got instead
        for waiting in self.pending:
            if waiting.id == effect.id:
                self.pending.remove(waiting)
                return
        self.stop_work(effect.id)

    def _spent(self, call_id: ToolCallId, usage: Usage) -> None:
        if self.broken is not None or self._over:
            return
        running = (one for one, its_call in list(self._begun.items()) if its_call == call_id)
        effect_id = next(running, None)
        if effect_id is not None:
            self.on_thread(lambda: self.post(ToolSpent(effect_id, usage)))

    @abstractmethod
    def stop_work(self, effect_id: EffectId) -> None:
        """Stop an effect that has been begun."""

    @abstractmethod
    def on_thread(self, act: Callable[[], None]) -> None:
        """Do something where no step is under way, called from any thread; done on return."""

    def _prepare(self, effect: Prepare) -> None:
        if self.hooked.requests:
            return self.pending.append(effect)
        self._inbox.append(self.hooked.prepare(effect, self.state, self.executor))

    def _preflight(self, effect: Preflight) -> None:
        if self.executor.has_hooks:
            return self.pending.append(effect)
        verdict = self.executor.preflight(self.request_of(effect), granted=effect.granted)
        self._inbox.append(self.judged(effect, verdict))

    def judged(self, effect: Preflight, verdict: Any) -> Input:
        """Make the answer of a preflight."""
        return verdict_on(effect, verdict, self.executor.annotations(effect.call.name))

    def request_of(self, effect: Preflight | StartTool) -> ToolInvocation:
        """Make the executor's view of a call."""
        call = effect.call
        return ToolInvocation(
            call_id=call.id,
            name=call.name,
            input=call.input,
            session_id=self.state.session_id,
            turn_id=self.turn_id,
            metadata=call.metadata,
        )

    def interrupt(self) -> None:
        """Cancel the turn because an exception leaves the driver."""
        self.cancel()
        # Whatever of a step was left undone belongs to what is over, not to what comes next.
        self._go_through()
        # One exception is enough; what reporters made of the cancelling would be raised late.
        self.teller.stopped_by = None

    def raise_failure(self) -> None:
        """Raise what a reporter wants raised, once, or why nothing can be saved."""
        failure, self.teller.stopped_by = self.teller.stopped_by, None
        if failure is not None:
            raise failure
        if self.broken is not None:
            raise self.broken


def _later(stepper: Stepper, effect: Any) -> None:
    stepper.pending.append(effect)


def _stored_with_state(stepper: Stepper, effect: Persist) -> None:
    """Nothing: the transcript is in the state; whoever saves that has saved this."""


_FIRE: Final[Mapping[type[Effect], Callable[[Stepper, Any], None]]] = {
    Emit: Stepper._emit,
    Persist: _stored_with_state,
    Yield: Stepper._yield,
    Abort: Stepper._abort,
    RunMutators: _later,
    Prepare: Stepper._prepare,
    CallModel: _later,
    Preflight: Stepper._preflight,
    StartTool: _later,
    StartTimer: _later,
    CheckFinish: _later,
}
"""How each effect is carried out as far as it needs no waiting."""
