"""The driver for asyncio and trio: streams, runs calls side by side, cancels promptly.

It waits for one thing at a time directly, in the task of the host, and opens a task group only
while several things go on. Nothing is left behind: no task, no open response, no cancel scope
that outlives the call of the host in which it was entered.

Calls that may go on in the background run in a group of the session's (`home`), which ends with
it. Without one they are waited for like all others.

Answers are read under one cancel scope each, and nothing but the model's own iterator is awaited
per read.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from contextvars import copy_context
from functools import partial
from typing import Any, Final, TypeVar

import anyio
import anyio.abc
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread

from agentkit_core.provider import ModelEvent
from agentkit_loop.drivers._effect_results import came_of, failed_call, log_unclosed, lost
from agentkit_loop.drivers._engine import Answering
from agentkit_loop.drivers._parts import Parts
from agentkit_loop.drivers._task_group import Gathering, is_cancelled
from agentkit_loop.kernel._effects import (
    AnsweredEffect,
    CallModel,
    CheckFinish,
    Preflight,
    Prepare,
    RunMutators,
    StartTimer,
    StartTool,
)
from agentkit_loop.kernel._inputs import Input, TimerFired, ToolStarted
from agentkit_loop.kernel._status import SessionStatus
from agentkit_loop.ports import ModelSession
from agentkit_tools_core import Suspension

_T = TypeVar("_T")

_CLOSE_WITHIN_S: Final = 5.0
"""How long a model may take to close a response that nobody wants any more, and a store to save
what was decided before the host was cancelled."""

# A sync tool cannot be stopped. A cancelled run does not wait for it; the tool can see
# `context.cancelled`, and what it returns is dropped.
_to_thread: Final = partial(anyio.to_thread.run_sync, abandon_on_cancel=True)


class _Reading(Answering):
    """An answer while it comes, and the iterator that it comes from."""

    stream: AsyncIterator[Sequence[ModelEvent]] | None = None


class ConcurrentDriver(Gathering):
    """Drives one session, on the event loop on which it was made.

    Args:
        model: The session's model.
        parts: See `Parts`; the store is a `Store`.
        home: Where calls run that may go on in the background; None means nowhere.
    """

    answering: _Reading | None

    def __init__(
        self, model: ModelSession, parts: Parts, *, home: anyio.abc.TaskGroup | None = None
    ) -> None:
        super().__init__(parts, home)
        self._model = model
        self._retired: list[ModelSession] = []

    def use_model(self, model: ModelSession) -> None:
        """Ask another model from the next call on."""
        self._retired.append(self._model)
        self._model = model

    # work

    async def next(self) -> SessionStatus | None:
        """Work until the host has the word; None if nobody has, and nothing goes on.

        Leaving it by an exception (a cancelled scope, a deadline, `ReporterFailed`) cancels the
        turn: the transcript is valid then, and all that was begun has been stopped.
        """
        while True:
            await self.release()
            if self.is_unsaved:
                await self._settled(self.flush())
            step = self.take_step()
            if step is not None or not self.is_at_work:
                return step
            await self.advance()

    async def advance(self) -> None:
        """Work until something is over or, if `listened`, has been told.

        Raises:
            ReporterFailed: A reporter wants the turn to stop.
        """
        await self._settled(self._advance())

    async def _settled(self, work: Awaitable[None]) -> None:
        try:
            await work
            self.raise_failure()
        except BaseException:
            await self.give_up()
            raise

    async def give_up(self) -> None:
        """Cancel the turn and save that, also where the task is cancelled."""
        self.interrupt()
        await self.release()
        await self.flush_at_last()

    async def flush_at_last(self) -> None:
        """Save what was decided, also where the task is cancelled."""
        # A stream that nobody closed may come here when its session has long been left.
        if self.broken is None and not self.is_over:
            with anyio.CancelScope(shield=True, deadline=_soon()):
                await self.flush()

    async def release(self) -> None:
        """Close the response of an answer that nobody waits for any more."""
        reading = self.answering
        if reading is not None and not self.is_wanted(reading.effect.id):
            self.answering = None
            await _close(reading)
        if self._retired and self.answering is None:
            await self._close_retired()

    async def _close_retired(self) -> None:
        with anyio.CancelScope(shield=True, deadline=_soon()):
            while self._retired:
                await self._retired.pop().close()

    async def end(self) -> None:
        """Stop all work and free the model's session; the driver is not used any more."""
        self._over = True
        self.pending.clear()
        for scope in list(self._scopes.values()):
            scope.cancel()
        self._leave_open()
        self.notify()
        reading, self.answering = self.answering, None
        if reading is not None:
            await _close(reading)
        await self._close_retired()
        with anyio.CancelScope(shield=True, deadline=_soon()):
            await self._model.close()

    async def _advance(self) -> None:
        self._raise_fault()
        await self.flush()
        answer: Input | None = None
        if self.answering is not None:
            with self._scope_of(self.answering.effect.id):
                answer = await self._read(self.answering)
        else:
            self._context = copy_context()
            self._send_home()
            if self._is_quick:
                return await self._one_by_one()
            if len(self.pending) > 1 or (self.pending and self.state.pending_approvals):
                # What is approved in the meantime joins the others.
                return await self._side_by_side()
            if self.pending:
                answer = await self._perform_one(self.pending.pop(0))
            elif self._waits_for_home:
                await self.something_new()
        if answer is not None:
            self.feed(answer)
        if self.is_unsaved:
            await self.flush()

    @property
    def _is_quick(self) -> bool:
        """Whether what comes next are calls that never wait: a group would cost more than they."""
        effect = self.pending[0] if self.pending else None
        return isinstance(effect, StartTool) and self.executor.is_quick(effect.call.name)

    async def _one_by_one(self) -> None:
        while self._is_quick and not self.is_stopped:
            answer = await self._perform_one(self.pending.pop(0))
            if answer is not None:
                self.feed(answer)
            if self.is_unsaved:
                await self.flush()

    # effects that take time

    async def perform(self, effect: AnsweredEffect) -> Input | None:
        """Perform an effect; None if there is more to come."""
        return await _PERFORM[type(effect)](self, effect)

    async def _mutate(self, effect: RunMutators) -> Input:
        return await self.hooked.mutate(effect, self.state)

    async def _make_request(self, effect: Prepare) -> Input:
        return await self.hooked.prepare_hooked(effect, self.state, self.executor)

    async def _check_finish(self, effect: CheckFinish) -> Input:
        return await self.hooked.check_finish(effect, self.state)

    async def _call_model(self, effect: CallModel) -> Input | None:
        self.answering = _Reading(effect, self.turn_id)
        return await self._read(self.answering)

    async def _read(self, reading: _Reading) -> Input | None:
        try:
            if reading.stream is None:
                reading.stream = self._model.respond(self.hooked.request(self.state, self.executor))
            async for batch in reading.stream:
                if not self.show(reading, batch):
                    return None
        except Exception as error:
            reading.fold.feed((failed_call(error),))
        self.answering = None
        await _close(reading)
        answer = self.end_of(reading)
        if self.hooked.responses:
            return await self.hooked.look_at(answer, self.state)
        return answer

    async def _check(self, effect: Preflight) -> Input:
        request = self.request_of(effect)
        verdict = await self.executor.preflight_async(request, granted=effect.granted)
        return self.judged(effect, verdict)

    async def _run_tool(self, effect: StartTool) -> Input | None:
        self._begun[effect.id] = effect.call.id
        try:
            if self._store is not None:
                self.feed(ToolStarted(effect.id))
                await self.flush()
                if not self.is_wanted(effect.id):
                    return None
            context = self.context_of(effect, lambda told: self.on_thread(lambda: self.feed(told)))
            outcome = await self.executor.run(context.request, context, to_thread=_to_thread)
        except anyio.get_cancelled_exc_class():
            # A tool that waits for something that is cancelled ends as if it were itself.
            if is_cancelled():
                raise
            return lost(effect)
        self.end_tool(effect, asks=isinstance(outcome, Suspension))
        return came_of(effect, outcome)

    async def _wait(self, effect: StartTimer) -> Input:
        await self._clock.sleep(self.seconds_until(effect.at))
        return TimerFired(effect.id)


def _soon() -> float:
    return anyio.current_time() + _CLOSE_WITHIN_S


async def _close(reading: _Reading) -> None:
    close: Callable[[], Awaitable[None]] | None = getattr(reading.stream, "aclose", None)
    if close is None:
        return
    with anyio.CancelScope(shield=True, deadline=_soon()):
        try:
            await close()
        except Exception as error:
            log_unclosed(error)


_PERFORM: Final[
    Mapping[type[AnsweredEffect], Callable[[ConcurrentDriver, Any], Awaitable[Input | None]]]
] = {
    RunMutators: ConcurrentDriver._mutate,
    Prepare: ConcurrentDriver._make_request,
    CallModel: ConcurrentDriver._call_model,
    Preflight: ConcurrentDriver._check,
    StartTool: ConcurrentDriver._run_tool,
    StartTimer: ConcurrentDriver._wait,
    CheckFinish: ConcurrentDriver._check_finish,
}
"""How each effect is performed that takes time."""
