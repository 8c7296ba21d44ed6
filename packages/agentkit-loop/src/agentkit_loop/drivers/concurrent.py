"""The driver for asyncio and trio: streams, runs calls side by side, cancels promptly.

It waits for one thing at a time directly, in the task of the host, and opens a task group only
while several things go on. Nothing is left behind: no task, no open response, no cancel scope
that outlives the call of the host in which it was entered.

Answers are read under one cancel scope each, and nothing but the model's own iterator is awaited
per read.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import anyio
import anyio.abc
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread

from agentkit_core import ModelEvent
from agentkit_loop._effects import AnsweredEffect, CallModel, EffectId, StartTimer, StartTool
from agentkit_loop._inputs import Input, TimerFired
from agentkit_loop._steps import Step
from agentkit_loop.drivers._answers import failed_call, log_unclosed, lost, tool_done
from agentkit_loop.drivers._stepping import Answering, Stepper
from agentkit_loop.ports import ModelSession

_CLOSE_WITHIN_S: Final = 5.0
"""How long a model may take to close a response that nobody wants any more."""

# A sync tool cannot be stopped. A cancelled run does not wait for it; the tool can see
# `context.cancelled`, and what it returns is dropped.
_to_thread: Final = partial(anyio.to_thread.run_sync, abandon_on_cancel=True)


class _Reading(Answering):
    """An answer while it comes, and the iterator that it comes from."""

    stream: AsyncIterator[Sequence[ModelEvent]] | None = None


class ConcurrentDriver(Stepper):
    """Drives one session, on the event loop on which it was made.

    Args:
        model: The session's model.
        **parts: See `Stepper`.
    """

    answering: _Reading | None

    def __init__(self, model: ModelSession, **parts: Any) -> None:
        super().__init__(**parts)
        self._model = model
        self._thread = threading.get_ident()
        self._loop = anyio.lowlevel.current_token()
        self._scopes: dict[EffectId, anyio.CancelScope] = {}
        self._group: anyio.abc.TaskGroup | None = None
        self._running = 0
        self._fault: BaseException | None = None
        self._perform: Final[Mapping[type[AnsweredEffect], Callable[[Any], Awaitable[Any]]]] = {
            CallModel: self._call_model,
            StartTool: self._run_tool,
            StartTimer: self._wait,
        }

    # inputs

    def on_thread(self, act: Callable[[], None]) -> None:
        """Do something on the thread of the event loop; it is done when this returns."""
        if threading.get_ident() == self._thread:
            act()
        else:
            anyio.from_thread.run_sync(act, token=self._loop)

    def feed(self, given: Input) -> None:
        """Take an input; what it brings joins the work that goes on side by side."""
        super().feed(given)
        if self._running:
            self._spawn()
        if self._group is not None and self.is_stopped:
            self._group.cancel_scope.cancel()

    # work

    async def next(self) -> Step:
        """Work until the host has the word.

        Leaving it by an exception (a cancelled scope, a deadline, `ReporterFailed`) cancels the
        turn: the transcript is valid then, and all that was begun has been stopped.
        """
        while True:
            await self.release()
            step = self.take_step()
            if step is not None:
                return step
            await self.advance()

    async def advance(self) -> None:
        """Work until something is over or, if `listened`, has been told.

        Raises:
            ReporterFailed: A reporter wants the turn to stop.
        """
        try:
            await self._advance()
            self.raise_failure()
        except BaseException:
            self.interrupt()
            await self.release()
            raise

    async def release(self) -> None:
        """Close the response of an answer that nobody waits for any more."""
        reading = self.answering
        if reading is not None and not self.is_wanted(reading.effect.id):
            self.answering = None
            await _close(reading)

    async def end(self) -> None:
        """Free the model's session; the driver is not used any more."""
        await self.release()
        with anyio.CancelScope(shield=True, deadline=anyio.current_time() + _CLOSE_WITHIN_S):
            await self._model.close()

    async def _advance(self) -> None:
        answer: Input | None = None
        if self.answering is not None:
            with self._scope_of(self.answering.effect.id):
                answer = await self._read(self.answering)
        elif len(self.pending) > 1 or self.state.asks:
            # What is approved in the meantime joins the others.
            return await self._side_by_side()
        else:
            answer = await self._perform_one(self.pending.popleft())
        if answer is not None:
            self.feed(answer)

    async def _side_by_side(self) -> None:
        try:
            async with anyio.create_task_group() as self._group:
                self._spawn()
        except BaseExceptionGroup as group:
            # The tasks leave theirs in `_fault`: this is what struck the host's own task, which
            # is how trio brings a Ctrl-C. Nobody who catches that looks into a group.
            _, struck = group.split(anyio.get_cancelled_exc_class())
            self._fault = self._fault or (struck or group).exceptions[0]
        finally:
            self._group, self._running = None, 0
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault

    def _spawn(self) -> None:
        while self._group is not None and self.pending:
            self._running += 1
            self._group.start_soon(self._work, self.pending.popleft())

    async def _work(self, effect: AnsweredEffect) -> None:
        try:
            try:
                answer = await self._perform_one(effect)
            finally:
                self._running -= 1
            if answer is not None:
                self.feed(answer)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            # A task group would raise it wrapped. The siblings are stopped, then it is raised.
            self._fault = self._fault or error
            if self._group is not None:
                self._group.cancel_scope.cancel()

    async def _perform_one(self, effect: AnsweredEffect) -> Input | None:
        """Perform an effect; None if it was aborted, or if there is more to come."""
        answer: Input | None = None
        with self._scope_of(effect.id):
            answer = await self._perform[type(effect)](effect)
        return answer  # noqa: RET504  (the scope may have swallowed the cancellation)

    @contextmanager
    def _scope_of(self, effect_id: EffectId) -> Iterator[None]:
        with anyio.CancelScope() as scope:
            self._scopes[effect_id] = scope
            try:
                yield
            finally:
                del self._scopes[effect_id]

    def stop_work(self, effect_id: EffectId) -> None:
        """Cancel the scope in which an effect is performed."""
        scope = self._scopes.get(effect_id)
        if scope is not None:
            scope.cancel()

    # effects that take time

    async def _call_model(self, effect: CallModel) -> Input | None:
        self.answering = _Reading(effect, self.turn_id)
        return await self._read(self.answering)

    async def _read(self, reading: _Reading) -> Input | None:
        try:
            if reading.stream is None:
                reading.stream = self._model.respond(self.model_request())
            async for batch in reading.stream:
                if not self.show(reading, batch):
                    return None
        except Exception as error:
            reading.fold.feed((failed_call(error),))
        self.answering = None
        await _close(reading)
        return self.end_of(reading)

    async def _run_tool(self, effect: StartTool) -> Input:
        context = self.context_of(effect, lambda told: self.on_thread(lambda: self.feed(told)))
        try:
            outcome = await self._executor.run(context.request, context, to_thread=_to_thread)
        except anyio.get_cancelled_exc_class():
            # A tool that waits for something that is cancelled ends as if it were itself.
            if _is_cancelled():
                raise
            return lost(effect)
        return tool_done(effect, outcome)

    async def _wait(self, effect: StartTimer) -> Input:
        await self._clock.sleep(self.seconds_until(effect.at))
        return TimerFired(effect.id)


def _is_cancelled() -> bool:
    """Whether someone wants the running task to end, by a scope or by asyncio's own means."""
    if anyio.get_current_task().has_pending_cancellation():
        return True
    asyncio: Any = sys.modules.get("asyncio")
    try:
        return asyncio is not None and asyncio.current_task().cancelling() > 0
    except RuntimeError:  # trio runs
        return False


async def _close(reading: _Reading) -> None:
    close: Callable[[], Awaitable[None]] | None = getattr(reading.stream, "aclose", None)
    if close is None:
        return
    with anyio.CancelScope(shield=True, deadline=anyio.current_time() + _CLOSE_WITHIN_S):
        try:
            await close()
        except Exception as error:
            log_unclosed(error)
