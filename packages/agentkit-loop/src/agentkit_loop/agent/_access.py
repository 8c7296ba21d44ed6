"""Who may act on a session: inputs from any thread, and one caller at a time that works on it."""

from __future__ import annotations

from _thread import allocate_lock  # `threading` is slow to import, and some platforms lack it
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agentkit_loop._errors import SessionClosed, TurnRunning
from agentkit_loop.agent._prompt import Prompt, items_of
from agentkit_loop.events import Envelope
from agentkit_loop.kernel._inputs import Continue, Input, Submit
from agentkit_loop.kernel._table import Phase

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
        """
        if not self._work.acquire(blocking=False):
            raise TurnRunning(action)
        try:
            yield
        finally:
            self._work.release()
            self._engine.runner.notify()

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
        """Begin a turn with a prompt.

        If the kernel has begun a turn by itself, because a background call ended, that turn goes
        on first and the prompt is queued for the next one.

        Raises:
            TurnRunning: A turn is running.
            SessionClosed: The session is over.
        """
        engine = self._engine
        if engine.state.turn is not None:
            if not engine.pending:
                raise TurnRunning(action)
            return self.post(Submit(items_of(prompt)))
        engine.host_queue.clear()
        self.post(Submit(items_of(prompt), begin=True))

    def begin_turn_again(self) -> None:
        """Begin a turn without new input.

        Raises:
            TurnRunning: A turn is running.
            SessionClosed: The session is over.
        """
        if self._engine.state.turn is not None:
            raise TurnRunning("continue")
        self._engine.host_queue.clear()
        self.post(Continue(redrive=True))
