"""Hosting: what working on a session takes, in either form: beginning turns and going on with them.

One task or thread works on a session at a time. It is handed steps by the driver, does what they
ask for, and knows when nothing more is to be done.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agentkit_core import ApprovalRequest
from agentkit_loop._errors import NothingToContinue, SessionClosed, TurnRunning
from agentkit_loop._result import TurnEnd, TurnResult
from agentkit_loop.agent._conversation import Conversation, Prompt
from agentkit_loop.extensions._structured import Wanted
from agentkit_loop.kernel._config import BackgroundDone
from agentkit_loop.kernel._inputs import Continue, Lane, Resolve
from agentkit_loop.kernel._status import (
    AfterRound,
    ApprovalDecision,
    AwaitingInput,
    Busy,
    Closed,
    Finished,
    SessionStatus,
    WaitingForApproval,
)


def is_stopped(step: Finished) -> bool:
    """Whether nothing is to follow a turn by itself: it was cancelled, or it failed."""
    return step.result.end in (TurnEnd.CANCELLED, TurnEnd.ERROR)


class Hosting(Conversation):
    """A conversation, and what its two forms of working on it share."""

    def _begin(self, prompt: Prompt, action: str) -> None:
        """Begin a turn with what the host says.

        A turn that the kernel has begun by itself, because a call in the background was over, is
        gone on with; what the host says comes after it.
        """
        if self._driver.state.turn is not None:
            if not self._driver.pending:
                raise TurnRunning(action)
            return self.submit(prompt, lane=Lane.NEXT)
        self._driver.drop_steps()
        self.submit(prompt)
        self._post(Continue())

    def _redrive(self) -> None:
        if self._driver.state.turn is not None:
            raise TurnRunning("continue")
        self._driver.drop_steps()
        self._post(Continue(redrive=True))

    def _go_on(self, step: SessionStatus) -> TurnResult | None:
        """Do what a step asks for, approvals aside.

        Returns:
            The result of the last turn, when there is nothing more to do; else None.
        """
        match step:
            case WaitingForApproval():
                pass
            case AfterRound():
                self._post(Continue())
            case Finished(result=result):
                if is_stopped(step) or not self._has_more:
                    return result
                self._post(Continue())
            case AwaitingInput() | Busy():
                raise NothingToContinue
            case Closed():
                raise SessionClosed
        return None

    @property
    def _has_more(self) -> bool:
        """Whether a turn follows the one that has ended."""
        state = self._driver.state
        told = state.notices and state.config.background_done is BackgroundDone.CONTINUE
        return bool(state.inputs or told)

    @property
    def _waits_for_background(self) -> bool:
        """Whether a turn will follow when a background call is over."""
        state = self._driver.state
        return bool(state.background) and state.config.background_done is BackgroundDone.CONTINUE

    @property
    def _is_followed(self) -> bool:
        """Whether no turn runs, and one will when a background call is over."""
        idle = self._driver.state.turn is None and not self._has_more
        return idle and self._waits_for_background and not self._driver.is_over

    def _to_ask(self, step: WaitingForApproval) -> tuple[ApprovalRequest, ...]:
        """The asks that the host's `on_approval` is to answer.

        Raises:
            ApprovalRequiredError: There is none, and the turn cannot go on without answers.
        """
        if self._on_approval is not None:
            return step.requests
        blocking = tuple(ask for ask in step.requests if ask.call.id not in step.background)
        if blocking:
            raise self._approval_needed(blocking)
        return ()

    def _decided(self, ask: ApprovalRequest, decision: ApprovalDecision) -> None:
        # An earlier answer may have withdrawn it: one no is enough for a call.
        if ask in self.pending_approvals:
            self._post(Resolve(ask.id, decision, ask.call.id))

    @contextmanager
    def _alone(self, action: str) -> Iterator[None]:
        """Keep a second caller from working on the session at the same time."""
        if not self._work.acquire(blocking=False):
            raise TurnRunning(action)
        try:
            yield
        finally:
            self._work.release()
            self._driver.notify()

    @contextmanager
    def _wanting(self, wanted: Wanted[Any]) -> Iterator[None]:
        """Want a result of a type of what is done meanwhile."""
        hooked = self._driver.hooked
        # It looks at what the host's hooks have made of an answer, and not before they have.
        hooks = hooked.use(hooked.hooks.with_last(wanted))
        self._offer_more(wanted.tools)
        try:
            yield
        finally:
            hooked.use(hooks)
            self._offer_more(None)
