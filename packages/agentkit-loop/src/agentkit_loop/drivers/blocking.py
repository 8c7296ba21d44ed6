"""The driver without an event loop: one thing after another, on the thread of the host.

Other threads may give it inputs at any moment; a lock keeps steps apart. What is being waited
for cannot be interrupted from outside, so a cancelled turn ends after the present read, tool or
slice of a wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from agentkit_core.provider import ModelEvent
from agentkit_loop._sync import at_once
from agentkit_loop.drivers._effect_results import came_of, failed_call, log_unclosed, lost
from agentkit_loop.drivers._engine import Answering
from agentkit_loop.drivers._parts import Parts
from agentkit_loop.drivers._performing import Performer
from agentkit_loop.kernel._effects import (
    AnsweredEffect,
    CallModel,
    CheckFinish,
    EffectId,
    Preflight,
    Prepare,
    RunMutators,
    StartTimer,
    StartTool,
)
from agentkit_loop.kernel._inputs import Input, TimerFired, ToolStarted
from agentkit_loop.kernel._status import SessionStatus
from agentkit_loop.ports import BlockingModelSession
from agentkit_tools_core import Suspension

_SLICE_S: Final = 0.1
"""How long a wait goes on without looking whether it is still wanted."""


class _Reading(Answering):
    """An answer while it comes, and the iterator that it comes from."""

    stream: Iterator[Sequence[ModelEvent]] | None = None


class BlockingDriver(Performer):
    """Drives one session on whatever thread calls `next`, one thread at a time.

    Args:
        model: The session's model.
        parts: See `Parts`; the store is a `BlockingStore`.
    """

    answering: _Reading | None

    def __init__(self, model: BlockingModelSession, parts: Parts) -> None:
        super().__init__(parts)
        self._model = model
        self._retired: list[BlockingModelSession] = []
        self._lock = threading.RLock()
        self._at_hand: AnsweredEffect | None = None

    def on_thread(self, act: Callable[[], None]) -> None:
        """Do something while no step is under way; it is done when this returns."""
        with self._lock:
            act()

    def feed(self, given: Input) -> None:
        """Take an input; where there is a store, it is saved when this returns.

        Raises:
            Exception: It could not be saved; see `broken`.
        """
        with self._lock:
            nested = self._stepping
            super().feed(given)
            if not nested:
                self.flush()

    def flush(self) -> None:
        """Save what was decided and carry it out, until nothing is left.

        Raises:
            Exception: It could not be saved.
        """
        with self._lock:
            while self.is_unsaved:
                try:
                    if self.outbox.in_doubt:
                        self.find_save(self._store.load_blocking(self.state.session_id))
                        continue
                    save, head = self.begin_save()
                    self._store.save_blocking(
                        self.state.session_id, seq=self.outbox.saves + 1, head=head, log=save.log
                    )
                except Exception as error:
                    self.fail_save(error)
                    raise
                self.end_save(save)

    def interrupt(self) -> None:
        """Cancel the turn because an exception leaves the driver; it is saved when this returns."""
        super().interrupt()
        if self.broken is None:
            self.flush()

    def use_model(self, model: BlockingModelSession) -> None:
        """Ask another model from the next call on."""
        self._retired.append(self._model)
        self._model = model

    def next(self) -> SessionStatus | None:
        """Work until the host has the word; None if nobody has, and nothing goes on.

        Leaving it by an exception (`KeyboardInterrupt`, `ReporterFailed`) cancels the turn; the
        transcript is valid then.
        """
        while True:
            self.release()
            self.flush()
            step = self.take_step()
            if step is not None or not self.is_at_work:
                return step
            self.advance()

    def advance(self) -> None:
        """Work until something is over or, if `listened`, has been told.

        Raises:
            ReporterFailed: A reporter wants the turn to stop.
        """
        try:
            self.flush()
            answer = self._advance()
            if answer is not None:
                self.feed(answer)
            self.raise_failure()
        except BaseException:
            self.on_thread(self.interrupt)
            self._take_back()
            self.release()
            raise

    def release(self) -> None:
        """Close the response of an answer that nobody waits for any more."""
        reading = self.answering
        if reading is not None and not self.is_wanted(reading.effect.id):
            self.answering = None
            _close(reading)
        if self._retired and self.answering is None:
            self._close_retired()

    def _close_retired(self) -> None:
        while self._retired:
            self._retired.pop().close()

    def end(self) -> None:
        """Free the model's session; the driver is not used any more."""
        self._over = True
        self.pending.clear()
        reading, self.answering = self.answering, None
        if reading is not None:
            _close(reading)
        self._close_retired()
        self._model.close()

    def stop_work(self, effect_id: EffectId) -> None:
        """Nothing: whoever performs the effect sees that it is no longer wanted."""

    def _advance(self) -> Input | None:
        if self.answering is not None:
            return self._read(self.answering)
        with self._lock:
            effect = self.pending.pop(0) if self.pending else None
        if effect is None or not self.is_wanted(effect.id):
            return None  # aborted from another thread
        self._at_hand = effect
        answer = _PERFORM[type(effect)](self, effect)
        self._at_hand = None
        return self._unless_aborted(answer, effect.id)

    def _take_back(self) -> None:
        """See to an effect that was struck and that is still wanted: one of a background call."""
        effect, self._at_hand = self._at_hand, None
        if effect is None or self.broken is not None or not self.is_wanted(effect.id):
            return
        if isinstance(effect, StartTool) and effect.id in self._begun:
            self.end_tool(effect)
            self.feed(lost(effect))
        else:
            self.pending.insert(0, effect)

    # effects that take time

    def _mutate(self, effect: RunMutators) -> Input:
        return at_once(self.hooked.mutate(effect, self.state))

    def _make_request(self, effect: Prepare) -> Input:
        return at_once(self.hooked.prepare_hooked(effect, self.state, self.executor))

    def _check_finish(self, effect: CheckFinish) -> Input:
        return at_once(self.hooked.check_finish(effect, self.state))

    def _call_model(self, effect: CallModel) -> Input | None:
        self.answering = _Reading(effect, self.turn_id)
        return self._read(self.answering)

    def _read(self, reading: _Reading) -> Input | None:
        try:
            if reading.stream is None:
                request = self.hooked.request(self.state, self.executor)
                reading.stream = self._model.respond(request)
            for batch in reading.stream:
                with self._lock:
                    if not self.is_wanted(reading.effect.id) or not self.show(reading, batch):
                        return None
        except Exception as error:
            reading.fold.feed((failed_call(error),))
        self.answering = None
        _close(reading)
        answer = self.end_of(reading)
        if self.hooked.responses:
            return at_once(self.hooked.look_at(answer, self.state))
        return answer

    def _check(self, effect: Preflight) -> Input:
        verdict = self.executor.preflight(self.request_of(effect), granted=effect.granted)
        return self.judged(effect, verdict)

    def _run_tool(self, effect: StartTool) -> Input | None:
        if self._store is not None:
            self.feed(ToolStarted(effect.id))
            if not self.is_wanted(effect.id):
                return None
        self._begun[effect.id] = effect.call.id
        context = self.context_of(effect, self.feed)
        outcome = self.executor.run_blocking(context.request, context)
        self.end_tool(effect, asks=isinstance(outcome, Suspension))
        return came_of(effect, outcome)

    def _wait(self, effect: StartTimer) -> Input | None:
        while self.is_wanted(effect.id) and (left_s := self.seconds_until(effect.at)) > 0:
            self._clock.sleep_blocking(min(left_s, _SLICE_S))
        return TimerFired(effect.id)

    def _unless_aborted(self, answer: Input | None, effect_id: EffectId) -> Input | None:
        return answer if self.is_wanted(effect_id) else None


def _close(reading: _Reading) -> None:
    close: Callable[[], None] | None = getattr(reading.stream, "close", None)
    if close is None:
        return
    try:
        close()
    except Exception as error:
        log_unclosed(error)


_PERFORM: Final[Mapping[type[AnsweredEffect], Callable[[BlockingDriver, Any], Input | None]]] = {
    RunMutators: BlockingDriver._mutate,
    Prepare: BlockingDriver._make_request,
    CallModel: BlockingDriver._call_model,
    Preflight: BlockingDriver._check,
    StartTool: BlockingDriver._run_tool,
    StartTimer: BlockingDriver._wait,
    CheckFinish: BlockingDriver._check_finish,
}
"""How each effect is performed that takes time."""
