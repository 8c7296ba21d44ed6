"""Sessions: one conversation each, the object that hosts hold.

The one here awaits, that of `_blocking_session` blocks; `_conversation` has what needs no waiting,
which is the same for both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, TypeVar, overload

from agentkit_core import ApprovalRequest
from agentkit_loop._errors import WrongModelForm
from agentkit_loop._result import TurnResult
from agentkit_loop.agent._conversation import Prompt
from agentkit_loop.agent._host_loop import Hosting, is_stopped
from agentkit_loop.agent._on_approval import decision_on
from agentkit_loop.events import Envelope, Event
from agentkit_loop.extensions._structured import ResultMode, TypedResult, Wanted
from agentkit_loop.kernel._inputs import Configure, Continue
from agentkit_loop.kernel._status import Finished, SessionStatus, WaitingForApproval
from agentkit_loop.kernel._table import Phase
from agentkit_loop.ports import Model

if TYPE_CHECKING:  # neither driver is loaded before it is used
    from agentkit_loop.drivers.concurrent import ConcurrentDriver

T = TypeVar("T")


class Session(Hosting):
    """A conversation, for asyncio and trio. Made by `Agent.session`.

    One task at a time works on it (`prompt`, `stream`, `continue_`, `next`); all the rest may be
    called by anyone at any time.
    """

    _driver: ConcurrentDriver

    @overload
    async def prompt(self, prompt: Prompt) -> TurnResult: ...
    @overload
    async def prompt(
        self,
        prompt: Prompt,
        *,
        result_type: type[T],
        result_mode: ResultMode = ...,
        result_retries: int = ...,
    ) -> TypedResult[T]: ...
    async def prompt(
        self,
        prompt: Prompt,
        *,
        result_type: type[T] | None = None,
        result_mode: ResultMode = ResultMode.FORMAT,
        result_retries: int = 2,
    ) -> TurnResult | TypedResult[T]:
        """Say something and wait until nothing more is to be done.

        Input that is queued meanwhile gets its turns as well, unless a turn is cancelled or
        fails. A failure of the model is a result, not an exception.

        Args:
            prompt: What to say.
            result_type: What is to come of it, any type that a tool could take; None means text.
            result_mode: How the model is told.
            result_retries: How often it may try again when what it gives does not fit.

        Returns:
            The result of the last turn; with `result_type`, that and the value.

        Raises:
            ApprovalRequiredError: A call waits for approval, and the agent has no `on_approval`.
            TurnRunning: A turn is running.
            SessionClosed: The session is over.
        """
        with self._alone("prompt"), self._asking():
            if result_type is None:
                self._begin(prompt, "prompt")
                return await self._until_done()
            wanted = Wanted(result_type, result_mode, result_retries)
            with self._wanting(wanted):
                self._begin(prompt, "prompt")
                return wanted.result(await self._until_done())

    async def continue_(self) -> TurnResult:
        """Begin a turn without new input: after a failure, a limit, or for what is queued.

        Raises:
            NothingToContinue: The last item asks for no answer and nothing is queued.
            ApprovalRequiredError: See `prompt`.
            TurnRunning: A turn is running.
            SessionClosed: The session is over.
        """
        with self._alone("continue"), self._asking():
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
        with self._alone("stream"), self._asking():
            told: deque[Envelope] = deque()
            driver = self._driver
            unsubscribe = self.subscribe(told.append)
            driver.listened = True
            done = followed = False
            try:
                if prompt is not None:
                    self._begin(prompt, "stream")
                while True:
                    while told:
                        yield told.popleft().event
                    if done:
                        return
                    await driver.release()
                    step = driver.take_step()
                    if step is not None:
                        followed = isinstance(step, Finished) and self._is_followed
                        done = not followed and await self._ends_stream(step)
                    elif driver.is_at_work:
                        await driver.advance()
                    elif self._is_followed:
                        await driver.something_new()
                    elif followed and driver.state.turn is None and not self._has_more:
                        done = True  # what was waited for leaves nothing to say
                    else:
                        self._post(Continue())
            finally:
                driver.listened = False
                unsubscribe()
                if not done:
                    await driver.give_up()

    async def next(self) -> SessionStatus:
        """Work until the host has the word, and say why.

        Raises:
            SessionClosed: The session is over.
        """
        with self._alone("next"):
            while (step := await self._driver.next()) is None:
                self._post(Continue())
            return step

    async def wait_idle(self) -> None:
        """Wait until no turn runs and nobody works on the session; at once if that is so.

        Calls in the background may go on. Not for whoever works on the session: it would wait
        for itself.
        """
        driver = self._driver
        while self._working or (driver.state.turn is not None and not driver.is_over):
            if not self._working:
                await driver.something_new()
            else:  # whoever works on it raises what there is to raise
                await driver.changed()

    async def wait_background(self) -> None:
        """Wait until a call in the background is over, or asks; at once if none runs.

        Then `next`, or `stream` without a prompt, tells the model; `prompt` does so beside what
        it says.
        """
        state = self._driver.state
        running, notices = dict(state.background), state.notices
        while (
            any(not call.pending_approvals for call in self._driver.state.background.values())
            and self._driver.state.background.keys() == running.keys()
            and self._driver.state.notices == notices
            and not self._driver.pending  # what is to be performed by `next` cannot be waited for
        ):
            if self._driver.is_unsaved:
                await self._driver.flush()
            else:
                await self._driver.something_new()

    async def flush(self) -> None:
        """Save now what was decided; where there is no store, nothing happens.

        Everything is saved before anything comes of it, so this is for what was said to a session
        on which nobody works: a decision on an approval, input that is queued.

        Raises:
            StaleSave: Someone else has gone on with the session.
        """
        await self._driver.flush()

    async def change_model(self, model: Model) -> None:
        """Ask another model from the next call on.

        Raises:
            WrongModelForm: The model has no `open`.
            SessionClosed: The session is over.
        """
        if not hasattr(model, "open"):
            raise WrongModelForm(model.name, "open")
        self._require_open()
        opened = model.open(self.id)  # one that cannot be opened changes nothing
        self._post(Configure(model=model.name))
        self._driver.use_model(opened)

    async def close(self) -> None:
        """End the session; a turn that runs is cancelled. Calling it again does nothing.

        A session that is stored is over there too; to go on later, leave its `async with`.

        Raises:
            ReporterFailed: A reporter could not take the last events; the session is closed.
        """
        if self._driver.state.phase is not Phase.CLOSED:
            if self._driver.broken is None:
                self._driver.on_thread(self._driver.close)
                self._driver.drop_steps()
            await self.suspend()

    async def suspend(self) -> None:
        """Stop working here, and leave the session as it is stored; see `Agent.session`.

        What runs at this moment is given up. The object cannot be used any more.

        Raises:
            ReporterFailed: A reporter could not take the last events.
        """
        try:
            await self._driver.flush_at_last()
        finally:
            await self._driver.end()
        self._driver.raise_failure()

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Have an async `on_approval` asked while other calls run.

        A sync one would keep them from running; it is asked when nothing else is to be done.
        """
        on_approval = self._on_approval
        if on_approval is None or not iscoroutinefunction(on_approval):
            yield
            return
        self._driver.asker = partial(decision_on, on_approval)
        try:
            yield
        finally:
            self._driver.asker = None

    async def _until_done(self) -> TurnResult:
        driver = self._driver
        while True:
            step = await driver.next()
            if step is None:
                await self._nothing_goes_on()
                continue
            if isinstance(step, WaitingForApproval):
                if not await self._answer(self._to_ask(step)):
                    await driver.something_new()
                continue
            if isinstance(step, Finished) and not is_stopped(step) and await self._goes_on():
                continue
            result = self._go_on(step)
            if result is not None:
                return result

    async def _nothing_goes_on(self) -> None:
        if self._is_followed:
            await self._driver.something_new()
        else:
            self._post(Continue())

    async def _goes_on(self) -> bool:
        """Wait for what follows a turn that is over, if calls in the background do; whether so."""
        if not self._is_followed:
            return False
        while self._is_followed and not self._driver.has_word:
            await self._driver.something_new()
        return self._has_more or self._driver.has_word

    async def _ends_stream(self, step: SessionStatus) -> bool:
        """Do what a step asks for; whether the host has the word, or all is done."""
        if isinstance(step, WaitingForApproval):
            return not await self._have_answered(step)
        return self._go_on(step) is not None

    async def _have_answered(self, step: WaitingForApproval) -> bool:
        """Have the agent's `on_approval` answer; whether there is one."""
        return self._on_approval is not None and await self._answer(step.requests)

    async def _answer(self, asks: tuple[ApprovalRequest, ...]) -> bool:
        """Have the host answer; whether it was asked anything."""
        for ask in asks:
            if ask in self.pending_approvals and self._on_approval is not None:
                work = decision_on(self._on_approval, ask)
                try:
                    decision = await self._driver.while_open(ask, work)
                except BaseException:  # someone cancels whoever asks, and so the turn
                    await self._driver.give_up()
                    raise
                if decision is not None:
                    self._decided(ask, decision)
        return bool(asks)
