"""The session without an event loop: a thin loop around `HostLoop` that blocks."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar, overload

from agentkit_core.settings import member_of
from agentkit_loop._result import TurnResult
from agentkit_loop.agent._answer_text import AnswerText
from agentkit_loop.agent._blocking_work import BlockingWork
from agentkit_loop.agent._conversation import Conversation, require_no_approvals
from agentkit_loop.agent._host_loop import Outcome, Raise, Unanswered
from agentkit_loop.agent._on_approval import OnApproval
from agentkit_loop.agent._prompt import Prompt
from agentkit_loop.events import Event
from agentkit_loop.extensions._structured import ResultMode, ResultRequest, TypedResult
from agentkit_loop.kernel._inputs import Continue
from agentkit_loop.kernel._status import SessionStatus

if TYPE_CHECKING:  # the drivers are imported only where they are used
    from agentkit_loop.drivers.blocking import BlockingDriver

T = TypeVar("T")


class BlockingSession(Conversation):
    """A conversation, without an event loop. Opened by `Agent.session_blocking`.

    One thread at a time works on it, with `prompt`, `stream`, `continue_` or `next`; everything
    else may be called from any thread at any time. See `Session` for what each method does. A read
    or a tool call cannot be interrupted from another thread: a cancelled turn ends after it, so a
    limit for reading (`Timeouts.idle_s`, `Timeouts.first_byte_s`) is one for cancelling.

    Attributes:
        id: The session's id.
        settings: Model, options, instructions, tools and configuration; all may be changed.
    """

    __slots__ = ("_driver", "_work")

    def __init__(self, driver: BlockingDriver, *, on_approval: OnApproval | None) -> None:
        super().__init__(driver.engine, driver)
        self._driver = driver
        self._work = BlockingWork(driver, self._access, on_approval)

    @overload
    def prompt(self, prompt: Prompt) -> TurnResult: ...
    @overload
    def prompt(
        self,
        prompt: Prompt,
        *,
        result_type: type[T],
        result_mode: ResultMode = ...,
        result_retries: int = ...,
    ) -> TypedResult[T]: ...
    def prompt(
        self,
        prompt: Prompt,
        *,
        result_type: type[T] | None = None,
        result_mode: ResultMode = ResultMode.FORMAT,
        result_retries: int = 2,
    ) -> TurnResult | TypedResult[T]:
        """Send a prompt and wait for the turn's result; see `Session.prompt`."""
        with self._work.begin("prompt"):
            result_mode = member_of(ResultMode, result_mode, "result_mode")
            if result_type is None:
                self._access.begin_turn(prompt, "prompt")
                return self._work.until_done(Unanswered.RAISE).last_result
            request = ResultRequest(result_type, result_mode, result_retries)
            with self._offer.request_result(request):
                self._access.begin_turn(prompt, "prompt")
                return request.result(self._work.until_done(Unanswered.RAISE).last_result)

    def continue_(self) -> TurnResult:
        """Go on without a new prompt; see `Session.continue_`."""
        with self._work.begin("continue"):
            self._access.go_on()
            return self._work.until_done(Unanswered.RAISE).last_result

    def stream(self, prompt: Prompt | None = None) -> Generator[Event, None, None]:
        """Send a prompt and iterate over the events; see `Session.stream`."""
        with self._work.begin("stream"), self._access.listen() as envelopes:
            driver, engine = self._driver, self._engine
            loop = self._work.loop(Unanswered.RETURN)
            if prompt is None:
                self._access.require_work()
            else:
                self._access.begin_turn(prompt, "stream")
            is_done, is_left = False, False
            try:
                while True:
                    while envelopes:
                        is_left = True
                        yield envelopes.popleft().event
                        is_left = False
                    if is_done:
                        return
                    driver.release()
                    status = engine.take_status()
                    if status is None and engine.is_at_work:
                        driver.advance()
                    else:
                        decision = loop.decide(status, engine.state)
                        is_done = isinstance(decision, Raise)
                        is_done = self._work.carry_out(decision) is not None
            except BaseException as error:
                if not is_done:
                    driver.give_up(None if is_left else error)
                raise

    def stream_text(self, prompt: Prompt | None = None) -> Generator[str, None, None]:
        """Send a prompt and iterate over the text of the answers; see `Session.stream_text`."""
        answer = AnswerText()
        with closing(self.stream(prompt)) as events:
            yield from filter(None, map(answer.take, events))
        require_no_approvals(self)
        answer.require_completed()

    def next(self) -> SessionStatus:
        """Work until the session needs the host, and return why; see `Session.next`."""
        with self._work.begin("next"):
            while (status := self._driver.next()) is None:
                self._access.post(Continue())
            return status

    def close(self) -> None:
        """End the session; see `Session.close`."""
        if self._access.close():
            self.suspend()

    def suspend(self) -> None:
        """Stop working here and leave the session as it is stored; see `Session.suspend`."""
        self._driver.end()
        self._engine.raise_failure()


def work_on_blocking(session: BlockingSession) -> Outcome:
    """Work on a session until no turn follows, or the host has to approve a call; see `work_on`."""
    with session._work.begin("work on the session"):
        return session._work.until_done(Unanswered.RETURN)
