"""The driver without an event loop: one thing after another, on the thread of the host.

Other threads may give it inputs at any moment; a lock keeps steps apart. What is being waited
for cannot be interrupted from outside, so a cancelled turn ends after the present read, tool or
slice of a wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from agentkit_core import ModelEvent
from agentkit_loop._effects import AnsweredEffect, CallModel, EffectId, StartTimer, StartTool
from agentkit_loop._inputs import Input, TimerFired
from agentkit_loop._steps import Step
from agentkit_loop.drivers._answers import failed_call, log_unclosed, tool_done
from agentkit_loop.drivers._stepping import Answering, Stepper
from agentkit_loop.ports import BlockingModelSession

_SLICE_S: Final = 0.1
"""How long a wait goes on without looking whether it is still wanted."""


class _Reading(Answering):
    """An answer while it comes, and the iterator that it comes from."""

    stream: Iterator[Sequence[ModelEvent]] | None = None


class BlockingDriver(Stepper):
    """Drives one session on whatever thread calls `next`, one thread at a time.

    Args:
        model: The session's model.
        **parts: See `Stepper`.
    """

    answering: _Reading | None

    def __init__(self, model: BlockingModelSession, **parts: Any) -> None:
        super().__init__(**parts)
        self._model = model
        self._lock = threading.RLock()
        self._perform: Final[Mapping[type[AnsweredEffect], Callable[[Any], Input | None]]] = {
            CallModel: self._call_model,
            StartTool: self._run_tool,
            StartTimer: self._wait,
        }

    def on_thread(self, act: Callable[[], None]) -> None:
        """Do something while no step is under way; it is done when this returns."""
        with self._lock:
            act()

    def feed(self, given: Input) -> None:
        """Take an input."""
        with self._lock:
            super().feed(given)

    def next(self) -> Step:
        """Work until the host has the word.

        Leaving it by an exception (`KeyboardInterrupt`, `ReporterFailed`) cancels the turn; the
        transcript is valid then.
        """
        while True:
            self.release()
            step = self.take_step()
            if step is not None:
                return step
            self.advance()

    def advance(self) -> None:
        """Work until something is over or, if `listened`, has been told.

        Raises:
            ReporterFailed: A reporter wants the turn to stop.
        """
        try:
            answer = self._advance()
            if answer is not None:
                self.feed(answer)
            self.raise_failure()
        except BaseException:
            self.on_thread(self.interrupt)
            self.release()
            raise

    def release(self) -> None:
        """Close the response of an answer that nobody waits for any more."""
        reading = self.answering
        if reading is not None and not self.is_wanted(reading.effect.id):
            self.answering = None
            _close(reading)

    def end(self) -> None:
        """Free the model's session; the driver is not used any more."""
        self.release()
        self._model.close()

    def stop_work(self, effect_id: EffectId) -> None:
        """Nothing: whoever performs the effect sees that it is no longer wanted."""

    def _advance(self) -> Input | None:
        if self.answering is not None:
            return self._read(self.answering)
        with self._lock:
            effect = self.pending.popleft() if self.pending else None
        return None if effect is None else self._perform[type(effect)](effect)

    def _call_model(self, effect: CallModel) -> Input | None:
        self.answering = _Reading(effect, self.turn_id)
        return self._read(self.answering)

    def _read(self, reading: _Reading) -> Input | None:
        try:
            if reading.stream is None:
                reading.stream = self._model.respond(self.model_request())
            for batch in reading.stream:
                with self._lock:
                    if not self.is_wanted(reading.effect.id):
                        return None
                    if not self.show(reading, batch):
                        return None
        except Exception as error:
            reading.fold.feed((failed_call(error),))
        self.answering = None
        _close(reading)
        return self._unless_aborted(self.end_of(reading), reading.effect.id)

    def _run_tool(self, effect: StartTool) -> Input | None:
        context = self.context_of(effect, self.feed)
        outcome = self._executor.run_blocking(context.request, context)
        return self._unless_aborted(tool_done(effect, outcome), effect.id)

    def _wait(self, effect: StartTimer) -> Input | None:
        while self.is_wanted(effect.id) and (left_s := self.seconds_until(effect.at)) > 0:
            self._clock.sleep_blocking(min(left_s, _SLICE_S))
        return self._unless_aborted(TimerFired(effect.id), effect.id)

    def _unless_aborted(self, answer: Input, effect_id: EffectId) -> Input | None:
        return answer if self.is_wanted(effect_id) else None


def _close(reading: _Reading) -> None:
    close: Callable[[], None] | None = getattr(reading.stream, "close", None)
    if close is None:
        return
    try:
        close()
    except Exception as error:
        log_unclosed(error)
