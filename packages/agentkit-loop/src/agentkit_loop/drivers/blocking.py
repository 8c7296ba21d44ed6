"""The driver without an event loop: one thing after another, on the thread of the host.

Other threads may post inputs at any moment; a lock keeps steps apart. What is being waited for
cannot be interrupted from outside, so a cancelled turn ends after the present read, tool call or
slice of a wait.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from agentkit_loop._errors import WrongModelForm
from agentkit_loop.drivers._broken_runs import keeps_turn
from agentkit_loop.drivers._engine import Engine
from agentkit_loop.drivers._inline import InlineRunner
from agentkit_loop.drivers._setup import EngineSetup
from agentkit_loop.kernel._status import SessionStatus
from agentkit_loop.kernel._table import Phase
from agentkit_loop.ports import BlockingModel, BlockingModelSession, BlockingStore, Model


class BlockingDriver:
    """Drives one session on the thread that calls `next`, one thread at a time.

    Args:
        model: The session with the model.
        setup: The pieces of the engine.
        store: Where the session is saved; None means nowhere.

    Attributes:
        engine: The session's engine.
    """

    __slots__ = ("_runner", "engine")

    def __init__(
        self,
        model: BlockingModelSession,
        setup: EngineSetup,
        *,
        store: BlockingStore | None = None,
    ) -> None:
        self.engine = Engine(setup, has_store=store is not None)
        self._runner = InlineRunner(self.engine, model, store)
        self.engine.runner = self._runner

    def prepare_model(self, model: Model | BlockingModel) -> Callable[[], None]:
        """Open another model; return the function that has it called from then on.

        Raises:
            WrongModelForm: The model has no `open_blocking`.
        """
        if not isinstance(model, BlockingModel):
            raise WrongModelForm(model.name, "open_blocking")
        return partial(self._runner.use_model, model.open_blocking(self.engine.state.session_id))

    def next(self) -> SessionStatus | None:
        """Work until there is a status for the host.

        An exception that leaves it (`KeyboardInterrupt`, `ReporterFailed`) cancels the turn, unless
        calls of it wait for people; the transcript is valid then.

        Returns:
            The status; None if there is none and no work is left, so that an input has to come.
        """
        while True:
            self.release()
            self._runner.flush()
            status = self.engine.take_status()
            if status is not None or not self.engine.is_at_work:
                return status
            self.advance()

    def advance(self) -> None:
        """Work until something has ended or, if the engine stops after reads, after one read.

        Raises:
            ReporterFailed: A reporter wants the turn to stop.
        """
        try:
            self._runner.advance()
            self.engine.raise_failure()
        except BaseException as error:
            self.give_up(error)
            raise

    def release(self) -> None:
        """Close a response that is no longer wanted, and models that are no longer used."""
        self._runner.release()

    def give_up(self, error: BaseException | None = None) -> None:
        """Cancel the turn because an exception leaves the session, and save that.

        Args:
            error: The exception; None if the host leaves the work. A turn of which calls wait for
                people goes on after an exception; see `keeps_turn`.
        """

        def interrupt() -> None:
            self.engine.interrupt(keeps_turn=keeps_turn(self.engine, error))
            if self.engine.save_error is None:
                self._runner.flush()

        self._runner.call(interrupt)
        self._runner.recover_interrupted()
        self.release()

    def end(self) -> None:
        """Close the model; the driver is not used any more."""
        engine = self.engine
        engine.is_over = True
        engine.pending.clear()
        try:
            # Reported before anybody else can go on with the session.
            engine.events.leave(engine.turn_id, is_closed=engine.state.phase is Phase.CLOSED)
        finally:
            engine.lease.release()
            self._runner.close()
