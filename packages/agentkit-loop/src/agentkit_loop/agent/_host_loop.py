"""The host loop shared by both session classes: decides what to do about each status.

Pure: the sessions do what it decides, one by awaiting, the other by blocking.
"""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from agentkit_core import ApprovalRequest, Usage
from agentkit_core.values import Record
from agentkit_loop._errors import ApprovalRequiredError, NothingToContinue, SessionClosed
from agentkit_loop._result import TurnEnd, TurnResult
from agentkit_loop.kernel._config import BackgroundDone
from agentkit_loop.kernel._inputs import Continue, HostInput
from agentkit_loop.kernel._state import State
from agentkit_loop.kernel._status import (
    AfterRound,
    AwaitingInput,
    Busy,
    Closed,
    Finished,
    SessionStatus,
    WaitingForApproval,
)


class Wait(Record, frozen=True):
    """Wait until something changes: a background call ends, or someone answers an approval."""


class Post(Record, frozen=True):
    """Post an input and work on.

    Attributes:
        input: The input.
    """

    input: HostInput


class Ask(Record, frozen=True):
    """Ask the host's `on_approval` about one of these that is still open, and work on.

    Only one: what it allows begins before the host is asked about the next one.

    Attributes:
        requests: What is pending; never empty.
    """

    requests: tuple[ApprovalRequest, ...]


class Done(Record, frozen=True):
    """Return control to the host.

    Attributes:
        status: Why: the last turn is over, or approvals wait that the host answers itself.
    """

    status: Finished | WaitingForApproval


class Raise(Record, frozen=True):
    """Raise an error to the host.

    Attributes:
        error: The error.
    """

    error: Exception


class Outcome(Record, frozen=True):
    """What working on a session has come to.

    Attributes:
        status: Why the host has control again.
        results: The results of all turns that ended meanwhile, oldest first.
    """

    status: Finished | WaitingForApproval
    results: tuple[TurnResult, ...]

    @property
    def last_result(self) -> TurnResult:
        """The result of the last turn; at least one has to have ended."""
        return self.results[-1]


Decision = Wait | Post | Ask | Done | Raise
"""What a session does about a status."""


class Unanswered(Enum):
    """What to do about approvals when the agent has no `on_approval`."""

    RAISE = "raise"
    """Raise `ApprovalRequiredError`, unless only background calls wait for them."""
    RETURN = "return"
    """Return control to the host, who answers them and goes on."""


class HostLoop:
    """Decides what a session does until a prompt is done.

    Args:
        has_on_approval: Whether the agent has an `on_approval` to ask.
        can_wait: Whether the session can wait for background calls; a blocking one cannot.
        unanswered: What to do about approvals without an `on_approval`.

    Attributes:
        results: The results of all turns that have ended, oldest first.
    """

    def __init__(
        self,
        *,
        has_on_approval: bool,
        can_wait: bool,
        unanswered: Unanswered = Unanswered.RAISE,
    ) -> None:
        self._has_on_approval = has_on_approval
        self._can_wait = can_wait
        self._unanswered = unanswered
        self._last: Finished | None = None
        self.results: list[TurnResult] = []

    def decide(
        self, status: SessionStatus | None, state: State, *, is_over: bool = False
    ) -> Decision:
        """Decide what to do next.

        Args:
            status: The status that the driver returned; None if no work is left and there is none.
            state: The session's present state.
            is_over: Whether the session was closed or suspended meanwhile, so that no background
                call is waited for.
        """
        match status:
            case None:
                return self._decide_without_status(state, is_over)
            case WaitingForApproval():
                return self._decide_approval(status, state)
            case AfterRound():
                return Post(Continue())
            case Finished():
                return self._decide_finished(status, state, is_over)
            case AwaitingInput() | Busy():
                if not is_over and self._is_followed(state):
                    return Wait()
                return Raise(NothingToContinue())
            case Closed():
                return Raise(SessionClosed())
            case _:
                assert_never(status)

    def _decide_without_status(self, state: State, is_over: bool) -> Decision:
        if not is_over and self._is_followed(state):
            return Wait()
        if self._last is not None and state.turn is None and not has_more(state):
            return Done(self._last)  # the calls that were waited for leave nothing to tell
        return Post(Continue())

    def _decide_finished(self, status: Finished, state: State, is_over: bool) -> Decision:
        self._last = status
        self.results.append(status.result)
        if status.result.end in (TurnEnd.CANCELLED, TurnEnd.ERROR):
            return Done(status)  # no turn follows by itself one that was stopped
        if has_more(state):
            return Post(Continue())
        return Wait() if not is_over and self._is_followed(state) else Done(status)

    def _decide_approval(self, status: WaitingForApproval, state: State) -> Decision:
        if self._has_on_approval:
            return Ask(status.requests)
        if self._unanswered is Unanswered.RETURN:
            return Done(status)
        can_wait_for = status.background if self._can_wait else ()
        needed = tuple(
            request for request in status.requests if request.call.id not in can_wait_for
        )
        return Raise(approval_required(needed, state)) if needed else Wait()

    def _is_followed(self, state: State) -> bool:
        """Whether no turn runs, and one will begin when a background call ends."""
        return (
            self._can_wait
            and state.turn is None
            and not has_more(state)
            and bool(state.background)
            and state.config.background_done is BackgroundDone.CONTINUE
        )


def has_more(state: State) -> bool:
    """Whether another turn can begin without new input: input is queued, or a call has ended."""
    notices = state.notices and state.config.background_done is BackgroundDone.CONTINUE
    return bool(state.inputs or notices)


def approval_required(requests: tuple[ApprovalRequest, ...], state: State) -> ApprovalRequiredError:
    """Build the error for approvals when there is no `on_approval` to ask."""
    usage = Usage() if state.turn is None else state.turn.usage
    return ApprovalRequiredError(requests, transcript=state.transcript.items, usage=usage)
