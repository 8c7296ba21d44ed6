"""The session without an event loop: a thin loop around `HostLoop` that blocks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar, assert_never, overload

from agentkit_core import ApprovalRequest
from agentkit_loop._errors import WrongModelForm
from agentkit_loop._result import TurnResult
from agentkit_loop.agent._conversation import Conversation, host_loop
from agentkit_loop.agent._host_loop import (
    Ask,
    Decision,
    Done,
    Outcome,
    Post,
    Raise,
    Unanswered,
    Wait,
)
from agentkit_loop.agent._on_approval import OnApproval, decide_approval_blocking
from agentkit_loop.agent._prompt import Prompt
from agentkit_loop.agent._settings import AnyModel
from agentkit_loop.events import Event
from agentkit_loop.extensions._structured import ResultMode, ResultRequest, TypedResult
from agentkit_loop.kernel._inputs import Continue, Resolve
from agentkit_loop.kernel._status import Finished, SessionStatus, WaitingForApproval
from agentkit_loop.ports import BlockingModel

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

    __slots__ = ("_driver",)

    def __init__(self, driver: BlockingDriver, *, on_approval: OnApproval | None) -> None:
        super().__init__(
            driver.engine, on_approval=on_approval, prepare_model=partial(_prepare_model, driver)
        )
        self._driver = driver

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
        with _working(self, "prompt"):
            if result_type is None:
                self._access.begin_turn(prompt, "prompt")
                return _until_done(self, Unanswered.RAISE).last_result
            request = ResultRequest(result_type, result_mode, result_retries)
            with self._offer.request_result(request):
                self._access.begin_turn(prompt, "prompt")
                return request.result(_until_done(self, Unanswered.RAISE).last_result)

    def continue_(self) -> TurnResult:
        """Go on without a new prompt; see `Session.continue_`."""
        with _working(self, "continue"):
            self._access.go_on()
            return _until_done(self, Unanswered.RAISE).last_result

    def stream(self, prompt: Prompt | None = None) -> Generator[Event, None, None]:
        """Send a prompt and iterate over the events; see `Session.stream`."""
        with _working(self, "stream"), self._access.listen() as envelopes:
            driver, engine = self._driver, self._engine
            loop = host_loop(self, Unanswered.RETURN, can_wait=False)
            if prompt is None:
                self._access.require_work()
            else:
                self._access.begin_turn(prompt, "stream")
            is_done = False
            try:
                while True:
                    while envelopes:
                        yield envelopes.popleft().event
                    if is_done:
                        return
                    driver.release()
                    status = engine.take_status()
                    if status is None and engine.is_at_work:
                        driver.advance()
                    else:
                        decision = loop.decide(status, engine.state)
                        is_done = isinstance(decision, Raise)
                        is_done = _carry_out(self, decision) is not None
            finally:
                if not is_done:
                    self.cancel()
                    driver.release()

    def next(self) -> SessionStatus:
        """Work until the session needs the host, and return why; see `Session.next`."""
        with _working(self, "next"):
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
    with _working(session, "work on the session"):
        return _until_done(session, Unanswered.RETURN)


def _prepare_model(driver: BlockingDriver, model: AnyModel) -> Callable[[], None]:
    if not isinstance(model, BlockingModel):
        raise WrongModelForm(model.name, "open_blocking")
    return partial(driver.use_model, model.open_blocking(driver.engine.state.session_id))


def _until_done(session: BlockingSession, unanswered: Unanswered) -> Outcome:
    loop = host_loop(session, unanswered, can_wait=False)
    while True:
        decision = loop.decide(session._driver.next(), session._driver.engine.state)
        reason = _carry_out(session, decision)
        if reason is not None:
            return Outcome(reason, tuple(loop.results))


def _carry_out(
    session: BlockingSession, decision: Decision
) -> Finished | WaitingForApproval | None:
    """Do what the host loop has decided; return the status with which it is done, else None."""
    match decision:
        case Post(input=kernel_input):
            session._access.post(kernel_input)
        case Ask(requests=requests):
            _ask_host(session, requests)
        case Done(status=status):
            return status
        case Raise(error=error):
            raise error
        case Wait():
            raise AssertionError("a blocking session cannot wait, so its loop does not ask it to")
        case _:
            assert_never(decision)
    return None


def _ask_host(session: BlockingSession, requests: tuple[ApprovalRequest, ...]) -> None:
    # An earlier denial may have withdrawn it: one is enough for a call.
    request = next((other for other in requests if other in session.pending_approvals), None)
    if session._on_approval is not None and request is not None:
        decision = decide_approval_blocking(session._on_approval, request)
        if request in session.pending_approvals:
            session._access.post(Resolve(request.id, decision, request.call.id))


@contextmanager
def _working(session: BlockingSession, action: str) -> Iterator[None]:
    with session._access.work(action):
        try:
            yield
        except (Exception, GeneratorExit):
            raise
        except BaseException:  # a Ctrl-C may come anywhere, also before the driver works
            session._driver.give_up()
            raise
