"""Sessions: one conversation each, the object that hosts hold.

`Session` awaits, `BlockingSession` blocks; what needs no waiting is the same for both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Generator
from typing import TYPE_CHECKING

from agentkit_loop._conversation import Conversation, Prompt
from agentkit_loop._steps import Step
from agentkit_loop._table import Phase
from agentkit_loop.events import Envelope, Event, TurnResult

if TYPE_CHECKING:  # neither driver is loaded before it is used
    from agentkit_loop.drivers.blocking import BlockingDriver
    from agentkit_loop.drivers.concurrent import ConcurrentDriver


class Session(Conversation):
    """A conversation, for asyncio and trio. Made by `Agent.session`.

    One task at a time works on it (`prompt`, `stream`, `continue_`, `next`); all the rest may be
    called by anyone at any time.
    """

    _driver: ConcurrentDriver

    async def prompt(self, prompt: Prompt) -> TurnResult:
        """Say something and wait until nothing more is to be done.

        Input that is queued meanwhile gets its turns as well, unless a turn is cancelled or
        fails. A failure of the model is a result, not an exception.

        Returns:
            The result of the last turn.

        Raises:
            ApprovalNeeded: A call waits for approval, and the agent has no `on_approval`.
            TurnRunning: A turn is running.
            SessionClosed: The session is over.
        """
        with self._alone("prompt"):
            self._begin(prompt, "prompt")
            return await self._until_done()

    async def continue_(self) -> TurnResult:
        """Begin a turn without new input: after a failure, a limit, or for what is queued.

        Raises:
            NothingToContinue: The last item asks for no answer and nothing is queued.
            ApprovalNeeded: See `prompt`.
            TurnRunning: A turn is running.
            SessionClosed: The session is over.
        """
        with self._alone("continue"):
            self._redrive()
            return await self._until_done()

    async def stream(self, prompt: Prompt | None = None) -> AsyncGenerator[Event, None]:
        """Say something and get the events, until nothing more is to be done.

        Events of tools that run side by side are handed over when they are done; reporters have
        them at once. Where a call waits for approval and the agent has no `on_approval`, the
        events end; approve or deny, and stream on. Leaving early cancels the turn.

        Args:
            prompt: What to say; None goes on with what is under way.

        Raises:
            NothingToContinue: There is no prompt, and nothing is under way or queued.
            TurnRunning: A turn is running, and there is a prompt.
            SessionClosed: The session is over.
        """
        with self._alone("stream"):
            told: deque[Envelope] = deque()
            driver = self._driver
            unsubscribe = self.subscribe(told.append)
            driver.listened = True
            done = False
            try:
                self._nudge() if prompt is None else self._begin(prompt, "stream")
                while True:
                    while told:
                        yield told.popleft().event
                    if done:
                        return
                    await driver.release()
                    step = driver.take_step()
                    if step is None:
                        await driver.advance()
                    else:
                        done = self._ends_stream(step)
            finally:
                driver.listened = False
                unsubscribe()
                if not done:
                    driver.cancel()
                    await driver.release()

    async def next(self) -> Step:
        """Work until the host has the word, and say why.

        Raises:
            SessionClosed: The session is over.
        """
        with self._alone("next"):
            self._nudge()
            return await self._driver.next()

    async def close(self) -> None:
        """End the session; a turn that runs is cancelled. Calling it again does nothing.

        Raises:
            ReporterFailed: A reporter could not take the last events; the session is closed.
        """
        if self._driver.state.phase is not Phase.CLOSED:
            self._driver.on_thread(self._driver.close)
            self._driver.drop_steps()
            await self._driver.end()
            self._driver.raise_failure()

    async def _until_done(self) -> TurnResult:
        while (result := self._go_on(await self._driver.next())) is None:
            pass
        return result


class BlockingSession(Conversation):
    """A conversation, without an event loop. Made by `Agent.session_blocking`.

    One thread at a time works on it (`prompt`, `stream`, `continue_`, `next`); all the rest may
    be called from any thread at any time. See `Session` for what each does. What is being waited
    for cannot be interrupted from another thread: a cancelled turn ends after the present read or
    tool, so a limit for reading (`Timeouts.idle_s`, `Timeouts.first_byte_s`) is one for cancelling.
    """

    _driver: BlockingDriver

    def prompt(self, prompt: Prompt) -> TurnResult:
        """Say something and wait until nothing more is to be done; see `Session.prompt`."""
        with self._alone("prompt"):
            self._begin(prompt, "prompt")
            return self._until_done()

    def continue_(self) -> TurnResult:
        """Begin a turn without new input; see `Session.continue_`."""
        with self._alone("continue"):
            self._redrive()
            return self._until_done()

    def stream(self, prompt: Prompt | None = None) -> Generator[Event, None, None]:
        """Say something and get the events; see `Session.stream`."""
        with self._alone("stream"):
            told: deque[Envelope] = deque()
            driver = self._driver
            unsubscribe = self.subscribe(told.append)
            driver.listened = True
            done = False
            try:
                self._nudge() if prompt is None else self._begin(prompt, "stream")
                while True:
                    while told:
                        yield told.popleft().event
                    if done:
                        return
                    driver.release()
                    step = driver.take_step()
                    if step is None:
                        driver.advance()
                    else:
                        done = self._ends_stream(step)
            finally:
                driver.listened = False
                unsubscribe()
                if not done:
                    self.cancel()
                    driver.release()

    def next(self) -> Step:
        """Work until the host has the word, and say why; see `Session.next`."""
        with self._alone("next"):
            self._nudge()
            return self._driver.next()

    def close(self) -> None:
        """End the session; see `Session.close`."""
        if self._driver.state.phase is not Phase.CLOSED:
            self._driver.on_thread(self._driver.close)
            self._driver.drop_steps()
            self._driver.end()
            self._driver.raise_failure()

    def _until_done(self) -> TurnResult:
        while (result := self._go_on(self._driver.next())) is None:
            pass
        return result
