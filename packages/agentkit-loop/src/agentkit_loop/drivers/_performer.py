"""Performs single effects on an event loop: model calls, tools, hooks, timers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from types import AsyncGeneratorType
from typing import Any, Final, TypeGuard, TypeVar

import anyio
import anyio.lowlevel

from agentkit_core import ToolCall
from agentkit_core.provider import ModelEvent
from agentkit_loop.drivers._call_timers import StoppingCallTimer
from agentkit_loop.drivers._cancellation import LONG_S, Cancellation
from agentkit_loop.drivers._depth import inside
from agentkit_loop.drivers._effect_results import (
    failed_response,
    interrupted_answer,
    log_close_failure,
    tool_answer,
)
from agentkit_loop.drivers._engine import Engine
from agentkit_loop.drivers._model_reading import ModelReading
from agentkit_loop.drivers._quick_calls import is_started
from agentkit_loop.drivers._responses import end_of_response, take_batch
from agentkit_loop.drivers._saver import Saver, close_deadline
from agentkit_loop.drivers._tool_threads import run_in_tool_thread
from agentkit_loop.events import Diagnostic
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
from agentkit_loop.ports import AsyncClosable, ModelSession
from agentkit_tools_core import Suspension

T = TypeVar("T")

Reading = ModelReading[AsyncIterator[Sequence[ModelEvent]]]


class Performer:
    """Performs one effect at a time or several at once; each answer is returned, not fed.

    A response is read without a queue or a task of its own: one read is one `await` of the
    model's iterator.

    Args:
        engine: The session's engine.
        saver: Saves that a tool was started before it runs.
        model: The session with the model.

    Attributes:
        cancellation: Whether the host has cancelled the work.
        reading: The response that is being read; None if none is.
    """

    __slots__ = (
        "_engine",
        "_given_up",
        "_model",
        "_retired",
        "_saver",
        "_scope_class",
        "_scopes",
        "_timer",
        "cancellation",
        "reading",
    )

    def __init__(self, engine: Engine, saver: Saver, model: ModelSession) -> None:
        self.cancellation = Cancellation()
        self.reading: Reading | None = None
        self._timer = StoppingCallTimer(engine.clock)
        self._engine = engine
        self._saver = saver
        self._model = model
        self._scopes: dict[EffectId, anyio.CancelScope] = {}
        # What anyio's own name for it finds out anew each time, which takes as long as the scope.
        self._scope_class = type(anyio.CancelScope())
        self._retired: list[ModelSession] = []
        """Models that were replaced and are not closed yet."""
        self._given_up: list[ToolCall] = []
        """Calls whose threads were left behind, and which were not told of yet."""

    def use_model(self, model: ModelSession) -> None:
        """Call another model from the next model call on."""
        self._retired.append(self._model)
        self._model = model

    async def perform_in_task(
        self, effect: AnsweredEffect, scope: anyio.CancelScope
    ) -> Input | None:
        """Perform an effect in a task of its own; see `perform`.

        Args:
            effect: The effect.
            scope: Cancels the task. There is nothing else that could: it is no task of the host.
        """
        answer = None
        if scope.cancel_called or not self._engine.is_wanted(effect.id):
            return None
        with scope:
            answer = await self._perform_in_scope(effect, scope)
        # A tool may have swallowed the cancellation.
        return answer if not scope.cancel_called and self._engine.is_wanted(effect.id) else None

    async def perform(self, effect: AnsweredEffect) -> Input | None:
        """Perform an effect, of which the host has not been cancelled before.

        Returns:
            Its answer; None if it was aborted, or if there is more to come.
        """
        engine, answer = self._engine, None
        if not engine.is_wanted(effect.id):
            return None
        began = perf_counter()
        with anyio.CancelScope() as scope:
            answer = await self._perform_in_scope(effect, scope)
        await self.cancellation.raise_if_requested(since=began)
        return answer if engine.is_wanted(effect.id) else None

    async def _perform_in_scope(
        self, effect: AnsweredEffect, scope: anyio.CancelScope
    ) -> Input | None:
        self._scopes[effect.id] = scope
        try:
            with inside(self._engine.depth):
                return await _PERFORM[type(effect)](self, effect)
        except anyio.get_cancelled_exc_class() as error:
            if self.cancellation.is_requested:
                raise
            # Code that waits for a cancelled task would end its host as if it were cancelled.
            text = f"{type(effect).__name__} was cancelled from within"
            raise RuntimeError(text) from error
        finally:
            del self._scopes[effect.id]

    async def read_on(self, reading: Reading) -> Input | None:
        """Read a response on.

        Returns:
            The answer to the model call at the response's end; None before, and if the call was
            aborted.
        """
        answer, began = None, perf_counter()
        effect_id = reading.effect.id
        with self._scope_class() as scope:
            self._scopes[effect_id] = scope
            try:
                with inside(self._engine.depth):
                    answer = await self._read(reading)
            finally:
                del self._scopes[effect_id]
        if self.cancellation.was_delivered or perf_counter() - began > LONG_S:
            await self.cancellation.raise_if_requested(since=began)
        return answer

    def stop(self, effect_id: EffectId) -> None:
        """Cancel an effect if it is being performed."""
        scope = self._scopes.get(effect_id)
        if scope is not None:
            scope.cancel()

    def stop_all(self) -> None:
        """Cancel all effects that are being performed."""
        for scope in list(self._scopes.values()):
            scope.cancel()

    def rest(self) -> None:
        """Let go of what only work needs; see `EffectRunner.rest`."""
        if not self._scopes:
            self._scopes.clear()

    async def _read(self, reading: Reading) -> Input | None:
        engine = self._engine
        try:
            if reading.stream is None:
                request = engine.hooks.request(engine.state, engine.executor)
                reading.stream = self._model.respond(request)
            async for batch in reading.stream:
                if not take_batch(engine, reading, batch):
                    return None
                del batch  # not kept while the next one is waited for
        except Exception as error:
            reading.has_failed = True
            reading.fold.feed((failed_response(error),))
            engine.hooks.hooks.report(error, "the model")
        self.reading = None
        if reading.has_failed or type(reading.stream) is not AsyncGeneratorType:
            await _close_stream(reading)  # a generator that has come to its end is closed
        answer = end_of_response(engine, reading)
        if engine.hooks.has_response_hooks:
            await self.cancellation.raise_if_requested()
            return await engine.hooks.review_response(answer, engine.state)
        return answer

    async def release(self) -> None:
        """Close what is no longer wanted or used, and report threads that were left behind."""
        reading = self.reading
        if reading is not None and not self._engine.is_wanted(reading.effect.id):
            self.reading = None
            await _close_stream(reading)
        if self._retired and self.reading is None:
            await self._close_retired()
        # Not where the call ends: a reporter would find itself in a task that is cancelled.
        while self._given_up:
            call = self._given_up.pop(0)
            text = (
                f"the call {call.id!r} of {call.name} was given up, but nothing can stop its "
                f"thread; what it returns is dropped"
            )
            self._engine.events.dispatch(Diagnostic(text), self._engine.turn_id)

    async def close(self) -> None:
        """Close the response and all models."""
        reading, self.reading = self.reading, None
        if reading is not None:
            await _close_stream(reading)
        self._retired.append(self._model)
        await self._close_retired()

    async def _close_retired(self) -> None:
        while self._retired:
            with anyio.CancelScope(shield=True, deadline=close_deadline()):
                await self._retired.pop(0).close()

    async def _run_hooks(self, effect: RunMutators | Prepare | CheckFinish) -> Input:
        engine = self._engine
        return await engine.hooks.run(effect, engine.state, engine.executor)

    async def _call_model(self, effect: CallModel) -> Input | None:
        # A model that never waits would keep the event loop from noticing deadlines.
        await anyio.lowlevel.checkpoint()
        self.reading = Reading(effect, self._engine.turn_id)
        return await self._read(self.reading)

    async def _preflight(self, effect: Preflight) -> Input:
        engine = self._engine
        call = engine.tools.invocation(effect)
        return await engine.tools.checks.check(effect, call, engine.state, engine.executor)

    async def _run_tool(self, effect: StartTool) -> Input | None:
        engine = self._engine
        engine.tools.begin(effect)

        def to_thread(function: Callable[[], T], /) -> Awaitable[T]:
            # A call in the background may take as long as it likes: the others need not wait.
            return run_in_tool_thread(
                function,
                is_limited=not effect.detaches,
                on_given_up=lambda: self._given_up.append(effect.call),
            )

        try:
            if engine.has_store and not is_started(engine, effect):
                engine.feed(ToolStarted(effect.id))
                await self._saver.flush()
                if not engine.is_wanted(effect.id):
                    return None
            context = engine.tools.context(
                effect, self._timer, is_host_cancelled=lambda: self.cancellation.is_requested
            )
            outcome = await engine.executor.run(
                context.request,
                context,
                to_thread=to_thread,
                revision=engine.tools.checks.expected_revision(effect, engine.executor),
            )
        except anyio.get_cancelled_exc_class():
            # A tool that waits for a task that is cancelled ends as if it were cancelled itself.
            if self.cancellation.is_requested:
                raise
            return interrupted_answer(effect)
        answer = tool_answer(effect, outcome)
        if isinstance(outcome, Suspension) and outcome.broken_by is not None:
            engine.feed(answer)
            raise outcome.broken_by
        return answer

    async def _wait(self, effect: StartTimer) -> Input:
        clock = self._engine.clock
        # The time of a call begins when it runs, not when somebody said yes and went away.
        wait_ms = effect.at - clock.now_ms() if effect.wait_ms is None else effect.wait_ms
        await clock.sleep(wait_ms / 1000)
        return TimerFired(effect.id)


def _is_closable(stream: object) -> TypeGuard[AsyncClosable]:
    # `isinstance` with a protocol takes longer than a whole small step in Python 3.11.
    return hasattr(stream, "aclose")


async def _close_stream(reading: Reading) -> None:
    stream: object = reading.stream
    if _is_closable(stream):
        with anyio.CancelScope(shield=True, deadline=close_deadline()):
            try:
                await stream.aclose()
            except Exception as error:
                log_close_failure(error)


_PERFORM: Final[
    Mapping[type[AnsweredEffect], Callable[[Performer, Any], Awaitable[Input | None]]]
] = {
    RunMutators: Performer._run_hooks,
    Prepare: Performer._run_hooks,
    CallModel: Performer._call_model,
    Preflight: Performer._preflight,
    StartTool: Performer._run_tool,
    StartTimer: Performer._wait,
    CheckFinish: Performer._run_hooks,
}
"""How each effect is performed."""
