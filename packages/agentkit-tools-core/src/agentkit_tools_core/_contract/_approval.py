"""Approval requests for permissions; the id of each is a fingerprint of what is requested."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from agentkit_core import ApprovalId, ApprovalKind, ApprovalRequest, JsonValue, ToolCall
from agentkit_core.json import canonical_json
from agentkit_tools_core._contract._permissions import PermissionRequest

_FINGERPRINT_LENGTH: Final = 32
"""Long enough that two requests with the same fingerprint cannot be found."""


def approval_request(
    permission: PermissionRequest,
    call: ToolCall,
    *,
    reason: str | None = None,
    want: ApprovalKind = ApprovalKind.APPROVAL,
    schema: dict[str, JsonValue] | None = None,
) -> ApprovalRequest:
    """Make the approval request for one permission that a call needs.

    Args:
        permission: What the call would do.
        call: The call that waits; `ToolInvocation.call` has it.
        reason: Why a person has to decide, for people.
        want: What the person is asked for: a yes or no, data, or a login.
        schema: For questions: JSON Schema of the answer.

    Raises:
        TypeError: The metadata of the permission cannot be written as JSON.
    """
    return ApprovalRequest(
        id=approval_id(permission),
        call=call,
        kind=permission.kind,
        summary=permission.summary,
        reason=reason,
        metadata=permission.metadata,
        want=want,
        schema=schema,
    )


def approval_id(permission: PermissionRequest) -> ApprovalId:
    """Compute the id of the approval that a permission needs: `<kind>:` and 32 hexadecimal digits.

    Equal permissions have equal ids, in any process. A permission that differs in anything
    (another path, another argument, 1.0 instead of 1) has another id, so an approval covers only
    what the person saw. Values that JSON cannot tell apart count as equal: lone surrogates, a
    tuple and a list.

    Raises:
        TypeError: The metadata of the permission cannot be written as JSON.
    """
    digest = sha256(canonical_json(permission)).hexdigest()
    return ApprovalId(f"{permission.kind}:{digest[:_FINGERPRINT_LENGTH]}")
