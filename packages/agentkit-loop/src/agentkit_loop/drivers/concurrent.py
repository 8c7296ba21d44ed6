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

import sys
import threading
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from typing import Any, Final, TypeVar

import anyio
import anyio.abc
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread

from agentkit_core import ModelEvent, ToolCallId
from agentkit_loop._effects import (
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
from agentkit_loop._inputs import Input, Resolve, Started, TimerFired
from agentkit_loop._steps import ApprovalAsk, ApprovalDecision, Step
from agentkit_loop.drivers._answers import came_of, failed_call, log_unclosed, lost
from agentkit_loop.drivers._parts import Parts
from agentkit_loop.drivers._performing import Performer
from agentkit_loop.drivers._stepping import Answering
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


class ConcurrentDriver(Performer):
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
        super().__init__(parts)
        self._model = model
        self._retired: list[ModelSession] = []
        self._home = home
        self._at_home: dict[EffectId, ToolCallId] = {}
        self._thread = threading.get_ident()
        self._loop = anyio.lowlevel.current_token()
        self._scopes: dict[EffectId, anyio.CancelScope] = {}
        self._group: anyio.abc.TaskGroup | None = None
        self._running = 0
        """How many tasks work in that group; with the last of them it takes no more."""
        self._fault: BaseException | None = None
        self._something_new: anyio.Event | None = None
        self._saving: anyio.Lock | None = None
        self._open: tuple[ApprovalAsk, anyio.CancelScope] | None = None
        """What the host is being asked."""
        self.asker: Callable[[ApprovalAsk], Awaitable[ApprovalDecision]] | None = None
        """Answers asks while other calls run; None leaves them until nothing runs."""
        self._is_asking = False
        self._context = copy_context()

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
        self._join_in()

    def _join_in(self) -> None:
        self._send_home()
        if self._running:
            self._spawn()
        if self._group is not None and self.is_stopped:
            self._group.cancel_scope.cancel()
        if self._open is not None:
            self._leave_open()
        self.notify()

    def post(self, given: Input) -> None:
        """Take an input from outside the work; where there is a store, it is saved soon."""
        self.feed(given)
        if self.is_unsaved and self._running and self._group is not None:
            self._group.start_soon(self._flush_beside)

    async def _flush_beside(self) -> None:
        try:
            await self.flush()
        except Exception as error:
            self._fail(error)

    def notify(self) -> None:
        """Wake whoever waits for something new."""
        event, self._something_new = self._something_new, None
        if event is not None:
            event.set()

    async def flush(self) -> None:
        """Save what was decided and carry it out, until nothing is left.

        Raises:
            Exception: It could not be saved; nothing is done any more.
        """
        if not self.is_unsaved:
            return
        if self._saving is None:
            self._saving = anyio.Lock()
        async with self._saving:
            while self.is_unsaved and self.broken is None:
                await self._save()
                self._join_in()

    async def _save(self) -> None:
        doubt = self.outbox.in_doubt
        try:
            # A save that has begun is waited for: only then is it known what is stored.
            with anyio.CancelScope(shield=True):
                if doubt:
                    found = await self._store.load(self.state.session_id)
                else:
                    save, head = self.begin_save()
                    await self._store.save(
                        self.state.session_id, seq=self.outbox.saves + 1, head=head, log=save.log
                    )
        except Exception as error:
            self.fail_save(error)
            self._join_in()
            raise
        if doubt:
            self.find_save(found)
        else:
            self.end_save(save)

    def use_model(self, model: ModelSession) -> None:
        """Ask another model from the next call on."""
        self._retired.append(self._model)
        self._model = model

    # work

    async def next(self) -> Step | None:
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

    @property
    def is_at_work(self) -> bool:
        """Whether there is something to perform, to read on or to save for the turn."""
        return super().is_at_work or self._waits_for_home

    @property
    def _waits_for_home(self) -> bool:
        aside = self.state.background
        return any(call_id not in aside for call_id in self._at_home.values())

    async def something_new(self) -> None:
        """Wait until anything was fed, or the host's work is over.

        Raises:
            BaseException: What struck a call in the background, or why nothing can be saved.
        """
        self._raise_fault()
        self.raise_failure()
        await self.changed()

    async def changed(self) -> None:
        """Wait until anything was fed, or the host's work is over; for whoever looks on."""
        if self._something_new is None:
            self._something_new = anyio.Event()
        await self._something_new.wait()

    async def while_open(self, ask: ApprovalAsk, work: Awaitable[_T]) -> _T | None:
        """Wait for an answer to an ask; None where it is not open any more.

        Then somebody else has answered, or the call is not wanted any more.
        """
        with anyio.CancelScope() as scope:
            self._open = ask, scope
            try:
                return await work
            finally:
                self._open = None
        return None

    def _leave_open(self) -> None:
        if self._open is not None:
            ask, scope = self._open
            if self._over or self.broken is not None or ask not in self.state.asks:
                scope.cancel()

    def _raise_fault(self) -> None:
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault

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
            if len(self.pending) > 1 or (self.pending and self.state.asks):
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
        return isinstance(effect, StartTool) and self.executor.is_quick(effect.name)

    async def _one_by_one(self) -> None:
        while self._is_quick and not self.is_stopped:
            answer = await self._perform_one(self.pending.pop(0))
            if answer is not None:
                self.feed(answer)
            if self.is_unsaved:
                await self.flush()

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
        self._raise_fault()

    def _send_home(self) -> None:
        """Begin what may outlive the turn where it can: a call, and the timers of one."""
        if self._home is None:
            return
        for effect in [one for one in self.pending if self._outlives(one)]:
            self.pending.remove(effect)
            self._at_home[effect.id] = effect.call_id
            self._start(self._home, self._work_at_home, effect)

    def _outlives(self, effect: AnsweredEffect) -> bool:
        match effect:
            case StartTool(detaches=detaches):
                return detaches
            case StartTimer(call_id=str(call_id)):
                return call_id in self._at_home.values() or any(
                    isinstance(one, StartTool) and one.detaches and one.call_id == call_id
                    for one in self.pending
                )
            case _:
                return False

    def _spawn(self) -> None:
        if self._group is None:
            return
        self._send_home()
        while self.pending:
            self._running += 1
            self._start(self._group, self._work, self.pending.pop(0))
        if self.asker is not None and self.state.asks and not self._is_asking:
            self._is_asking = True
            self._running += 1
            self._start(self._group, self._ask_beside, self.asker)

    def _start(
        self, group: anyio.abc.TaskGroup, work: Callable[[Any], Coroutine[Any, Any, None]], one: Any
    ) -> None:
        # Whoever approves a call lends it nothing of its own context.
        self._context.copy().run(lambda: group.start_soon(work, one))

    async def _ask_beside(
        self, asker: Callable[[ApprovalAsk], Awaitable[ApprovalDecision]]
    ) -> None:
        try:
            while asks := self.state.asks:
                decision = await self.while_open(asks[0], asker(asks[0]))
                if decision is not None and asks[0] in self.state.asks:
                    self.feed(Resolve(asks[0].id, decision, asks[0].call_id))
                if self.is_unsaved:
                    await self.flush()
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            self._fail(error)
        finally:
            self._is_asking = False
            self._running -= 1

    async def _work(self, effect: AnsweredEffect) -> None:
        try:
            try:
                answer = await self._perform_one(effect)
            finally:
                self._running -= 1
            if answer is not None:
                self.feed(answer)
            if self.is_unsaved:
                await self.flush()
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        # A task group would raise it wrapped. The siblings are stopped, then it is raised.
        self._fault = self._fault or error
        if self._group is not None:
            self._group.cancel_scope.cancel()

    async def _work_at_home(self, effect: StartTool | StartTimer) -> None:
        try:
            answer = await self._perform_one(effect)
            self._at_home.pop(effect.id, None)
            if answer is not None:
                self.feed(answer)
            if self.is_unsaved:
                await self.flush()
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            # The host gets it from whatever it asks for next, and the call is over.
            self._fault = self._fault or error
            if isinstance(effect, StartTool) and self.broken is None:
                self.feed(lost(effect))
            self._join_in()
        finally:
            self._at_home.pop(effect.id, None)
            self.notify()

    async def _perform_one(self, effect: AnsweredEffect) -> Input | None:
        """Perform an effect; None if it was aborted, or if there is more to come."""
        answer: Input | None = None
        if not self.is_wanted(effect.id):
            return None
        with self._scope_of(effect.id):
            try:
                answer = await _PERFORM[type(effect)](self, effect)
            except anyio.get_cancelled_exc_class() as error:
                if _is_cancelled():
                    raise
                # What waits for something that is cancelled would end its host as if it were.
                text = f"{type(effect).__name__} was cancelled from within"
                raise RuntimeError(text) from error
        return answer if self.is_wanted(effect.id) else None

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
        self._begun[effect.id] = effect.call_id
        try:
            if self._store is not None:
                self.feed(Started(effect.id))
                await self.flush()
                if not self.is_wanted(effect.id):
                    return None
            context = self.context_of(effect, lambda told: self.on_thread(lambda: self.feed(told)))
            outcome = await self.executor.run(context.request, context, to_thread=_to_thread)
        except anyio.get_cancelled_exc_class():
            # A tool that waits for something that is cancelled ends as if it were itself.
            if _is_cancelled():
                raise
            return lost(effect)
        self.end_tool(effect, asks=isinstance(outcome, Suspension))
        return came_of(effect, outcome)

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
