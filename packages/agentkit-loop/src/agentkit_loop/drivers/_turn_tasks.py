"""The tasks in which several effects of a turn run at once, beside the host's own task.

They belong to no task of the host (see `_free_tasks`), so that the host can have the events of
tools while they run, and may leave the session at any moment. What they return while the host's
task waits for them is fed to the engine by that task, together if they have ended together, and
saved before anything follows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextvars import Context
from functools import partial
from typing import Any

import anyio

from agentkit_loop.drivers._broken_runs import BegunEffects
from agentkit_loop.drivers._engine import Engine
from agentkit_loop.drivers._free_tasks import FreeTasks
from agentkit_loop.drivers._performer import Performer
from agentkit_loop.drivers._saver import Saver
from agentkit_loop.drivers._wakeup import Wakeup
from agentkit_loop.kernel._effects import AnsweredEffect
from agentkit_loop.kernel._inputs import Input


class TurnTasks:
    """The tasks of a turn, and what they have returned.

    Args:
        engine: The session's engine.
        performer: Performs single effects.
        saver: Saves what was decided.
        begun: The effects that were taken from those that wait.
        wakeup: Woken whenever anything about the session changes.

    Attributes:
        working: How many tasks work; when the last one has done its work, no more are started.
        host_works: Whether the host's task waits for the tasks, and feeds what they return.
        is_stopping: Whether the tasks are being stopped; then no more are started.
        failure: The first exception of a task, until it is raised in the host's own task.
    """

    __slots__ = (
        "_answers",
        "_begun",
        "_engine",
        "_performer",
        "_saver",
        "_tasks",
        "_wakeup",
        "failure",
        "host_works",
        "is_stopping",
        "working",
    )

    def __init__(
        self,
        engine: Engine,
        performer: Performer,
        saver: Saver,
        begun: BegunEffects,
        wakeup: Wakeup,
    ) -> None:
        self.working = 0
        self.host_works = False
        self.is_stopping = False
        self.failure: BaseException | None = None
        self._engine = engine
        self._performer = performer
        self._saver = saver
        self._begun = begun
        self._wakeup = wakeup
        self._tasks = FreeTasks()
        self._answers: list[tuple[AnsweredEffect, Input]] = []
        """What tasks have returned and the host's task has not fed yet."""

    @property
    def are_at_work(self) -> bool:
        """Whether tasks work, or have returned what was not fed yet."""
        return bool(self.working or self._answers)

    def perform(self, effect: AnsweredEffect, context: Context) -> None:
        """Perform an effect in a task."""
        self.working += 1
        self._tasks.start(partial(self._perform, effect), context)

    def start(
        self, work: Callable[[anyio.CancelScope], Coroutine[Any, Any, None]], context: Context
    ) -> None:
        """Start a task that counts itself in `working` if the turn waits for it.

        Args:
            work: What to do, in the scope that it gets; its exceptions go to `fail`.
            context: The context variables of the task.
        """
        self._tasks.start(work, context)

    def save(self, context: Context) -> None:
        """Save what was decided, in a task."""
        self._tasks.start(self._save, context)

    async def work(self, start: Callable[[], None] | None = None) -> None:
        """Feed what the tasks return, until all have done their work.

        If the engine stops after reads, until there are new events: the tasks go on meanwhile, and
        what they return then they feed themselves.

        Args:
            start: Starts the first ones; None if an earlier call has done so.

        Raises:
            BaseException: An exception of a task; the others have been stopped.
        """
        engine, seen = self._engine, self._engine.events.seq
        self.host_works = True
        try:
            if start is not None:
                self.is_stopping = False
                start()
            while True:
                await self._feed_answers()
                failed = self.failure or engine.events.stopped_by or engine.save_error
                if failed is not None:
                    await self.stop()
                    break
                if self._answers:
                    continue
                if not self.working or (engine.stops_after_read and engine.events.seq > seen):
                    break
                await self._wakeup.wait()
        finally:
            self.host_works = False
        self.raise_failure()

    def raise_failure(self) -> None:
        """Raise an exception that a task has left, once."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    def fail(self, error: BaseException) -> None:
        """Keep an exception for the host's own task; only the first one is raised."""
        self.failure = self.failure or error
        self._wakeup.notify()

    def cancel(self) -> None:
        """Cancel all tasks, without waiting for their end."""
        self.is_stopping = True
        self._tasks.cancel()

    async def stop(self) -> None:
        """Cancel all tasks and wait until they have ended; what they return then is lost."""
        self.is_stopping = True
        await self._tasks.stop()
        self.working = 0
        if self._engine.save_error is None:
            self._feed()

    async def _feed_answers(self) -> None:
        self._feed()
        if self._engine.outbox:
            await self._saver.flush()

    def _feed(self) -> None:
        answers, self._answers = self._answers, []
        if answers:
            self._engine.feed(*[answer for _, answer in answers])
            for effect, _ in answers:
                self._begun.end(effect)

    async def _perform(self, effect: AnsweredEffect, scope: anyio.CancelScope) -> None:
        try:
            try:
                answer = await self._performer.perform_in_task(effect, scope)
            finally:
                self.working -= 1
                self._wakeup.notify()
            if self.is_stopping:
                return  # whoever stops the tasks decides what becomes of the effect
            if answer is not None:
                self._answers.append((effect, answer))
                if not self.host_works:
                    await self._feed_answers()
            else:
                self._begun.end(effect)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            self.fail(error)

    async def _save(self, scope: anyio.CancelScope) -> None:
        try:
            with scope:
                await self._saver.flush()
        except Exception as error:
            self.fail(error)
