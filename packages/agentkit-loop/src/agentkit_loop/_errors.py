"""Errors of the loop: a host's mistakes, and what a host asked to be told by an exception.

    AgentkitError
    ├── ReporterFailed    a reporter wants its failure to stop the run
    ├── ApprovalRequiredError    a turn waits for an approval that nobody was named to give
    ├── TurnRunning       a turn runs already
    ├── NothingToContinue there is nothing that the model would answer
    ├── UnknownApproval   nobody waits for this approval
    ├── UnknownCall       no such call is under way
    ├── NoResult          a turn ended without the result that was wanted of it
    ├── SessionClosed     the session is over
    ├── WrongModelForm    the model cannot be used without an event loop, or only so
    └── WrongStoreForm    the store cannot be used without an event loop, or only so

What a model or a tool does wrong is none of these: it is told in results and events.
"""

from __future__ import annotations

from agentkit_core import AgentkitError, ApprovalId, ApprovalRequest, Item, ToolCallId, Usage
from agentkit_loop._result import TurnResult


class ReporterFailed(AgentkitError):
    """A reporter raises this when its failure is to stop the run.

    The turn is cancelled, the transcript is valid, and the host gets this error. Any other
    exception of a reporter is logged and changes nothing.
    """


class ApprovalRequiredError(AgentkitError):
    """A turn waits for approvals, and the agent has no `on_approval` to give them.

    In a session the turn is as it was: approve or deny, and go on with `next`. After
    `Agent.run`, whose session is over, the conversation so far is here: `repair` it and give it
    as the `history` of a session that can approve.
    """

    def __init__(
        self, requests: tuple[ApprovalRequest, ...], *, transcript: tuple[Item, ...], usage: Usage
    ) -> None:
        names = ", ".join(f"{request.call.name} ({request.summary})" for request in requests)
        super().__init__(
            f"the turn waits for approval of {names}; give the agent an `on_approval`, or work "
            f"with a session: approve or deny there and call `next`"
        )
        self.requests = requests
        self.transcript = transcript
        """All items so far; the calls of the running round have no results yet."""
        self.usage = usage
        """What the turn has used so far."""


class TurnRunning(AgentkitError):
    """Something was asked that has to wait until the running turn is over."""

    def __init__(self, action: str) -> None:
        super().__init__(
            f"cannot {action} while a turn is running; use `steer` or `submit` to queue input, "
            f"`cancel` to stop the turn, or wait for it"
        )
        self.action = action


class NothingToContinue(AgentkitError):
    """The transcript's last item asks for no answer, and nothing is queued."""

    def __init__(self) -> None:
        super().__init__("there is nothing that the model would answer; say something first")


class UnknownApproval(AgentkitError):
    """Nobody waits for this approval: it was never asked for, resolved, or withdrawn."""

    def __init__(self, approval_id: ApprovalId) -> None:
        super().__init__(
            f"no call waits for approval {approval_id!r}; "
            f"`session.pending_approvals` has those that are open"
        )
        self.approval_id = approval_id


class UnknownCall(AgentkitError):
    """No such call is under way: it was never made, or it has its result."""

    def __init__(self, call_id: ToolCallId) -> None:
        super().__init__(
            f"no call {call_id!r} is under way; `session.view` has those that are, in "
            f"`pending_calls` and `background_calls`"
        )
        self.call_id = call_id


class NoResult(AgentkitError):
    """A turn ended without the result of the type that was wanted of it."""

    def __init__(self, turn: TurnResult, wanted: str, problem: str | None) -> None:
        why = f"; the last attempt: {problem}" if problem else ""
        super().__init__(
            f"the turn ended ({turn.end}) without a result of type {wanted}{why}; "
            f"`turn` has all that came of it"
        )
        self.turn = turn
        self.wanted = wanted
        self.problem = problem
        """What was wrong with the last thing that came for one; None when nothing came."""


class SessionClosed(AgentkitError):
    """The session is over."""

    def __init__(self) -> None:
        super().__init__("the session is closed; open another one, with this one's transcript")


class WrongModelForm(AgentkitError):
    """The model has no form that works without an event loop, or has no other."""

    def __init__(self, model: str, missing: str) -> None:
        super().__init__(
            f"model {model!r} has no `{missing}`; use a model that has, or "
            f"{'`run` and `session`' if missing == 'open_blocking' else '`run_blocking`'}"
        )
        self.model = model
        self.missing = missing


class WrongStoreForm(AgentkitError):
    """The store has no form that works without an event loop, or has no other."""

    def __init__(self, store: object, missing: str) -> None:
        super().__init__(
            f"{type(store).__name__} has no `{missing}`; use a store that has, or "
            f"{'`session`' if missing == 'save_blocking' else '`session_blocking`'}"
        )
        self.missing = missing
