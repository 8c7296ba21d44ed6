"""What every driver does alike: step the kernel, and carry out what needs no waiting.

Effects that take time are left in `pending`, for the driver to perform in its own way. Where there
is a store, nothing that follows from a step is carried out before the step is saved: what was
decided waits in `_outbox` until the driver has flushed it. Only aborts are not waited for; work
that is given up is given up in any case.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import (
    ModelEvent,
    ModelResponse,
    ResponseFailed,
    ResponseFinished,
    ResponseFold,
    ResponseStarted,
    TurnId,
    UsageReported,
)
from agentkit_loop._budget import Budget, Share
from agentkit_loop._effects import (
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
from agentkit_loop._inputs import (
    Cancel,
    Close,
    Input,
    Lost,
    ModelFailed,
    ModelResponded,
    ToolProgressed,
)
from agentkit_loop._kernel import step
from agentkit_loop._saved import LogEntry, Saved
from agentkit_loop._snapshot import Head, encode_head
from agentkit_loop._state import State
from agentkit_loop._steps import Finished, Step
from agentkit_loop.drivers._answers import verdict_on
from agentkit_loop.drivers._hooked import Hooked
from agentkit_loop.drivers._parts import Parts
from agentkit_loop.events import ContentDelta, TurnResult
from agentkit_tools_core import ToolContext, ToolRequest

_NO_DELTAS: Final = frozenset({ResponseStarted, UsageReported, ResponseFinished, ResponseFailed})
"""Events of an answer that are not told as they come; their facts are told at its end."""


class Answering:
    """A model's answer while it comes."""

    def __init__(self, effect: CallModel, turn_id: TurnId | None) -> None:
        self.effect = effect
        self.turn_id = turn_id
        self.fold = ResponseFold()


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


class Stepper(ABC):
    """Steps the kernel for one session, one input at a time.

    Args:
        parts: What it is made of.
    """

    answering: Answering | None
    """The answer that is being read."""

    def __init__(self, parts: Parts) -> None:
        self.state: State = parts.state
        self.pending: deque[Any] = deque()
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
        self._saves = parts.saves
        self._outbox = Save()
        self._sent: tuple[Save, bytes] | None = None
        self._undone: deque[Effect] = deque()
        self._clock = parts.clock
        self._jitter = parts.jitter
        self._dependencies = parts.dependencies
        self.budget = Budget(lambda: self.state, parts.clock.now_ms, parts.above)
        self._inbox: deque[Input] = deque()
        self._stepping = False
        self._over = False
        self._steps: deque[Step] = deque()
        self._begun: set[EffectId] = set()
        """Tools that run, or have run and were not answered."""
        self._fire: Final[Mapping[type[Effect], Callable[[Any], None]]] = {
            Emit: self._emit,
            Persist: _stored_with_state,
            Yield: self._yield,
            Abort: self._abort,
            RunMutators: self.pending.append,
            Prepare: self._prepare,
            CallModel: self.pending.append,
            Preflight: self._preflight,
            StartTool: self.pending.append,
            StartTimer: self.pending.append,
            CheckFinish: self.pending.append,
        }

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
            given = self._inbox.popleft()
            self.state, effects = step(self.state, given, self._clock.now_ms())
            # How far a tool is changes nothing that has to be saved.
            if self._store is None or (type(given) is ToolProgressed and not self.is_unsaved):
                self.carry_out(effects)
                continue
            self._outbox.take(effects)
            for effect in effects:
                if isinstance(effect, Abort):
                    self._abort(effect)

    def carry_out(self, effects: Iterable[Effect]) -> None:
        """Carry out effects in order, as far as they need no waiting.

        Where something strikes in between (a Ctrl-C while a reporter prints), the rest is carried
        out with those that come next.
        """
        self._undone.extend(effects)
        while self._undone:
            effect = self._undone.popleft()
            self._fire[type(effect)](effect)

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
        return self._outbox.steps > 0 or self._sent is not None

    @property
    def in_doubt(self) -> bool:
        """Whether a save was begun, and it is not known what became of it.

        It is under way, or whoever waited for it was struck by something else than its failure.
        """
        return self._sent is not None

    def begin_save(self) -> tuple[Save, bytes]:
        """Take what is to be saved; what is decided from now on is for the next save."""
        save = self._outbox
        head = encode_head(self.state, save.effects, self.teller.seq)
        self._outbox, self._sent = Save(), (save, head)
        return save, head

    def end_save(self, save: Save) -> None:
        """Carry out what is saved now; what follows from that is to be saved next."""
        self._saves += 1
        self._sent = None
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
        assert self._sent is not None  # noqa: S101  (only then is there a doubt)
        save, head = self._sent
        if stored is not None and stored.seq == self._saves + 1 and stored.head == head:
            return self.end_save(save)
        save.join(self._outbox)
        self._outbox, self._sent = save, None

    def fail_save(self, error: Exception) -> None:
        """Do nothing any more: what was decided could not be saved."""
        self.broken = error
        self._outbox, self._sent = Save(), None
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
                self._outbox.take(effects)
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
                self._inbox.append(Lost(effect.id))

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

    def take_step(self) -> Step | None:
        """Take the next step for the host; None while there is something to perform first.

        A turn that is over is handed over at once; what is asked of the host comes when
        everything else is done, as it stands then.
        """
        if self._steps and (isinstance(self._steps[0], Finished) or not self.is_at_work):
            return self._steps.popleft()
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
        self._begun.discard(effect.id)
        for waiting in self.pending:
            if waiting.id == effect.id:
                self.pending.remove(waiting)
                return
        self.stop_work(effect.id)

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
        return verdict_on(effect, verdict, self.executor.annotations(effect.name))

    # parts of the effects that take time

    def show(self, reading: Answering, batch: Sequence[ModelEvent]) -> bool:
        """Take the events of one network read: fold them, and tell their deltas as one event.

        Returns:
            Whether to read on at once: nobody wants the word, and the answer is still wanted.
        """
        reading.fold.feed(batch)
        deltas = tuple(batch)
        if not _NO_DELTAS.isdisjoint(map(type, deltas)):
            deltas = tuple(event for event in deltas if type(event) not in _NO_DELTAS)
        if deltas:
            self.teller.tell(ContentDelta(deltas), reading.turn_id)  # type: ignore[arg-type]
        return (
            not self.listened
            and self.teller.stopped_by is None
            and reading.effect.id in self.state.out
        )

    def end_of(self, reading: Answering) -> ModelResponded | ModelFailed:
        """Make the answer to a model call that has been read to its end."""
        response = reading.fold.finish()
        if response.failure is None:
            self.hooked.forget_request()
            return ModelResponded(reading.effect.id, response)
        return ModelFailed(reading.effect.id, response, self._jitter())

    def context_of(
        self, effect: StartTool, progress: Callable[[ToolProgressed], None]
    ) -> ToolContext:
        """Make what a running tool may ask."""
        return ToolContext(
            self.request_of(effect),
            progress=lambda message, data: progress(ToolProgressed(effect.id, message, data)),
            cancelled=lambda: not self.is_wanted(effect.id),
            dependencies={Share: self.budget.share(effect.call_id), **self._dependencies},
            approved=effect.granted,
            answers=effect.answers,
            denied=effect.denied,
            token=effect.token,
        )

    def request_of(self, effect: Preflight | StartTool) -> ToolRequest:
        """Make the executor's view of a call."""
        return ToolRequest(
            call_id=effect.call_id,
            name=effect.name,
            input=effect.input,
            session_id=self.state.session_id,
            turn_id=self.turn_id,
            metadata=effect.metadata,
        )

    def end_tool(self, effect: StartTool, *, asks: bool = False) -> None:
        """Note that a tool runs no more: it is over, or stopped to ask."""
        self._begun.discard(effect.id)
        if asks:
            self.budget.take_back((effect.call_id,))
        else:
            self.budget.settle(effect.call_id)

    def seconds_until(self, at: int) -> float:
        """Seconds until a moment; 0 or less if it has passed."""
        return (at - self._clock.now_ms()) / 1000

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


def _stored_with_state(effect: Persist) -> None:
    """Nothing: the transcript is in the state; whoever saves that has saved this."""
