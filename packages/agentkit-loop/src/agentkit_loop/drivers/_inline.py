"""Runs one session's effects one after another, on the thread of the host."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from agentkit_core.provider import ModelEvent
from agentkit_loop.drivers._broken_runs import recover
from agentkit_loop.drivers._call_timers import LateCallTimer
from agentkit_loop.drivers._depth import inside
from agentkit_loop.drivers._effect_results import (
    failed_response,
    log_close_failure,
    tool_answer,
)
from agentkit_loop.drivers._engine import Engine
from agentkit_loop.drivers._model_reading import ModelReading
from agentkit_loop.drivers._quick_calls import (
    feed_held_answers,
    is_started,
    next_is_quick,
    start_quick_calls,
)
from agentkit_loop.drivers._responses import end_of_response, take_batch
from agentkit_loop.drivers._save_steps import begin_save, end_save, resolve_doubt
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
from agentkit_loop.ports import BlockingModelSession, BlockingStore, Closable
from agentkit_tools_core import Suspension
from agentkit_tools_core.sync import require_no_awaitable, run_at_once

_SLICE_S: Final = 0.1
"""How long a wait goes on before it looks whether it is still wanted."""

_LOADING: Final = "the store's `load_blocking`"
_SAVING: Final = "the store's `save_blocking`"

Reading = ModelReading[Iterator[Sequence[ModelEvent]]]


class InlineRunner:
    """The `EffectRunner` of the blocking driver.

    Args:
        engine: The session's engine.
        model: The session with the model.
        store: Where the session is saved; None means nowhere.

    Attributes:
        reading: The response that is being read; None if none is.
    """

    __slots__ = (
        "_engine",
        "_lock",
        "_model",
        "_performing",
        "_retired",
        "_store",
        "_timer",
        "reading",
    )

    def __init__(
        self, engine: Engine, model: BlockingModelSession, store: BlockingStore | None
    ) -> None:
        self.reading: Reading | None = None
        self._engine = engine
        self._store = store
        self._model = model
        self._retired: list[BlockingModelSession] = []
        """Models that were replaced and are not closed yet."""
        self._timer = LateCallTimer(engine.clock)
        self._lock = threading.RLock()
        self._performing: AnsweredEffect | None = None

    # what the engine asks

    @property
    def is_at_work(self) -> bool:
        """Whether a response is being read."""
        return self.reading is not None

    def call(self, action: Callable[[], None], /) -> None:
        """Run an action while no other thread steps; it has run when this returns."""
        with self._lock:
            action()

    def after_step(self) -> None:
        """Save what the step decided."""
        self.flush()

    def save_soon(self) -> None:
        """Do nothing: every step is saved before `Engine.feed` returns."""

    def stop(self, effect_id: EffectId, /) -> None:
        """Do nothing: the code that performs the effect sees that it is no longer wanted."""

    def rest(self) -> None:
        """Do nothing: nothing is kept that only work needs."""

    def notify(self) -> None:
        """Do nothing: no task can wait for a blocking session to change."""

    # what the driver asks

    def flush(self) -> None:
        """Save what was decided and carry it out, until nothing is left.

        Raises:
            Exception: It could not be saved; nothing is done any more.
        """
        with self._lock:
            while self._engine.outbox:
                self._save()

    def use_model(self, model: BlockingModelSession) -> None:
        """Call another model from the next model call on."""
        self._retired.append(self._model)
        self._model = model

    def advance(self) -> None:
        """Perform the next effect, or read the response on, and feed the answer."""
        self.flush()
        with inside(self._engine.depth):
            if self.reading is not None:
                answer = self._read(self.reading)
            elif self._next_is_quick():
                return self._perform_quick_calls()
            else:
                answer = self._perform_next()
        if answer is not None:
            self._engine.post(answer)

    def recover_interrupted(self) -> None:
        """Answer, or put back, an effect that an exception interrupted and that is still wanted.

        That is one of a background call, or of a turn that is kept: cancelling a turn aborts all
        others.
        """
        effect, self._performing = self._performing, None
        if effect is not None:
            self.call(partial(recover, self._engine, (effect,)))

    def release(self) -> None:
        """Close a response that is no longer wanted, and models that are no longer used."""
        reading = self.reading
        if reading is not None and not self._engine.is_wanted(reading.effect.id):
            self.reading = None
            _close_stream(reading)
        if self._retired and self.reading is None:
            self._close_retired()

    def close(self) -> None:
        """Close the response and all models."""
        reading, self.reading = self.reading, None
        if reading is not None:
            _close_stream(reading)
        self._retired.append(self._model)
        self._close_retired()

    def _close_retired(self) -> None:
        while self._retired:
            self._retired.pop(0).close()

    def _save(self) -> None:
        engine, store = self._engine, self._store
        assert store is not None  # noqa: S101  (without a store the outbox is always empty)
        session_id = engine.state.session_id
        try:
            if engine.outbox.in_doubt:
                stored = require_no_awaitable(store.load_blocking(session_id), _LOADING)
                return resolve_doubt(engine, stored)
            save, head = begin_save(engine)
            seq = engine.outbox.saves + 1
            saving: Any = store.save_blocking  # one that is async returns what nobody awaits
            require_no_awaitable(saving(session_id, seq=seq, head=head, log=save.log), _SAVING)
        except Exception as error:
            engine.fail_save(error)
            raise
        end_save(engine, save)

    # effects

    def _perform_next(self) -> Input | None:
        engine = self._engine
        with self._lock:
            effect = engine.pending.take_first() if engine.pending else None
        if effect is None or not engine.is_wanted(effect.id):
            return None  # aborted from another thread
        self._performing = effect
        answer = _PERFORM[type(effect)](self, effect)
        self._performing = None
        return answer if engine.is_wanted(effect.id) else None

    def _next_is_quick(self) -> bool:
        with self._lock:  # another thread may cancel what comes next
            return next_is_quick(self._engine)

    def _perform_quick_calls(self) -> None:
        """Perform the calls that never wait, and feed their answers together."""
        engine = self._engine
        if engine.has_store:
            self.call(partial(start_quick_calls, engine))
        try:
            while self._next_is_quick():
                answer = self._perform_next()
                if answer is not None:
                    self.call(partial(engine.hold, answer))
        finally:  # those before one that raised have their results
            self.call(partial(feed_held_answers, engine))

    def _run_hooks(self, effect: RunMutators | Prepare | CheckFinish) -> Input:
        engine = self._engine
        return run_at_once(engine.hooks.run(effect, engine.state, engine.executor))

    def _call_model(self, effect: CallModel) -> Input | None:
        self.reading = Reading(effect, self._engine.turn_id)
        return self._read(self.reading)

    def _read(self, reading: Reading) -> Input | None:
        engine = self._engine
        try:
            if reading.stream is None:
                request = engine.hooks.request(engine.state, engine.executor)
                reading.stream = self._model.respond(request)
            for batch in reading.stream:
                with self._lock:
                    wanted = engine.is_wanted(reading.effect.id)
                    if not wanted or not take_batch(engine, reading, batch):
                        return None
        except Exception as error:
            reading.has_failed = True
            reading.fold.feed((failed_response(error),))
            engine.hooks.hooks.report(error, "the model")
        self.reading = None
        _close_stream(reading)
        answer = end_of_response(engine, reading)
        if engine.hooks.has_response_hooks:
            return run_at_once(engine.hooks.review_response(answer, engine.state))
        return answer

    def _preflight(self, effect: Preflight) -> Input:
        engine = self._engine
        call = engine.tools.invocation(effect)
        return engine.tools.checks.check_blocking(effect, call, engine.state, engine.executor)

    def _run_tool(self, effect: StartTool) -> Input | None:
        engine = self._engine
        if engine.has_store and not is_started(engine, effect):
            engine.post(ToolStarted(effect.id))
            if not engine.is_wanted(effect.id):
                return None
        engine.tools.begin(effect)
        context = engine.tools.context(effect, self._timer)
        revision = engine.tools.checks.expected_revision(effect, engine.executor)
        outcome = engine.executor.run_blocking(context.request, context, revision=revision)
        answer = tool_answer(effect, outcome)
        if isinstance(outcome, Suspension) and outcome.broken_by is not None:
            engine.post(answer)
            raise outcome.broken_by
        return answer

    def _wait(self, effect: StartTimer) -> Input | None:
        clock = self._engine.clock
        while self._engine.is_wanted(effect.id):
            left_s = (effect.at - clock.now_ms()) / 1000
            if left_s <= 0:
                break
            clock.sleep_blocking(min(left_s, _SLICE_S))
        return TimerFired(effect.id)


def _close_stream(reading: Reading) -> None:
    stream: object = reading.stream
    # A generator is looked for first: a structural check takes longer than a whole small step.
    if isinstance(stream, (Generator, Closable)):
        try:
            stream.close()
        except Exception as error:
            log_close_failure(error)


_PERFORM: Final[Mapping[type[AnsweredEffect], Callable[[InlineRunner, Any], Input | None]]] = {
    RunMutators: InlineRunner._run_hooks,
    Prepare: InlineRunner._run_hooks,
    CallModel: InlineRunner._call_model,
    Preflight: InlineRunner._preflight,
    StartTool: InlineRunner._run_tool,
    StartTimer: InlineRunner._wait,
    CheckFinish: InlineRunner._run_hooks,
}
"""How each effect is performed."""
