"""Who may act on a session: inputs from any thread, and one caller at a time that works on it."""

from __future__ import annotations

from _thread import allocate_lock  # `threading` is slow to import, and some platforms lack it
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agentkit_core import ApprovalId, ToolCallId
from agentkit_loop._errors import NothingToContinue, SessionClosed, TurnRunning, UnknownApproval
from agentkit_loop.agent._prompt import Prompt, items_of
from agentkit_loop.events import Envelope
from agentkit_loop.kernel._inputs import Continue, Input, Lane, Resolve, Submit
from agentkit_loop.kernel._open_approvals import find_approval
from agentkit_loop.kernel._status import ApprovalDecision
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import wants_answer

if TYPE_CHECKING:  # the drivers are imported only where they are used
    from agentkit_loop.drivers._engine import Engine


class SessionAccess:
    """Posts inputs to a session's engine, and admits one caller at a time to work on it.

    Args:
        engine: The session's engine.
    """

    __slots__ = ("_engine", "_work")

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._work = allocate_lock()

    @property
    def is_working(self) -> bool:
        """Whether a caller works on the session."""
        return self._work.locked()

    @contextmanager
    def work(self, action: str) -> Iterator[None]:
        """Work on the session; no other caller can meanwhile.

        Args:
            action: What the caller wants to do, for the error.

        Raises:
            TurnRunning: Another caller works on it.
            SessionInUse: Another process, or another session object, works on the stored session.
        """
        if not self._work.acquire(blocking=False):
            raise TurnRunning(action)
        engine = self._engine
        try:
            engine.runner.call(engine.lease.take)
            yield
        finally:
            self._work.release()
            engine.runner.call(engine.rest)
            engine.runner.notify()

    def require_open(self) -> None:
        """Check that the session still takes inputs.

        Raises:
            SessionClosed: It was closed or suspended.
        """
        if self._engine.state.phase is Phase.CLOSED or self._engine.is_over:
            raise SessionClosed

    def post(self, kernel_input: Input) -> None:
        """Post an input, from any thread.

        Raises:
            SessionClosed: The session is over.
        """
        self.require_open()
        self._engine.post(kernel_input)
        if not self.is_working:
            # Otherwise the caller that works on the session raises it.
            self._engine.raise_failure()
            self._engine.runner.call(self._engine.rest)

    def queue(self, prompt: Prompt, lane: Lane) -> None:
        """Queue a prompt, from any thread.

        Raises:
            SessionClosed: The session is over.
        """
        submit = Submit(items_of(prompt), lane)
        self.require_open()
        # A stored session may have been left before its host knew that it had nothing to do.
        self._engine.runner.call(self._engine.host_queue.drop_awaiting_input)
        self.post(submit)

    @contextmanager
    def listen(self) -> Iterator[deque[Envelope]]:
        """Collect the session's events during the block; work stops after each read of a response.

        Yields:
            The envelopes that were dispatched since, oldest first; the caller takes them out.
        """
        envelopes: deque[Envelope] = deque()
        unsubscribe = self._engine.events.subscribe(envelopes.append)
        self._engine.stops_after_read = True
        try:
            yield envelopes
        finally:
            self._engine.stops_after_read = False
            unsubscribe()

    def close(self) -> bool:
        """End the session in the engine; a running turn is cancelled.

        Returns:
            Whether it was still open, so that the driver has to be ended.
        """
        engine = self._engine
        if engine.state.phase is Phase.CLOSED:
            return False
        if engine.save_error is None:
            engine.runner.call(engine.close)
            engine.host_queue.clear()
        return True

    def begin_turn(self, prompt: Prompt, action: str) -> None:
        """Begin a turn with a prompt. If it raises, nothing has changed.

        If the kernel has begun a turn by itself, because a background call ended, that turn goes
        on first and the prompt is queued for the next one.

        Raises:
            NothingToContinue: The prompt is empty, and there is nothing else to go on with.
            TurnRunning: A turn is running.
            SessionClosed: The session is over.
        """
        items, engine = items_of(prompt), self._engine
        self.require_open()
        if engine.state.turn is not None:
            if not engine.pending:
                raise TurnRunning(action)
            return self.post(Submit(items))
        if not items:
            self.require_work()
        engine.host_queue.clear()
        self.post(Submit(items, begin=True))

    def go_on(self) -> None:
        """Go on with what is under way, or begin a turn without new input.

        If it raises, nothing has changed.

        Raises:
            NothingToContinue: Nothing is under way, and the last item needs no response.
            SessionClosed: The session is over.
        """
        self.require_open()
        engine = self._engine
        state = engine.state
        if state.turn is not None:
            return
        if state.inputs or state.notices or wants_answer(state.transcript):
            engine.host_queue.clear()
            self.post(Continue(redrive=True))
        else:
            self.require_work()

    def require_work(self) -> None:
        """Check that something is under way or queued.

        Raises:
            NothingToContinue: Nothing is.
            SessionClosed: The session is over.
        """
        self.require_open()
        engine, state = self._engine, self._engine.state
        if not (state.turn or state.inputs or state.notices or state.background or engine.has_news):
            raise NothingToContinue

    def resolve(
        self, approval_id: ApprovalId, call_id: ToolCallId | None, decision: ApprovalDecision
    ) -> None:
        """Pass on a person's decision.

        Args:
            approval_id: The approval.
            call_id: Which call, if several wait for the same approval; None means the first.
            decision: The decision.

        Raises:
            UnknownApproval: No call waits for it.
            SessionClosed: The session is over.
        """
        engine = self._engine

        def require_known() -> None:
            if find_approval(engine.state, approval_id, call_id) is None:
                raise UnknownApproval(approval_id)

        is_over = engine.is_over or engine.state.phase is Phase.CLOSED
        require_known() if is_over else engine.runner.call(require_known)
        self.post(Resolve(approval_id, decision, call_id))
