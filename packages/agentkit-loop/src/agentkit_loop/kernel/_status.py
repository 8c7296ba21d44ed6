"""Session statuses: why control returns to the host, and how the host answers approvals."""

from __future__ import annotations

from agentkit_core import ApprovalRequest, JsonValue, ToolCallId
from agentkit_core.settings import Settings
from agentkit_core.values import Record, StringEnum
from agentkit_loop._result import TurnResult


class GrantScope(StringEnum):
    """What an approval covers. To approve something always, use a policy; see `Rules`."""

    ONCE = "once"
    """This call."""
    SESSION = "session"
    """Every call of the session with the same request, so with the same arguments, including calls
    that wait now."""
    KIND = "kind"
    """Every call of the session that is of the same tool and whose request is of the same kind,
    whatever its arguments, including calls that wait now."""


class ApprovalDecision(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """A person's decision on an approval request.

    Attributes:
        approve: Whether the call may run, or run on.
        reason: If denied: why, for the model. None tells the model only that it was denied.
        input: If approved: arguments to run with instead of the model's; None means the model's.
            The transcript keeps the model's. Ignored for a tool that asks in the middle of its run.
        answer: If approved: the answer to a question or a login.
        scope: If approved: what the approval covers.
    """

    approve: bool
    reason: str | None = None
    input: dict[str, JsonValue] | None = None
    answer: JsonValue = None
    scope: GrantScope = GrantScope.ONCE


class _Status(Record, frozen=True, omit_defaults=True, tag_field="type"):
    pass


class WaitingForApproval(_Status, frozen=True, tag="waiting_for_approval"):
    """Calls wait for approval; the turn goes on when each is approved or denied.

    The host gets it when nothing else of the turn can be done. The event `ApprovalRequired` comes
    at once, and a call that is approved at once runs beside the others.

    Attributes:
        requests: All requests that nobody has answered: those of background calls, then those of
            the turn in call order.
        background: The ids of those calls that run in the background, so that no turn waits for
            them; often empty.
    """

    requests: tuple[ApprovalRequest, ...]
    background: tuple[ToolCallId, ...] = ()


class AwaitingInput(_Status, frozen=True, tag="awaiting_input"):
    """There is nothing to do. Submit something, or continue if there are notices.

    Attributes:
        notices: How many background calls have ended that the model does not know of yet. The
            next turn tells it.
    """

    notices: int = 0


class AfterRound(_Status, frozen=True, tag="after_round"):
    """A round of tools is over, and the model is called when the host continues."""


class Busy(_Status, frozen=True, tag="busy"):
    """A turn is running and needs nothing from the host."""


class Finished(_Status, frozen=True, tag="finished"):
    """A turn has ended, normally or not.

    Attributes:
        result: What the turn has produced, and why it ended.
    """

    result: TurnResult


class Closed(_Status, frozen=True, tag="closed"):
    """The session is closed and takes no more input."""


SessionStatus = WaitingForApproval | AwaitingInput | AfterRound | Busy | Finished | Closed
"""Why control returns to the host."""
