"""Errors of the loop: mistakes of the caller, and what a caller asked to get as an exception.

    AgentkitError
    ├── ReporterFailed         a reporter stops the run
    ├── ApprovalRequiredError  a call needs approval, and there is no `on_approval`
    ├── TurnRunning            a turn is running already
    ├── NothingToContinue      there is nothing for the model to respond to
    ├── UnknownApproval        no call waits for this approval
    ├── UnknownCall            no such call is running
    ├── NoResult               a turn ended without a valid value of the requested type
    ├── TurnNotCompleted       a turn whose text was streamed was not completed
    ├── InvalidResultType      a type cannot be the type of a result
    ├── AgentsTooDeep          agents run each other as tools, more deeply than is allowed
    ├── SessionClosed          the session is over
    ├── WrongModelForm         the model cannot be used in this kind of session
    └── WrongStoreForm         the store cannot be used in this kind of session

Failures of models and tools are none of these: results and events report them.
"""

from __future__ import annotations

from agentkit_core import AgentkitError, ApprovalId, ApprovalRequest, Item, ToolCallId, Usage
from agentkit_core.text import make_visible
from agentkit_loop._result import TurnResult


class ReporterFailed(AgentkitError):
    """A reporter raises this to stop the run.

    The turn is cancelled, the transcript is valid, and the host gets this error. Any other
    exception of a reporter is logged and changes nothing.
    """


class ApprovalRequiredError(AgentkitError):
    """A call needs approval, and the agent has no `on_approval`.

    In a session the turn is unchanged: approve or deny the call, and go on with `next`. After
    `Agent.run`, whose session is over, `repair` the transcript and use it as the `history` of a
    session that can approve.

    Attributes:
        requests: The approvals that are needed.
        transcript: All items so far; the calls of the running round have no results yet.
        usage: What the turn has used so far.
    """

    def __init__(
        self, requests: tuple[ApprovalRequest, ...], *, transcript: tuple[Item, ...], usage: Usage
    ) -> None:
        names = ", ".join(
            f"{make_visible(request.call.name)} ({request.summary})" for request in requests
        )
        super().__init__(
            f"the turn waits for approval of {names}; give the agent an `on_approval`, or use a "
            f"session: approve or deny the calls and call `next`"
        )
        self.requests = requests
        self.transcript = transcript
        self.usage = usage


class TurnRunning(AgentkitError):
    """A turn is running, and the action has to wait until it is over.

    Attributes:
        action: What the caller wanted to do.
    """

    def __init__(self, action: str) -> None:
        super().__init__(
            f"cannot {action} while a turn is running; use `continue_` to go on with it if nobody "
            f"works on it, `steer` or `submit` to queue a prompt, `cancel` to stop it, or wait "
            f"until it is over"
        )
        self.action = action


class NothingToContinue(AgentkitError):
    """There is nothing for the model to respond to: no prompt, and nothing is queued."""

    def __init__(self) -> None:
        super().__init__("there is nothing for the model to respond to; send a prompt first")


class UnknownApproval(AgentkitError):
    """No call waits for this approval: it was never requested, or is already decided.

    Attributes:
        approval_id: The id that was given.
    """

    def __init__(self, approval_id: ApprovalId) -> None:
        super().__init__(
            f"no call waits for approval {approval_id!r}; "
            f"`session.pending_approvals` has those that are open"
        )
        self.approval_id = approval_id


class UnknownCall(AgentkitError):
    """No such call is running: it was never made, or it has its result.

    Attributes:
        call_id: The id that was given.
    """

    def __init__(self, call_id: ToolCallId) -> None:
        super().__init__(
            f"no call {call_id!r} is running; `session.view` has those that are, in "
            f"`pending_calls` and `background_calls`"
        )
        self.call_id = call_id


class NoResult(AgentkitError):
    """A turn ended without a valid value of the requested type.

    Attributes:
        turn: The result of the turn.
        type_name: The name of the type.
        problem: What was wrong with the last value that came; None if none came.
    """

    def __init__(self, turn: TurnResult, type_name: str, problem: str | None) -> None:
        why = f"; the last attempt: {make_visible(problem)}" if problem else ""
        super().__init__(
            f"the turn ended ({turn.end}: {turn.describe_end()}) without a valid result of type "
            f"{type_name}{why}; `turn` has everything that it produced"
        )
        self.turn = turn
        self.type_name = type_name
        self.problem = problem


class InvalidResultType(AgentkitError):
    """A type cannot be the type of a result: its values cannot be read from JSON.

    Attributes:
        type_name: The name of the type.
        reason: Why its values cannot be read.
    """

    def __init__(self, type_name: str, reason: str) -> None:
        super().__init__(
            f"`result_type` is {type_name}, which is not a valid type of a result: {reason}"
        )
        self.type_name = type_name
        self.reason = reason


class TurnNotCompleted(AgentkitError):
    """A turn whose text was streamed was not completed, so the text may not be the whole answer.

    Attributes:
        turn: The result of the turn.
    """

    def __init__(self, turn: TurnResult) -> None:
        super().__init__(
            f"the turn ended ({turn.end}: {turn.describe_end()}); the text that came may not be "
            f"the whole answer, and `turn` has everything that it produced"
        )
        self.turn = turn


class AgentsTooDeep(AgentkitError):
    """Agents run each other as tools, more deeply than their configuration allows.

    Attributes:
        limit: How many runs may stand around one of this agent.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"agents run each other more than {limit} levels deep; if that is meant, set "
            f"`LoopConfig.max_agent_depth` of the inner agent higher, or to None"
        )
        self.limit = limit


class SessionClosed(AgentkitError):
    """The session is over."""

    def __init__(self) -> None:
        super().__init__(
            "the session is over; open another one, with the transcript of this one as its history"
        )


class WrongModelForm(AgentkitError):
    """The model cannot be used in this kind of session, with or without an event loop.

    Attributes:
        model: The model's name.
        missing: The method that the model would need.
    """

    def __init__(self, model: str, missing: str) -> None:
        other = "`run` and `session`" if missing == "open_blocking" else "`run_blocking`"
        super().__init__(
            f"model {model!r} has no `{missing}`; use a model that has it, or use {other}"
        )
        self.model = model
        self.missing = missing


class WrongStoreForm(AgentkitError):
    """The store cannot be used in this kind of session, with or without an event loop.

    Attributes:
        missing: The method that the store would need.
    """

    def __init__(self, store: object, missing: str) -> None:
        other = "`session`" if missing == "save_blocking" else "`session_blocking`"
        super().__init__(
            f"{type(store).__name__} has no `{missing}`; use a store that has it, or use {other}"
        )
        self.missing = missing
