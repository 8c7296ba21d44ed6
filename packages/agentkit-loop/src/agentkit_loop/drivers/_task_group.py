"""Runs one session's effects concurrently in task groups.

Several effects at once run in a task group that ends with them. A call that may outlive the turn
runs in the session's background group. Whatever an effect returns is fed to the engine on the
thread of the event loop, and saved before anything follows from it.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import copy_context
from typing import Any

import anyio
import anyio.abc
import anyio.from_thread
import anyio.lowlevel

from agentkit_core import ApprovalRequest
from agentkit_loop.drivers._background_group import BackgroundGroup
from agentkit_loop.drivers._broken_runs import BegunEffects
from agentkit_loop.drivers._effect_results import interrupted_answer
from agentkit_loop.drivers._engine import Engine
from agentkit_loop.drivers._open_approval import OpenApproval
from agentkit_loop.drivers._performer import Performer, Reading
from agentkit_loop.drivers._saver import Saver
from agentkit_loop.drivers._wakeup import Wakeup
from agentkit_loop.kernel._effects import AnsweredEffect, EffectId, StartTimer, StartTool
from agentkit_loop.kernel._inputs import Input, Resolve
from agentkit_loop.kernel._status import ApprovalDecision

AskHost = Callable[[ApprovalRequest], Awaitable[ApprovalDecision]]
"""Asks the host for one approval."""


class TaskGroupRunner:
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
        "_failure",
        "_group",
        "_is_asking",
        "_loop",
        "_performer",
        "_running",
        "_saver",
        "_thread",
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
        self._thread = threading.get_ident()
        self._loop = anyio.lowlevel.current_token()
        self._context = copy_context()
        self._group: anyio.abc.TaskGroup | None = None
        self._running = 0
        """How many tasks work in the group; when the last one ends, the group takes no more."""
        self._failure: BaseException | None = None
        """The first exception of a task, until it is raised in the host's own task."""
        self._is_asking = False

    # what the engine asks

    @property
    def reading(self) -> Reading | None:
        """The model response that is being read."""
        return self._performer.reading

    @property
    def is_at_work(self) -> bool:
        """Whether the turn waits for a response, or for a call in the background group."""
        return self._performer.reading is not None or self._background.blocks_turn(
            self._engine.state
        )

    def call(self, action: Callable[[], None], /) -> None:
        """Run an action on the thread of the event loop; it has run when this returns."""
        if threading.get_ident() == self._thread:
            action()
        else:
            anyio.from_thread.run_sync(action, token=self._loop)

    def after_step(self) -> None:
        """Start new effects beside those that run, and wake who waits."""
        self._start_background()
        if self._running:
            self._start_pending()
        if self._group is not None and self._engine.events.stopped_by is not None:
            self._group.cancel_scope.cancel()
        self.open_approval.withdraw_if_closed()
        self.notify()

    def save_soon(self) -> None:
        """Save in a task of its own while others run; otherwise the host's next call saves."""
        if self._engine.outbox and self._running and self._group is not None:
            self._group.start_soon(self._flush)

    def stop(self, effect_id: EffectId, /) -> None:
        """Cancel an effect that is being performed."""
        self._performer.stop(effect_id)

    def notify(self) -> None:
        """Wake everyone who waits for the session to change."""
        self.wakeup.notify()

    # what the driver asks

    async def advance(self) -> None:
        """Work until something has ended or, if the engine stops after reads, after one read."""
        self.raise_failure()
        await self._saver.flush()
        engine = self._engine
        answer: Input | None = None
        if self._performer.reading is not None:
            answer = await self._performer.read_on(self._performer.reading)
        else:
            self._context = copy_context()
            self._start_background()
            if self._next_is_inline:
                while self._next_is_inline and engine.events.stopped_by is None:
                    await self._perform_next()
                return
            if len(engine.pending) > 1 or (engine.pending and engine.state.pending_approvals):
                # A call that is approved meanwhile runs beside the others.
                return await self._run_in_group()
            if engine.pending:
                return await self._perform_next()
            if self._background.blocks_turn(engine.state):
                await self.something_new()
        await self._feed(answer)

    async def ask(self) -> None:
        """Ask the host for all pending approvals; each call that it allows starts at once."""
        self.raise_failure()
        await self._saver.flush()
        self._context = copy_context()
        await self._run_in_group()

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
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def stop_all(self) -> None:
        """Cancel everything that runs; the session is over."""
        self._performer.stop_all()
        self.open_approval.withdraw_if_closed()
        self.notify()

    # one effect

    @property
    def _next_is_inline(self) -> bool:
        """Whether the next effect is a call that never waits: a group would cost more than it."""
        effect = self._engine.pending[0] if self._engine.pending else None
        return isinstance(effect, StartTool) and self._engine.executor.is_quick(effect.call.name)

    async def _perform_next(self) -> None:
        effect = self.begun.take_next()
        await self._feed(await self._performer.perform(effect))
        self.begun.end(effect)

    async def _feed(self, answer: Input | None) -> None:
        if answer is not None:
            self._engine.feed(answer)
        if self._engine.outbox:
            await self._saver.flush()

    # several effects at once

    async def _run_in_group(self) -> None:
        try:
            async with anyio.create_task_group() as self._group:
                self._start_pending()
        except BaseExceptionGroup as errors:
            # The tasks leave theirs in `_failure`: this is an exception of the host's own task,
            # which is how trio delivers a Ctrl-C. Callers do not look into groups.
            _, others = errors.split(anyio.get_cancelled_exc_class())
            self._failure = self._failure or (others or errors).exceptions[0]
        finally:
            self._group, self._running = None, 0
        self.raise_failure()

    def _start_pending(self) -> None:
        if self._group is None:
            return
        self._start_background()
        while self._engine.pending:
            self._running += 1
            self._start(self._group, self._run_effect, self.begun.take_next())
        if (
            self.ask_host is not None
            and self._engine.state.pending_approvals
            and not self._is_asking
        ):
            self._is_asking = True
            self._running += 1
            self._start(self._group, self._ask_for_approvals, self.ask_host)

    def _start_background(self) -> None:
        for effect in self._background.take(self._engine.pending):
            self._background.start(self._run_in_background, effect, self._context.copy())

    def _start(
        self,
        group: anyio.abc.TaskGroup,
        work: Callable[[Any], Coroutine[Any, Any, None]],
        argument: Any,
    ) -> None:
        # A task gets the context of the host's work, not that of the task that approved a call.
        self._context.copy().run(lambda: group.start_soon(work, argument))

    async def _run_effect(self, effect: AnsweredEffect) -> None:
        try:
            try:
                answer = await self._performer.perform(effect)
            finally:
                self._running -= 1
            await self._feed(answer)
            self.begun.end(effect)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            self._fail(error)

    async def _run_in_background(self, effect: StartTool | StartTimer) -> None:
        try:
            answer = await self._performer.perform(effect)
            self._background.discard(effect.id)
            await self._feed(answer)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            # The host gets it from whatever it asks for next, and the call is over.
            self._failure = self._failure or error
            with suppress(BaseException):  # the first exception is the one to raise
                is_wanted = self._engine.save_error is None and self._engine.is_wanted(effect.id)
                if isinstance(effect, StartTool) and is_wanted:
                    self._engine.feed(interrupted_answer(effect))
                self.after_step()
        finally:
            self._background.discard(effect.id)
            self.notify()

    async def _ask_for_approvals(self, ask_host: AskHost) -> None:
        engine = self._engine
        try:
            while requests := engine.state.pending_approvals:
                if engine.is_over or engine.save_error is not None:
                    break
                request = requests[0]
                decision = await self.open_approval.wait(request, ask_host(request))
                await self._performer.cancellation.raise_if_requested()
                if decision is not None and request in self._engine.state.pending_approvals:
                    self._engine.feed(Resolve(request.id, decision, request.call.id))
                if self._engine.outbox:
                    await self._saver.flush()
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            self._fail(error)
        finally:
            self._is_asking = False
            self._running -= 1

    async def _flush(self) -> None:
        try:
            await self._saver.flush()
        except Exception as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        # A task group would raise it wrapped. The siblings are stopped, then it is raised.
        self._failure = self._failure or error
        if self._group is not None:
            self._group.cancel_scope.cancel()
