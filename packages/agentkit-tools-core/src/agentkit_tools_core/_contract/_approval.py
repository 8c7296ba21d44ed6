"""Approvals: questions that stand for exactly one request, by a fingerprint of it."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from msgspec import Struct, field

from agentkit_core import ApprovalId, ApprovalKind, JsonValue, MetadataMap, ToolCallId
from agentkit_core.json import canonical_json
from agentkit_tools_core._contract._permissions import PermissionRequest

_FINGERPRINT_LENGTH: Final = 32
"""Long enough that nobody finds two requests with one fingerprint."""


class ApprovalRequest(Struct, frozen=True, omit_defaults=True):
    """A question that someone must answer before a call may run, or run on.

    Attributes:
        id: See `approval_id`; who says yes grants this id.
        kind: What kind of permission: `tool.delete_file`, `filesystem.write`, …
        summary: What would be done, or what is asked, for people.
        reason: Why it has to be asked, for people.
        metadata: The facts of the request.
        schema: JSON Schema of the answer that is wanted; None says nothing about it. Nobody checks
            the answer against it but the tool.
    """

    id: ApprovalId
    call_id: ToolCallId
    kind: str
    summary: str
    reason: str | None = None
    metadata: MetadataMap = field(default_factory=dict)
    want: ApprovalKind = ApprovalKind.APPROVAL
    schema: dict[str, JsonValue] | None = None

    @classmethod
    def of(
        cls,
        request: PermissionRequest,
        call_id: ToolCallId,
        reason: str | None = None,
        *,
        want: ApprovalKind = ApprovalKind.APPROVAL,
        schema: dict[str, JsonValue] | None = None,
    ) -> ApprovalRequest:
        """Make the question for one request of one call.

        Raises:
            TypeError: The request's metadata are not JSON.
        """
        return cls(
            approval_id(request),
            call_id,
            request.kind,
            request.summary,
            reason,
            request.metadata,
            want,
            schema,
        )


def approval_id(request: PermissionRequest) -> ApprovalId:
    """Name a request by what it is: `<kind>:` and 32 hexadecimal digits.

    Equal requests have equal ids, in any process; a request that differs in anything (another
    path, another argument, 1.0 in place of 1) has another id, so a yes covers only what was
    shown. What JSON cannot tell apart counts as equal: lone surrogates, a tuple and a list.

    Raises:
        TypeError: The request's metadata are not JSON.
    """
    digest = sha256(canonical_json(request)).hexdigest()
    return ApprovalId(f"{request.kind}:{digest[:_FINGERPRINT_LENGTH]}")
