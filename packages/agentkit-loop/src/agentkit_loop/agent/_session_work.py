"""Working on a session for asyncio and trio: does what the host loop decides, by awaiting."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, assert_never

from agentkit_core import ApprovalRequest
from agentkit_loop.agent._access import SessionAccess
from agentkit_loop.agent._host_loop import (
    Ask,
    Decision,
    Done,
    HostLoop,
    Outcome,
    Post,
    Raise,
    Unanswered,
    Wait,
)
from agentkit_loop.agent._on_approval import OnApproval, decide_approval
from agentkit_loop.agent._prompt import Prompt
from agentkit_loop.events import Envelope, Event
from agentkit_loop.kernel._inputs import Resolve
from agentkit_loop.kernel._open_approvals import is_open
from agentkit_loop.kernel._status import Finished, WaitingForApproval

if TYPE_CHECKING:  # the drivers are imported only where they are used
    from agentkit_loop.drivers.concurrent import ConcurrentDriver


class SessionWork:
    """The work of one caller at a time on a session.

    Args:
        driver: Drives the session.
        access: Admits one caller at a time.
        on_approval: Answers approval requests; None leaves them to the host.
    """

    __slots__ = ("_access", "_driver", "_on_approval")

    def __init__(
        self, driver: ConcurrentDriver, access: SessionAccess, on_approval: OnApproval | None
    ) -> None:
        self._driver = driver
        self._access = access
        self._on_approval = on_approval

    @contextmanager
    def begin(self, action: str) -> Iterator[None]:
        """Work on the session in the block; nobody else can meanwhile.

        An async `on_approval` is asked while other calls run; a sync one would keep them from
        running.

        Raises:
            TurnRunning: Another caller works on it.
        """
        on_approval = self._on_approval
        with self._access.work(action):
            self._driver.cancellation.begin_work()
            if on_approval is None or not _is_async(on_approval):
                yield
                return
            self._driver.ask_while_running(partial(decide_approval, on_approval, self._report))
            try:
                yield
            finally:
                self._driver.ask_while_running(None)

    def loop(self, unanswered: Unanswered) -> HostLoop:
        """Make the host loop of one piece of work."""
        has_on_approval = self._on_approval is not None
        return HostLoop(has_on_approval=has_on_approval, can_wait=True, unanswered=unanswered)

    def events(self, prompt: Prompt | None) -> EventStream:
        """Stream the events of one piece of work; see `Session.stream`."""
        return EventStream(self, prompt)

    async def until_done(self, unanswered: Unanswered) -> Outcome:
        """Work until a turn has ended and none follows, or the host has to approve a call.

        Raises:
            ApprovalRequiredError: A call needs approval, and `unanswered` says so.
            NothingToContinue: No turn runs, and nothing is queued.
            SessionClosed: The session is over.
        """
        engine, loop = self._driver.engine, self.loop(unanswered)
        while True:
            status = await self._driver.next()
            decision = loop.decide(status, engine.state, is_over=engine.is_over)
            reason = await self.carry_out(decision)
            if reason is not None:
                return Outcome(reason, tuple(loop.results))

    async def carry_out(self, decision: Decision) -> Finished | WaitingForApproval | None:
        """Do what the host loop has decided; return the status with which it is done, else None."""
        match decision:
            case Wait():
                if not self._driver.engine.has_news:
                    await self._driver.something_new()
            case Post(input=kernel_input):
                self._access.post(kernel_input)
            case Ask(requests=requests):
                await self._ask_host(requests)
            case Done(status=status):
                return status
            case Raise(error=error):
                raise error
            case _:
                assert_never(decision)
        return None

    def _report(self, error: Exception, where: str) -> None:
        self._driver.engine.hooks.hooks.report(error, where)

    async def _ask_host(self, requests: tuple[ApprovalRequest, ...]) -> None:
        driver, engine = self._driver, self._driver.engine
        if driver.asks_while_running:
            return await driver.ask()
        # An earlier denial may have withdrawn it: one is enough for a call.
        request = next((other for other in requests if is_open(engine.state, other)), None)
        if self._on_approval is None or request is None:
            return
        try:
            decision = await driver.wait_for_approval(
                request, decide_approval(self._on_approval, self._report, request)
            )
            await driver.cancellation.raise_if_requested()
        except BaseException as error:
            await driver.give_up(error)
            raise
        if decision is not None and is_open(engine.state, request):
            self._access.post(Resolve(request.id, decision, request.call.id))


class EventStream:
    """The events of one piece of work on a session, in the block of an `async with`.

    Not a generator: an event loop that ends closes all generators at once, and one that another one
    waits for would be closed twice.

    Args:
        work: Works on the session.
        prompt: What to say to the model; None goes on with what is under way.
    """

    def __init__(self, work: SessionWork, prompt: Prompt | None) -> None:
        self._work = work
        self._prompt = prompt
        self._stack = ExitStack()
        self._loop = work.loop(Unanswered.RETURN)
        self._envelopes: deque[Envelope] = deque()
        self._is_done = True
        self._error: BaseException | None = None
        """What broke the work, as opposed to a host that leaves it."""

    async def __aenter__(self) -> EventStream:
        """Begin the work; what raises before that cancels no turn."""
        access = self._work._access
        with ExitStack() as stack:
            stack.enter_context(self._work.begin("stream"))
            await self._work._driver.finish_cancelled_save()
            self._envelopes = stack.enter_context(access.listen())
            if self._prompt is None:
                access.require_work()
            else:
                access.begin_turn(self._prompt, "stream")
            self._stack = stack.pop_all()
        self._is_done = False
        return self

    async def __aexit__(self, *_: object) -> None:
        """Cancel the turn if the work is not done."""
        try:
            if not self._is_done:
                await self._work._driver.give_up(self._error)
        finally:
            self._stack.close()

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> Event:
        driver, envelopes = self._work._driver, self._envelopes
        try:
            while not envelopes:
                if self._is_done:
                    raise StopAsyncIteration
                if driver.is_reading:
                    await driver.read_on()
                else:
                    await self._go_on()
        except BaseException as error:
            self._error = error
            raise
        return envelopes.popleft().event

    async def _go_on(self) -> None:
        """Do what comes next, other than reading a response on."""
        driver, engine = self._work._driver, self._work._driver.engine
        await driver.look_for_cancellation()
        await driver.release()
        status = engine.take_status()
        if status is None and engine.is_at_work:
            await driver.advance()
        else:
            decision = self._loop.decide(status, engine.state, is_over=engine.is_over)
            # A mistake of the host, such as nothing to do, cancels no turn.
            self._is_done = isinstance(decision, Raise)
            self._is_done = await self._work.carry_out(decision) is not None


def _is_async(on_approval: OnApproval) -> bool:
    call = type(on_approval).__call__
    return iscoroutinefunction(on_approval) or iscoroutinefunction(call)
