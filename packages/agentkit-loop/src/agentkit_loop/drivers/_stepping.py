"""What every driver does alike: step the kernel, and carry out what needs no waiting.

Effects that take time are left in `pending`, for the driver to perform in its own way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from agentkit_core import (
    ModelEvent,
    ModelRequest,
    ModelResponse,
    ResponseFailed,
    ResponseFinished,
    ResponseFold,
    ResponseStarted,
    TurnId,
    UsageReported,
)
from agentkit_loop._effects import (
    Abort,
    CallModel,
    Effect,
    EffectId,
    Emit,
    Persist,
    Preflight,
    StartTimer,
    StartTool,
    Yield,
)
from agentkit_loop._inputs import (
    Cancel,
    Close,
    Input,
    ModelFailed,
    ModelResponded,
    ToolProgressed,
)
from agentkit_loop._kernel import step
from agentkit_loop._request import model_request
from agentkit_loop._state import State
from agentkit_loop._steps import Finished, Step
from agentkit_loop._teller import Teller
from agentkit_loop.drivers._answers import verdict_on
from agentkit_loop.events import ContentDelta
from agentkit_loop.ports import Clock
from agentkit_tools_core import (
    Executor,
    ToolContext,
    ToolRequest,
)

_NO_DELTAS: Final = frozenset({ResponseStarted, UsageReported, ResponseFinished, ResponseFailed})
"""Events of an answer that are not told as they come; their facts are told at its end."""


class Answering:
    """A model's answer while it comes."""

    def __init__(self, effect: CallModel, turn_id: TurnId | None) -> None:
        self.effect = effect
        self.turn_id = turn_id
        self.fold = ResponseFold()


class Stepper(ABC):
    """Steps the kernel for one session, one input at a time.

    Args:
        state: The session to begin with.
        executor: Checks and runs calls.
        teller: Tells events.
        clock: Says what time it is.
        jitter: Gives a random number between 0 and 1, for waits.
        dependencies: Objects for tools, by type.
    """

    answering: Answering | None
    """The answer that is being read."""

    def __init__(
        self,
        state: State,
        *,
        executor: Executor,
        teller: Teller,
        clock: Clock,
        jitter: Callable[[], float],
        dependencies: Mapping[type[Any], object],
    ) -> None:
        self.state = state
        self.pending: deque[Any] = deque()
        """Effects that take time and were not begun, in order."""
        self.answering = None
        self.listened = False
        """Whether work stops after each read, so that events can be handed on."""
        self.teller = teller
        self._executor = executor
        self._clock = clock
        self._jitter = jitter
        self._dependencies = dependencies
        self._inbox: deque[Input] = deque()
        self._stepping = False
        self._steps: deque[Step] = deque()
        self._fire: Final[Mapping[type[Effect], Callable[[Any], None]]] = {
            Emit: self._emit,
            Persist: _stored_with_state,
            Yield: self._yield,
            Abort: self._abort,
            Preflight: self._preflight,
            CallModel: self.pending.append,
            StartTool: self.pending.append,
            StartTimer: self.pending.append,
        }

    # inputs

    def feed(self, given: Input) -> None:
        """Take an input, and carry out what follows from it and needs no waiting.

        Called within itself (by a reporter that does something to the session), the input
        waits for its turn.
        """
        self._inbox.append(given)
        if self._stepping:
            return
        self._stepping = True
        try:
            while self._inbox:
                now = self._clock.now_ms()
                self.state, effects = step(self.state, self._inbox.popleft(), now)
                self.carry_out(effects)
        finally:
            self._stepping = False

    def carry_out(self, effects: Iterable[Effect]) -> None:
        """Carry out effects in order, as far as they need no waiting."""
        for effect in effects:
            self._fire[type(effect)](effect)

    def cancel(self) -> None:
        """Cancel the turn, keeping what came of an answer; nothing to do when none runs."""
        if self.state.turn is not None:
            self.feed(Cancel(self._partial()))

    def close(self) -> None:
        """End the session; a turn that runs is cancelled."""
        self.feed(Close(self._partial()))

    def _partial(self) -> ModelResponse | None:
        reading = self.answering
        if reading is None or not self.is_wanted(reading.effect.id):
            return None
        return reading.fold.cancel()

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
        """Whether there is something to perform or to read on."""
        return bool(self.pending) or self.answering is not None

    @property
    def has_word(self) -> bool:
        """Whether there is something to do or to hand over before the host is heard."""
        return self.is_at_work or bool(self._steps)

    def is_wanted(self, effect_id: EffectId) -> bool:
        """Whether an effect is still to be answered."""
        return effect_id in self.state.out

    # effects that need no waiting

    def _emit(self, effect: Emit) -> None:
        self.teller.tell(effect.event, effect.turn_id)

    def _yield(self, effect: Yield) -> None:
        if self._steps and not isinstance(self._steps[-1], Finished):
            self._steps.pop()
        self._steps.append(effect.step)

    def _abort(self, effect: Abort) -> None:
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

    def _preflight(self, effect: Preflight) -> None:
        verdict = self._executor.preflight(self._request_of(effect), granted=effect.granted)
        self._inbox.append(verdict_on(effect, verdict))

    # parts of the effects that take time

    def model_request(self) -> ModelRequest:
        """Make the request of the model call that is out."""
        return model_request(self.state, self._executor.specs())

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
            return ModelResponded(reading.effect.id, response)
        return ModelFailed(reading.effect.id, response, self._jitter())

    def context_of(
        self, effect: StartTool, progress: Callable[[ToolProgressed], None]
    ) -> ToolContext:
        """Make what a running tool may ask."""
        return ToolContext(
            self._request_of(effect),
            progress=lambda message, data: progress(ToolProgressed(effect.id, message, data)),
            cancelled=lambda: not self.is_wanted(effect.id),
            dependencies=self._dependencies,
            approved=effect.granted,
        )

    def _request_of(self, effect: Preflight | StartTool) -> ToolRequest:
        return ToolRequest(
            call_id=effect.call_id,
            name=effect.name,
            input=effect.input,
            session_id=self.state.session_id,
            turn_id=self.turn_id,
            metadata=effect.metadata,
        )

    def seconds_until(self, at: int) -> float:
        """Seconds until a moment; 0 or less if it has passed."""
        return (at - self._clock.now_ms()) / 1000

    def interrupt(self) -> None:
        """Cancel the turn because an exception leaves the driver."""
        self.cancel()
        # One exception is enough; what reporters made of the cancelling would be raised late.
        self.teller.stopped_by = None

    def raise_failure(self) -> None:
        """Raise what a reporter wants raised, once."""
        failure, self.teller.stopped_by = self.teller.stopped_by, None
        if failure is not None:
            raise failure


def _stored_with_state(effect: Persist) -> None:
    """Nothing: the transcript is in the state; whoever saves that has saved this."""
