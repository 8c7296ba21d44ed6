"""Steps: what a host is handed when a run stops and waits for it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from agentkit_core import ApprovalId, ApprovalKind, JsonValue, MetadataMap, ToolCallId
from agentkit_loop.events import TurnResult


class ApprovalAsk(Struct, frozen=True, omit_defaults=True):
    """A call that waits until someone says yes or no, or gives an answer.

    Attributes:
        id: A fingerprint of what is asked; two calls that want the same have the same.
        name: The tool.
        input: What it would run with.
        kind: What kind of permission: `tool.delete_file`, `filesystem.write`, …
        summary: What would be done, for people.
        reason: Why it has to be asked, for people.
        metadata: The facts of the request.
        want: A yes; or data (a question), or a login: the tool is given the decision's `answer`.
        schema: For questions: JSON Schema of the answer that is wanted.
        background: Whether the call goes on in the background, so that no turn waits for it.
    """

    id: ApprovalId
    call_id: ToolCallId
    name: str
    input: dict[str, JsonValue]
    kind: str
    summary: str
    reason: str | None = None
    metadata: MetadataMap = field(default_factory=dict)
    want: ApprovalKind = ApprovalKind.APPROVAL
    schema: dict[str, JsonValue] | None = None
    background: bool = False


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

    A host is handed it when all else of the turn is done. `ApprovalRequired` is told at once, and
    who approves at once has the call run beside its siblings.

    Attributes:
        asks: All that are open: those of background calls, then the turn's in call order.
    """

    asks: tuple[ApprovalAsk, ...]


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
