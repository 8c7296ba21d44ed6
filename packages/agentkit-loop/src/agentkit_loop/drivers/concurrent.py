"""The driver for asyncio and trio: streams, runs calls concurrently, cancels promptly.

It awaits a single effect directly, in the task of the host, and starts tasks only while several
effects run, or for a host that wants the events of a tool while it runs. It leaves nothing behind:
no task, no open response, no cancel scope outlives the work of the host on the session.

Calls that may go on in the background run in the session's background group, which ends with it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import anyio

from agentkit_core import ApprovalRequest
from agentkit_loop._errors import WrongModelForm
from agentkit_loop.drivers._background_group import BackgroundGroup
from agentkit_loop.drivers._broken_runs import keeps_turn
from agentkit_loop.drivers._cancellation import Cancellation
from agentkit_loop.drivers._engine import Engine
from agentkit_loop.drivers._performer import Performer
from agentkit_loop.drivers._saver import Saver
from agentkit_loop.drivers._setup import EngineSetup
from agentkit_loop.drivers._task_runner import AskHost, TaskRunner
from agentkit_loop.kernel._status import SessionStatus
from agentkit_loop.kernel._table import Phase
from agentkit_loop.ports import BlockingModel, Model, ModelSession, Store

_T = TypeVar("_T")


class ConcurrentDriver:
    """Drives one session, on the event loop on which it was made.

    Args:
        model: The session with the model.
        setup: The pieces of the engine.
        background: Where calls run that may go on in the background.
        store: Where the session is saved; None means nowhere.

    Attributes:
        engine: The session's engine.
    """

    __slots__ = ("_performer", "_runner", "_saver", "engine")

    def __init__(
        self,
        model: ModelSession,
        setup: EngineSetup,
        background: BackgroundGroup,
        *,
        store: Store | None = None,
    ) -> None:
        self.engine = Engine(setup, has_store=store is not None)
        self._saver = Saver(self.engine, store)
        self._performer = Performer(self.engine, self._saver, model)
        self._runner = TaskRunner(self.engine, self._performer, self._saver, background)
        self.engine.runner = self._runner

    @property
    def cancellation(self) -> Cancellation:
        """Whether the host has cancelled the work."""
        return self._performer.cancellation

    def prepare_model(self, model: Model | BlockingModel) -> Callable[[], None]:
        """Open another model; return the function that has it called from then on.

        Raises:
            WrongModelForm: The model has no `open`.
        """
        if not isinstance(model, Model):
            raise WrongModelForm(model.name, "open")
        return partial(self._performer.use_model, model.open(self.engine.state.session_id))

    def ask_while_running(self, ask_host: AskHost | None) -> None:
        """Ask the host for approvals while other calls run; None stops that."""
        self._runner.ask_host = ask_host

    @property
    def asks_while_running(self) -> bool:
        """Whether the host is asked for approvals while other calls run."""
        return self._runner.ask_host is not None

    async def ask(self) -> None:
        """Ask the host for all pending approvals, and run what it allows meanwhile."""
        await self._finish(self._runner.ask())

    async def next(self) -> SessionStatus | None:
        """Work until there is a status for the host.

        An exception that leaves it (a cancelled scope, a deadline, `ReporterFailed`) cancels the
        turn, unless calls of it wait for people and nobody has cancelled it. The transcript is
        valid then, and everything that had begun has been stopped.

        Returns:
            The status; None if there is none and no work is left, so that an input has to come.
        """
        engine = self.engine
        while True:
            await self.release()
            if engine.outbox:
                await self._finish(self._saver.flush())
            await self.look_for_cancellation()
            status = engine.take_status()
            if status is not None or not engine.is_at_work:
                return status
            await self.advance()

    @property
    def is_reading(self) -> bool:
        """Whether a response is being read, and there is nothing else to do."""
        engine, reading = self.engine, self._performer.reading
        return (
            reading is not None
            and reading.effect.id in engine.state.out
            and not (engine.pending or engine.host_queue or engine.outbox)
            and not self._runner.has_other_work
        )

    async def read_on(self) -> None:
        """Do what `advance` does while `is_reading`, with little around it: it is done often.

        Raises:
            ReporterFailed: A reporter wants the turn to stop.
        """
        performer = self._performer
        try:
            if performer.reading is not None:
                performer.cancellation.change_task()
                answer = await performer.read_on(performer.reading)
                if answer is not None:
                    await self._runner.feed(answer)
            self.engine.raise_failure()
        except BaseException as error:
            await self.give_up(error)
            raise

    async def look_for_cancellation(self) -> None:
        """Give up the turn if the host has cancelled the present task, even if that was caught."""
        self.cancellation.change_task()
        if self.cancellation.is_requested:
            await self._finish(self._raise_cancellation())

    async def advance(self) -> None:
        """Work until something has ended or, if the engine stops after reads, after one read.

        Raises:
            ReporterFailed: A reporter wants the turn to stop.
        """
        await self._finish(self._runner.advance())

    async def release(self) -> None:
        """Close a response that is no longer wanted, and models that are no longer used."""
        await self._performer.release()

    async def flush(self) -> None:
        """Save what was decided and carry it out, until nothing is left.

        Raises:
            Exception: It could not be saved; nothing is done any more.
        """
        await self._saver.flush()

    async def finish_cancelled_save(self) -> None:
        """Save what a cancelled caller could not save, before another turn begins."""
        if self.engine.outbox.in_doubt:
            await self._saver.flush()

    async def flush_shielded(self) -> None:
        """Save what was decided, even if the task is cancelled."""
        await self._saver.flush_shielded()

    async def give_up(self, error: BaseException | None = None) -> None:
        """Cancel the turn and save that, even if the task is cancelled.

        Args:
            error: The exception that leaves the session; None if the host leaves the work. A turn
                of which calls wait for people goes on after an exception other than a cancellation;
                see `keeps_turn`.
        """
        if isinstance(error, anyio.get_cancelled_exc_class()):
            error = None
        await self._runner.stop_tasks()
        self.engine.interrupt(keeps_turn=keeps_turn(self.engine, error))
        self._runner.begun.recover()
        await self.release()
        await self.flush_shielded()

    async def something_new(self) -> None:
        """Wait until the engine is fed anything, or the host's work ends.

        Raises:
            BaseException: An exception of a background call, or why nothing can be saved.
        """
        await self._runner.something_new()

    async def changed(self) -> None:
        """Wait as `something_new` does, but leave exceptions to the caller that does the work."""
        await self._runner.wakeup.wait()

    async def wait_for_approval(self, request: ApprovalRequest, answer: Awaitable[_T]) -> _T | None:
        """Wait for the host's answer to an approval; None once the approval is not open."""
        return await self._runner.open_approval.wait(request, answer)

    async def wait_for_tasks(self) -> None:
        """Wait until no task works for the session any more, in the background either."""
        await self._runner.stop_all_tasks()

    async def end(self) -> None:
        """Stop all work and close the model; the driver is not used any more."""
        engine = self.engine
        engine.is_over = True
        engine.pending.clear()
        try:
            # Reported before anybody else can go on with the session.
            engine.events.leave(engine.turn_id, is_closed=engine.state.phase is Phase.CLOSED)
        finally:
            engine.lease.release()
            self._runner.stop_all()
            await self._performer.close()

    async def _raise_cancellation(self) -> None:
        # A background call that broke cancels its group, and the host in it: its exception is why.
        self._runner.raise_failure()
        await self.cancellation.raise_if_requested()

    async def _finish(self, work: Awaitable[None]) -> None:
        try:
            await work
            self.engine.raise_failure()
        except BaseException as error:
            await self.give_up(error)
            raise
