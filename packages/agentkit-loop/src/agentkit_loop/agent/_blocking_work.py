"""Working on a session without an event loop: does what the host loop decides, by blocking."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
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
from agentkit_loop.agent._on_approval import OnApproval, decide_approval_blocking
from agentkit_loop.kernel._inputs import Resolve
from agentkit_loop.kernel._open_approvals import is_open
from agentkit_loop.kernel._status import Finished, WaitingForApproval

if TYPE_CHECKING:  # the drivers are imported only where they are used
    from agentkit_loop.drivers.blocking import BlockingDriver


class BlockingWork:
    """The work of one caller at a time on a session; see `SessionWork`.

    Args:
        driver: Drives the session.
        access: Admits one caller at a time.
        on_approval: Answers approval requests; None leaves them to the host.
    """

    __slots__ = ("_access", "_driver", "_on_approval")

    def __init__(
        self, driver: BlockingDriver, access: SessionAccess, on_approval: OnApproval | None
    ) -> None:
        self._driver = driver
        self._access = access
        self._on_approval = on_approval

    @contextmanager
    def begin(self, action: str) -> Iterator[None]:
        """Work on the session in the block; nobody else can meanwhile.

        Raises:
            TurnRunning: Another caller works on it.
        """
        with self._access.work(action):
            try:
                yield
            except (Exception, GeneratorExit):
                raise
            except BaseException as error:  # a Ctrl-C may come also before the driver works
                self._driver.give_up(error)
                raise

    def loop(self, unanswered: Unanswered) -> HostLoop:
        """Make the host loop of one piece of work."""
        has_on_approval = self._on_approval is not None
        return HostLoop(has_on_approval=has_on_approval, can_wait=False, unanswered=unanswered)

    def until_done(self, unanswered: Unanswered) -> Outcome:
        """Work until no turn follows, or the host has to approve a call; see `SessionWork`."""
        loop = self.loop(unanswered)
        while True:
            decision = loop.decide(self._driver.next(), self._driver.engine.state)
            reason = self.carry_out(decision)
            if reason is not None:
                return Outcome(reason, tuple(loop.results))

    def carry_out(self, decision: Decision) -> Finished | WaitingForApproval | None:
        """Do what the host loop has decided; return the status with which it is done, else None."""
        match decision:
            case Post(input=kernel_input):
                self._access.post(kernel_input)
            case Ask(requests=requests):
                self._ask_host(requests)
            case Done(status=status):
                return status
            case Raise(error=error):
                raise error
            case Wait():
                raise AssertionError("a blocking session cannot wait, so its loop never says so")
            case _:
                assert_never(decision)
        return None

    def _ask_host(self, requests: tuple[ApprovalRequest, ...]) -> None:
        engine = self._driver.engine
        # An earlier denial may have withdrawn it: one is enough for a call.
        request = self._first_open(requests)
        if self._on_approval is not None and request is not None:
            decision = decide_approval_blocking(
                self._on_approval, engine.hooks.hooks.report, request
            )
            if self._first_open((request,)) is not None:
                self._access.post(Resolve(request.id, decision, request.call.id))

    def _first_open(self, requests: tuple[ApprovalRequest, ...]) -> ApprovalRequest | None:
        engine, found = self._driver.engine, list[ApprovalRequest]()

        def find() -> None:
            found.extend(islice((each for each in requests if is_open(engine.state, each)), 1))

        engine.runner.call(find)  # another thread may answer meanwhile
        return found[0] if found else None
