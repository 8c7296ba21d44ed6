"""The session that blocks; `_session` has the one that awaits, and says what each method does."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar, overload

from agentkit_core import ApprovalRequest
from agentkit_loop._errors import WrongModelForm
from agentkit_loop._result import TurnResult
from agentkit_loop._sync import NeedsEventLoop, at_once
from agentkit_loop.agent._conversation import Prompt
from agentkit_loop.agent._host_loop import Hosting
from agentkit_loop.agent._on_approval import decision_on, denied_for
from agentkit_loop.events import Envelope, Event
from agentkit_loop.extensions._structured import ResultMode, TypedResult, Wanted
from agentkit_loop.kernel._inputs import Configure, Continue
from agentkit_loop.kernel._status import ApprovalDecision, SessionStatus, WaitingForApproval
from agentkit_loop.kernel._table import Phase
from agentkit_loop.ports import BlockingModel

if TYPE_CHECKING:  # neither driver is loaded before it is used
    from agentkit_loop.drivers.blocking import BlockingDriver

T = TypeVar("T")


class BlockingSession(Hosting):
    """A conversation, without an event loop. Made by `Agent.session_blocking`.

    One thread at a time works on it (`prompt`, `stream`, `continue_`, `next`); all the rest may
    be called from any thread at any time. See `Session` for what each does. What is being waited
    for cannot be interrupted from another thread: a cancelled turn ends after the present read or
    tool, so a limit for reading (`Timeouts.idle_s`, `Timeouts.first_byte_s`) is one for cancelling.
    """

    _driver: BlockingDriver

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
        """Say something and wait until nothing more is to be done; see `Session.prompt`."""
        with self._alone("prompt"):
            if result_type is None:
                self._begin(prompt, "prompt")
                return self._until_done()
            wanted = Wanted(result_type, result_mode, result_retries)
            with self._wanting(wanted):
                self._begin(prompt, "prompt")
                return wanted.result(self._until_done())

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
                if prompt is not None:
                    self._begin(prompt, "stream")
                while True:
                    while told:
                        yield told.popleft().event
                    if done:
                        return
                    driver.release()
                    step = driver.take_step()
                    if step is not None:
                        done = self._ends_stream(step)
                    elif driver.is_at_work:
                        driver.advance()
                    else:
                        self._post(Continue())
            finally:
                driver.listened = False
                unsubscribe()
                if not done:
                    self.cancel()
                    driver.release()

    def next(self) -> SessionStatus:
        """Work until the host has the word, and say why; see `Session.next`."""
        with self._alone("next"):
            while (step := self._driver.next()) is None:
                self._post(Continue())
            return step

    def change_model(self, model: BlockingModel) -> None:
        """Ask another model from the next call on; see `Session.change_model`."""
        if not hasattr(model, "open_blocking"):
            raise WrongModelForm(model.name, "open_blocking")
        self._require_open()
        opened = model.open_blocking(self.id)
        self._post(Configure(model=model.name))
        self._driver.use_model(opened)

    def close(self) -> None:
        """End the session; see `Session.close`."""
        if self._driver.state.phase is not Phase.CLOSED:
            if self._driver.broken is None:
                self._driver.on_thread(self._driver.close)
                self._driver.drop_steps()
            self.suspend()

    def suspend(self) -> None:
        """Stop working here, and leave the session as it is stored; see `Session.suspend`."""
        self._driver.end()
        self._driver.raise_failure()

    @contextmanager
    def _alone(self, action: str) -> Iterator[None]:
        with super()._alone(action):
            try:
                yield
            except (Exception, GeneratorExit):
                raise
            except BaseException:  # a Ctrl-C may come anywhere, also before the driver works
                self._driver.on_thread(self._driver.interrupt)
                raise

    def _until_done(self) -> TurnResult:
        while True:
            step = self._driver.next()
            if step is None:
                self._post(Continue())
                continue
            if isinstance(step, WaitingForApproval):
                self._answer(self._to_ask(step))
                continue
            result = self._go_on(step)
            if result is not None:
                return result

    def _ends_stream(self, step: SessionStatus) -> bool:
        """Do what a step asks for; whether the host has the word, or all is done."""
        if isinstance(step, WaitingForApproval):
            return not self._have_answered(step)
        return self._go_on(step) is not None

    def _have_answered(self, step: WaitingForApproval) -> bool:
        """Have the agent's `on_approval` answer; whether there is one."""
        return self._on_approval is not None and self._answer(step.requests)

    def _answer(self, asks: tuple[ApprovalRequest, ...]) -> bool:
        """Have the host answer; whether it was asked anything."""
        for ask in asks:
            if ask in self.pending_approvals:
                self._decided(ask, self._decision_on(ask))
        return bool(asks)

    def _decision_on(self, ask: ApprovalRequest) -> ApprovalDecision:
        assert self._on_approval is not None  # noqa: S101  (only then is anything to be asked)
        try:
            return at_once(decision_on(self._on_approval, ask))
        except NeedsEventLoop as error:
            return denied_for(error, ask)
