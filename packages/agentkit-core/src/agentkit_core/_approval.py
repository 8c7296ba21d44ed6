"""Approvals: what a call needs from a person before it may run, or run on.

One value, `ApprovalRequest`, is used all the way: tools make it, the executor returns it, the loop
stores it and reports it, and a host shows it to a person.
"""

from __future__ import annotations

from msgspec import field
from msgspec.structs import force_setattr

from agentkit_core._ids import ApprovalId
from agentkit_core._json import JsonValue
from agentkit_core._metadata import MetadataMap
from agentkit_core._part import ToolCall
from agentkit_core.settings import Settings
from agentkit_core.text import make_visible, unseen
from agentkit_core.values import StringEnum


class ApprovalKind(StringEnum):
    """What kind of human input a call is waiting for."""

    APPROVAL = "approval"
    """Yes or no."""
    QUESTION = "question"
    """Data that the tool needs."""
    AUTH = "auth"
    """The person logs in to a service."""


class ApprovalRequest(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """A tool call that waits for a person: for a yes or no, for an answer, or for a login.

    Attributes:
        id: A fingerprint of what is requested. Two requests for exactly the same have the same id,
            in any process; to approve a request is to grant its id.
        call: The call that waits. Its `input` is what the tool would run with, which a hook may
            have changed; the transcript has the model's own.
        kind: The kind of permission: `tool.delete_file`, `filesystem.write`, …
        summary: What the tool would do, or the question, for people.
        reason: Why a person has to decide, for people; None if there is no reason.
        metadata: The facts of the request, for programs; often empty.
        want: A yes or no, data, or a login. With the last two the tool gets the decision's answer.
        schema: For questions: the JSON Schema of the answer; None says nothing about it. Only the
            tool itself checks the answer.
    """

    id: ApprovalId
    call: ToolCall
    kind: str
    summary: str
    reason: str | None = None
    metadata: MetadataMap = field(default_factory=dict)
    want: ApprovalKind = ApprovalKind.APPROVAL
    schema: dict[str, JsonValue] | None = None

    def __post_init__(self) -> None:
        """Make visible what a person is to decide on, wherever it comes from."""
        super().__post_init__()
        if unseen().search(self.summary):
            force_setattr(self, "summary", make_visible(self.summary))
        if self.reason is not None and unseen().search(self.reason):
            force_setattr(self, "reason", make_visible(self.reason))
