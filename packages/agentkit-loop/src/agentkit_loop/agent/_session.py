"""The session for asyncio and trio: a thin loop around `HostLoop` that awaits."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, TypeVar, overload

from agentkit_core.settings import member_of
from agentkit_loop._result import TurnResult
from agentkit_loop.agent._answer_text import AnswerText
from agentkit_loop.agent._conversation import Conversation, require_no_approvals
from agentkit_loop.agent._host_loop import Outcome, Unanswered
from agentkit_loop.agent._on_approval import OnApproval
from agentkit_loop.agent._prompt import Prompt
from agentkit_loop.agent._session_work import SessionWork
from agentkit_loop.events import Event
from agentkit_loop.extensions._structured import ResultMode, ResultRequest, TypedResult
from agentkit_loop.kernel._inputs import Continue
from agentkit_loop.kernel._status import SessionStatus

if TYPE_CHECKING:  # the drivers are imported only where they are used
    from agentkit_loop.drivers.concurrent import ConcurrentDriver

T = TypeVar("T")


class Session(Conversation):
    """A conversation, for asyncio and trio. Opened by `Agent.session`.

    One task at a time works on it, with `prompt`, `stream`, `continue_` or `next`. Everything else
    may be called at any time, and what does not wait also from any thread.

    Attributes:
        id: The session's id.
        settings: Model, options, instructions, tools and configuration; all may be changed.
    """

    __slots__ = ("_driver", "_work")

    def __init__(self, driver: ConcurrentDriver, *, on_approval: OnApproval | None) -> None:
        super().__init__(driver.engine, driver)
        self._driver = driver
        self._work = SessionWork(driver, self._access, on_approval)

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
        """Send a prompt and wait for the turn's result.

        Prompts that are queued meanwhile get their turns as well, unless a turn is cancelled or
        fails. A failure of the model is a result, not an exception.

        Args:
            prompt: What to say to the model.
            result_type: The type of the result, any type that a tool could take; None means text.
            result_mode: How the model is told the type.
            result_retries: How often the model may try again when its result is not valid.

        Returns:
            The result of the last turn; with `result_type`, a `TypedResult` that has the value.

        Raises:
            ApprovalRequiredError: A call needs approval, and the agent has no `on_approval`.
            TurnRunning: A turn is running.
            SessionClosed: The session is over.
        """
        with self._work.begin("prompt"):
            await self._driver.finish_cancelled_save()
            result_mode = member_of(ResultMode, result_mode, "result_mode")
            if result_type is None:
                self._access.begin_turn(prompt, "prompt")
                return (await self._work.until_done(Unanswered.RAISE)).last_result
            request = ResultRequest(result_type, result_mode, result_retries)
            with self._offer.request_result(request):
                self._access.begin_turn(prompt, "prompt")
                outcome = await self._work.until_done(Unanswered.RAISE)
                return request.result(outcome.last_result)

    async def continue_(self) -> TurnResult:
        """Go on without a new prompt, and wait for the turn's result.

        Goes on with the turn that is under way, such as one of a stored session whose approval was
        given meanwhile. If none is, it begins one: after a failure or a limit, for queued prompts,
        or when a background call ends.

        Raises:
            NothingToContinue: Nothing is under way or queued, and the last item needs no response.
            ApprovalRequiredError: A call needs approval, and the agent has no `on_approval`.
            TurnRunning: Another caller works on the session.
            SessionClosed: The session is over.
        """
        with self._work.begin("continue"):
            await self._driver.finish_cancelled_save()
            self._access.go_on()
            return (await self._work.until_done(Unanswered.RAISE)).last_result

    async def stream(self, prompt: Prompt | None = None) -> AsyncGenerator[Event, None]:
        """Send a prompt and iterate over the events, until the turn is over.

        Events of tools arrive while the tools run. When a call needs approval and the agent has no
        `on_approval`, the events end: approve or deny it, and call `stream` again. Leaving early
        cancels the turn.

        Args:
            prompt: What to say to the model; None goes on with the running turn, or with what is
                queued.

        Raises:
            NothingToContinue: There is no prompt, no running turn and nothing queued.
            TurnRunning: A turn is running, and there is a prompt.
            SessionClosed: The session is over.
        """
        async with self._work.events(prompt) as events:
            async for event in events:
                yield event

    async def stream_text(self, prompt: Prompt | None = None) -> AsyncGenerator[str, None]:
        """Send a prompt and iterate over the text of the answers; see `Agent.stream_text`.

        Args:
            prompt: What to say to the model; None goes on, as with `stream`.

        Raises:
            ApprovalRequiredError: A call needs approval, and there is no `on_approval`. The turn
                waits: approve or deny the call, and call this again without a prompt.
            TurnNotCompleted: The last turn was not completed; raised after its last piece.
        """
        answer = AnswerText()
        async with self._work.events(prompt) as events:
            async for event in events:
                if piece := answer.take(event):
                    yield piece
        require_no_approvals(self)
        answer.require_completed()

    async def next(self) -> SessionStatus:
        """Work until the session needs the host, and return why.

        Raises:
            SessionClosed: The session is over.
        """
        with self._access.work("next"):
            self._driver.cancellation.begin_work()
            while (status := await self._driver.next()) is None:
                self._access.post(Continue())
            return status

    async def wait_idle(self) -> None:
        """Wait until no turn runs and no task works on the session; background calls may go on.

        Not for code that works on the session itself: it would wait for itself.
        """
        engine = self._engine
        while self._access.is_working or (engine.state.turn is not None and not engine.is_over):
            if self._access.is_working:  # the caller that works on it gets the exceptions
                await self._driver.changed()
            else:
                await self._driver.something_new()

    async def wait_background(self) -> None:
        """Wait until a background call ends or needs approval; return at once if none runs.

        After that, `next` or `stream` without a prompt tells the model; `prompt` does so as well,
        together with its prompt.
        """
        engine = self._engine
        running, notices = set(engine.state.background), engine.state.notices
        while (
            any(not call.pending_approvals for call in engine.state.background.values())
            and engine.state.background.keys() == running
            and engine.state.notices == notices
            and not engine.pending  # what `next` has yet to perform cannot be waited for
        ):
            if engine.outbox:
                await self._driver.flush()
            else:
                await self._driver.something_new()

    async def flush(self) -> None:
        """Save now what was decided; without a store, do nothing.

        Everything is saved before it takes effect, so this is only for inputs to a session on
        which no task works: an approval, or a queued prompt.

        Raises:
            StaleSave: Another process has gone on with the session.
        """
        await self._driver.flush()

    async def close(self) -> None:
        """End the session; a running turn is cancelled. Calling it again does nothing.

        A stored session is over in the store too. To go on with it later, leave the `async with`
        block instead.

        Raises:
            ReporterFailed: A reporter could not take the last events; the session is closed.
        """
        if self._access.close():
            await self.suspend()

    async def suspend(self) -> None:
        """Stop working here and leave the session as it is stored; see `Agent.session`.

        What runs at this moment is given up. The object cannot be used any more.

        Raises:
            ReporterFailed: A reporter could not take the last events.
        """
        try:
            await self._driver.flush_shielded()
        finally:
            await self._driver.end()
        self._engine.raise_failure()


async def work_on(session: Session) -> Outcome:
    """Work on a session until a turn has ended and none follows, or the host has to approve a call.

    Raises:
        TurnRunning: Another caller works on it.
        NothingToContinue: No turn runs, and nothing is queued.
        SessionClosed: The session is over.
    """
    with session._work.begin("work on the session"):
        return await session._work.until_done(Unanswered.RETURN)
