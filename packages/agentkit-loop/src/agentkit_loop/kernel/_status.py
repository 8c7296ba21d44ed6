"""Steps: what a host is handed when a run stops and waits for it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from agentkit_core import ApprovalRequest, JsonValue, ToolCallId
from agentkit_loop._result import TurnResult


class GrantScope(StrEnum):
    """For how much a yes counts. "Always" is a policy's business; see `Rules`."""

    ONCE = "once"
    """For this call."""
    SESSION = "session"
    """For every call of the session that asks for exactly the same, siblings that wait included."""


class ApprovalDecision(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer to an ask.

    Attributes:
        reason: For the model, when denied; None says just that it was denied.
        input: When approved: arguments to run with instead. The transcript keeps the model's own.
            Only before a call has run; a tool that asks in the middle of its run cannot be given
            others.
        answer: When approved: what a question asked for.
    """

    approve: bool
    reason: str | None = None
    input: dict[str, JsonValue] | None = None
    answer: JsonValue = None
    scope: GrantScope = GrantScope.ONCE


class _Step(Struct, frozen=True, omit_defaults=True, tag_field="type"):
    pass


class WaitingForApproval(_Step, frozen=True, tag="approval_requested"):
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


class AwaitingInput(_Step, frozen=True, tag="awaiting_input"):
    """There is nothing to do; submit something, or go on if there are notices.

    Attributes:
        notices: How many background calls are over that the model was not told of; a turn tells it.
    """

    notices: int = 0


class AfterRound(_Step, frozen=True, tag="after_round"):
    """A round of tools is over and the model would be asked next; `continue` lets it."""


class Busy(_Step, frozen=True, tag="busy"):
    """A turn is under way and nothing is asked of the host."""


class Finished(_Step, frozen=True, tag="finished"):
    """A turn is over, however it ended."""

    result: TurnResult


class Closed(_Step, frozen=True, tag="closed"):
    """The session is closed; nothing follows."""


SessionStatus = WaitingForApproval | AwaitingInput | AfterRound | Busy | Finished | Closed
"""Why the host has the word."""
