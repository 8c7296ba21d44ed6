"""Approval requests for permissions; the id of each is a fingerprint of what is requested."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from agentkit_core import ApprovalId, ApprovalKind, ApprovalRequest, JsonValue, ToolCall
from agentkit_core.json import canonical_json
from agentkit_core.settings import member_of
from agentkit_tools_core._contract._permissions import PermissionRequest

_FINGERPRINT_LENGTH: Final = 32
"""Long enough that two requests with the same fingerprint cannot be found."""
_PERMISSION_ID: Final = re.compile(r".*:[0-9a-f]{32}", re.DOTALL)


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
        id=approval_id(permission, want),
        call=call,
        kind=permission.kind,
        summary=permission.summary,
        reason=reason,
        metadata=permission.metadata,
        want=want,
        schema=schema,
    )


def approval_id(
    permission: PermissionRequest, want: ApprovalKind = ApprovalKind.APPROVAL
) -> ApprovalId:
    """Compute the id of what a person is asked for.

    The id of a permission is `<kind>:` and 32 hexadecimal digits; the id of a question or a login
    is `<kind>?` and 32 digits, so that an answer is never taken for a permission.

    Equal requests have equal ids, in any process. The facts of a permission decide what is equal,
    in any order of their keys; its summary counts only if there are no facts. So a permission with
    other facts (another path, another argument, 1.0 instead of 1) has another id, and an approval
    covers only these facts. For questions and logins, the text counts as well as the facts. Values
    that JSON cannot tell apart count as equal: lone surrogates, a tuple and a list.

    Args:
        permission: What the call would do, or the question with its facts.
        want: What the person is asked for.

    Raises:
        TypeError: The metadata of the permission cannot be written as JSON.
    """
    want = member_of(ApprovalKind, want, "want")
    is_permission = want is ApprovalKind.APPROVAL
    content: list[object] = [want.value, permission.kind, permission.metadata]
    if not is_permission or not permission.metadata:
        content.append(permission.summary)
    digest = sha256(canonical_json(content)).hexdigest()[:_FINGERPRINT_LENGTH]
    return ApprovalId(f"{permission.kind}{':' if is_permission else '?'}{digest}")


def earlier_question_id(question: PermissionRequest) -> ApprovalId:
    """Return the id that questions and logins had in stored sessions of earlier versions.

    The id of a permission is made of other data, so this is never the id of one.
    """
    digest = sha256(canonical_json(question)).hexdigest()
    return ApprovalId(f"{question.kind}:{digest[:_FINGERPRINT_LENGTH]}")


def is_permission_id(approval_id: ApprovalId) -> bool:
    """Whether an id has the form of a permission's id."""
    return _PERMISSION_ID.fullmatch(approval_id) is not None
