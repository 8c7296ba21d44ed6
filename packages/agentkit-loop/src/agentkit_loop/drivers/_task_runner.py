"""Runs one session's effects concurrently.

A single effect runs in the task of the host. Several at once run in tasks of their own, which end
before the turn goes on; see `_turn_tasks`. A call that may outlive the turn runs in the session's
background group. Whatever an effect returns is fed to the engine on the thread of the event loop,
and saved before anything follows from it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial

import anyio

from agentkit_core import ApprovalRequest
from agentkit_loop.drivers._background_group import BackgroundGroup
from agentkit_loop.drivers._broken_runs import BegunEffects
from agentkit_loop.drivers._effect_results import interrupted_answer
from agentkit_loop.drivers._engine import Engine
from agentkit_loop.drivers._event_loop import present_loop
from agentkit_loop.drivers._open_approval import OpenApproval
from agentkit_loop.drivers._performer import Performer, Reading
from agentkit_loop.drivers._quick_calls import (
    feed_held_answers,
    next_is_quick,
    start_quick_calls,
)
from agentkit_loop.drivers._saver import Saver
from agentkit_loop.drivers._turn_tasks import TurnTasks
from agentkit_loop.drivers._wakeup import Wakeup
from agentkit_loop.kernel._effects import EffectId, StartTimer, StartTool
from agentkit_loop.kernel._inputs import Input, Resolve
from agentkit_loop.kernel._open_approvals import is_open, next_approval
from agentkit_loop.kernel._status import ApprovalDecision

AskHost = Callable[[ApprovalRequest], Awaitable[ApprovalDecision]]
"""Asks the host for one approval."""


class TaskRunner:
    """The `EffectRunner` of the concurrent driver, on the event loop on which it was made.

    Args:
        engine: The session's engine.
        performer: Performs single effects.
        saver: Saves what was decided.
        background: Where calls run that may outlive the turn.

    Attributes:
        begun: The effects that were taken from those that wait.
        open_approval: The approval that the host is being asked for.
        wakeup: Wakes those who wait for the session to change.
        ask_host: Asks the host while other calls run; None leaves approvals until nothing runs.
    """

    __slots__ = (
        "_background",
        "_context",
        "_engine",
        "_is_asking",
        "_loop",
        "_performer",
        "_saver",
        "_tasks",
        "ask_host",
        "begun",
        "open_approval",
        "wakeup",
    )

    def __init__(
        self, engine: Engine, performer: Performer, saver: Saver, background: BackgroundGroup
    ) -> None:
        self.begun = BegunEffects(engine)
        self.open_approval = OpenApproval(engine)
        self.wakeup = Wakeup()
        self.ask_host: AskHost | None = None
        self._engine = engine
        self._performer = performer
        self._saver = saver
        self._background = background
        self._loop = present_loop()
        self._context: Context | None = copy_context()
        """The context variables of the host's work; None at rest, where no call can start."""
        self._tasks = TurnTasks(engine, performer, saver, self.begun, self.wakeup)
        self._is_asking = False

    # what the engine asks

    @property
    def reading(self) -> Reading | None:
        """The model response that is being read."""
        return self._performer.reading

    @property
    def is_at_work(self) -> bool:
        """Whether the turn waits for a response, a task, or a call in the background group."""
        return (
            self._performer.reading is not None
            or self._tasks.are_at_work
            or self._background.blocks_turn(self._engine.state)
        )

    @property
    def has_other_work(self) -> bool:
        """Whether there is anything to do beside reading a response."""
        return self._tasks.are_at_work or self._tasks.failure is not None

    def call(self, action: Callable[[], None], /) -> None:
        """Run an action on the thread of the event loop; it has run when this returns."""
        self._loop.call(action)

    def after_step(self) -> None:
        """Start new effects beside those that run, and wake who waits."""
        self._start_background()
        if self._tasks.working:
            self._start_pending()
        self.open_approval.withdraw_if_closed()
        self.notify()

    def save_soon(self) -> None:
        """Save in a task of its own while others run; otherwise the host's next call saves."""
        if self._engine.outbox and self._tasks.working and not self._tasks.host_works:
            self._tasks.save(_task_context(self._context))

    def stop(self, effect_id: EffectId, /) -> None:
        """Cancel an effect that is being performed."""
        self._performer.stop(effect_id)

    def rest(self) -> None:
        """Let go of what only work needs."""
        state = self._engine.state
        if state.turn is None and not state.background:
            self._context = None
        self.begun.rest()
        self._performer.rest()

    def notify(self) -> None:
        """Wake everyone who waits for the session to change."""
        self.wakeup.notify()

    # what the driver asks

    async def advance(self) -> None:
        """Work until something has ended or, if the engine stops after reads, after one read."""
        self.raise_failure()
        engine = self._engine
        if engine.outbox:
            await self._saver.flush()
            await self._performer.cancellation.raise_if_requested()
        answer: Input | None = None
        if self._tasks.are_at_work:
            return await self._tasks.work()
        if self._performer.reading is not None:
            answer = await self._performer.read_on(self._performer.reading)
        else:
            self._context = copy_context()
            self._start_background()
            if next_is_quick(engine):
                return await self._perform_quick_calls()
            if self._needs_tasks:
                return await self._tasks.work(self._start_pending)
            if engine.pending:
                effect = self.begun.take_next()
                await self.feed(await self._performer.perform(effect))
                self.begun.end(effect)
                return
            if self._background.blocks_turn(engine.state):
                await self.something_new()
        await self.feed(answer)

    async def ask(self) -> None:
        """Ask the host for all pending approvals; each call that it allows starts at once."""
        self.raise_failure()
        await self._saver.flush()
        self._context = copy_context()
        await self._tasks.work(self._start_pending)

    async def something_new(self) -> None:
        """Wait until the engine is fed anything, or the host's work ends.

        Raises:
            BaseException: An exception of a background call, or why nothing can be saved.
        """
        self.raise_failure()
        self._engine.raise_failure()
        await self.wakeup.wait()

    def raise_failure(self) -> None:
        """Raise an exception that a task has left, once."""
        self._tasks.raise_failure()

    def stop_all(self) -> None:
        """Cancel everything that runs, without waiting for it; the session is over."""
        self._tasks.cancel()
        self._performer.stop_all()
        self.open_approval.withdraw_if_closed()
        self.notify()

    # one effect

    async def _perform_quick_calls(self) -> None:
        """Perform the calls that never wait: in tasks they would cost more."""
        engine = self._engine
        if engine.has_store:
            start_quick_calls(engine)
            await self._saver.flush()
        try:
            while next_is_quick(engine):
                answer = await self._performer.perform(self.begun.take_next())
                if answer is not None:
                    engine.hold(answer)
        finally:  # those before one that raised have their results
            feed_held_answers(engine)
            self.begun.end_answered()
        if engine.outbox:
            await self._saver.flush()

    async def feed(self, answer: Input | None) -> None:
        """Feed the answer to an effect, and save what follows."""
        if answer is not None:
            self._engine.feed(answer)
        if self._engine.outbox:
            await self._saver.flush()

    # several effects at once

    @property
    def _needs_tasks(self) -> bool:
        """Whether what is pending runs beside the host's own task."""
        engine = self._engine
        if len(engine.pending) != 1:
            return bool(engine.pending)
        # A call that is approved meanwhile runs beside this one; and a host that wants the events
        # gets those of a tool while it runs.
        is_tool = isinstance(engine.pending.first, StartTool)
        return (engine.stops_after_read and is_tool) or next_approval(engine.state) is not None

    def _start_pending(self) -> None:
        self._start_background()
        if self._tasks.is_stopping:
            return
        while self._engine.pending:
            self._tasks.perform(self.begun.take_next(), _task_context(self._context))
        if (
            self.ask_host is not None
            and not self._is_asking
            and next_approval(self._engine.state) is not None
        ):
            self._is_asking = True
            self._tasks.working += 1
            work = partial(self._ask_for_approvals, self.ask_host)
            self._tasks.start(work, _task_context(self._context))

    def _start_background(self) -> None:
        for effect in self._background.take(self._engine.pending):
            self._background.start(self._run_in_background, effect, _task_context(self._context))

    async def stop_tasks(self) -> None:
        """Cancel all tasks of the turn and wait until they have ended."""
        await self._tasks.stop()

    async def stop_all_tasks(self) -> None:
        """Cancel all tasks, those in the background too, and wait until they have ended."""
        try:
            await self._tasks.stop()
        finally:
            await self._background.end()

    async def _run_in_background(self, effect: StartTool | StartTimer) -> None:
        try:
            answer = await self._performer.perform(effect)
            self._background.discard(effect.id)
            await self.feed(answer)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            # The host gets it from whatever it asks for next, and the call is over.
            self._tasks.failure = self._tasks.failure or error
            with suppress(BaseException):  # the first exception is the one to raise
                is_wanted = self._engine.save_error is None and self._engine.is_wanted(effect.id)
                if isinstance(effect, StartTool) and is_wanted:
                    self._engine.feed(interrupted_answer(effect))
                self.after_step()
        finally:
            self._background.discard(effect.id)
            self.notify()

    async def _ask_for_approvals(self, ask_host: AskHost, scope: anyio.CancelScope) -> None:
        engine = self._engine
        try:
            with scope:
                while request := next_approval(engine.state):
                    if engine.is_over or engine.save_error or self._tasks.is_stopping:
                        break
                    decision = await self.open_approval.wait(request, ask_host(request))
                    await self._performer.cancellation.raise_if_requested()
                    if decision is not None and is_open(engine.state, request):
                        engine.feed(Resolve(request.id, decision, request.call.id))
                    if engine.outbox:
                        await self._saver.flush()
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            self._tasks.fail(error)
        finally:
            self._is_asking = False
            self._tasks.working -= 1
            self.notify()


def _task_context(of_host: Context | None) -> Context:
    # A task gets the context of the host's work, not that of the task that approved a call.
    return copy_context() if of_host is None else of_host.copy()
