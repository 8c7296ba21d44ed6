"""The verdict on a call before it runs: allowed, refused, or waiting for approval."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agentkit_core import ApprovalId, ApprovalRequest, JsonValue, ToolFailure, ToolResult, to_json
from agentkit_core.json import without_lone_surrogates
from agentkit_core.settings import Settings
from agentkit_core.text import shorten_middle
from agentkit_core.values import Record
from agentkit_tools_core._contract._approval import approval_request
from agentkit_tools_core._contract._outcome import ToolOutcome, error_result
from agentkit_tools_core._contract._permissions import (
    Ask,
    Deny,
    PermissionRequest,
    Policy,
    PolicyFacts,
    ask_policy,
    tool_kind,
)
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._tool import Tool, normalize_arguments
from agentkit_tools_core._errors import UnstableArguments

_SUMMARY_LENGTH: Final = 4_000
"""How many characters of the arguments a summary shows; it says how many are missing."""


class Allowed(Record, frozen=True, omit_defaults=True, tag="allowed", tag_field="type"):
    """The call may run.

    Attributes:
        input: The arguments to run with, if they were converted, completed by defaults or changed
            by a hook; None if they are unchanged.
    """

    input: dict[str, JsonValue] | None = None


class Refused(Settings, frozen=True, omit_defaults=True, tag="refused", tag_field="type"):
    """The call must not run.

    Attributes:
        result: The error result of the call.
        stop: Whether the turn should end here, without calling the model again.
    """

    result: ToolResult
    stop: bool = False


class NeedsApproval(
    Struct, frozen=True, omit_defaults=True, tag="needs_approval", tag_field="type"
):
    """The call may run after a person has approved all these requests.

    Attributes:
        requests: What has to be approved: at least one request, each id once.
        input: The arguments to run with then, if they were converted, completed by defaults or
            changed by a hook; None if they are unchanged.
    """

    requests: tuple[ApprovalRequest, ...]
    input: dict[str, JsonValue] | None = None


Verdict = Allowed | Refused | NeedsApproval
"""The result of `Executor.preflight`."""


def bound_call(tool: Tool, request: ToolInvocation) -> ToolInvocation:
    """Return a call with the arguments that its tool will get; the same object if nothing changes.

    Raises:
        InvalidToolInput: The arguments are not valid.
        UnstableArguments: The tool converts its own arguments to something else.
    """
    normal = normalize_arguments(tool, request.input)
    return request if normal is request.input else replace(request, input=normal)


def is_unjudged(tool: Tool, call: ToolInvocation, error: Exception) -> bool:
    """Whether a check failed only at unstable arguments of a call that needs no permission."""
    if not isinstance(error, UnstableArguments) or tool.spec.annotations.needs_approval:
        return False
    try:
        return not tool.permissions(replace(call, input=error.input))
    except Exception:
        return False


def check_permissions(
    policy: Policy, tool: Tool, request: ToolInvocation, granted: Collection[ApprovalId]
) -> Refused | NeedsApproval | None:
    """Evaluate every permission that a call needs; return None if all are allowed.

    Args:
        policy: Decides each permission request.
        tool: The tool.
        request: The call, with valid arguments.
        granted: The ids of the approvals that were granted for the call.

    Raises:
        PolicyFailed: The policy failed, so the call is denied.
        Exception: The tool's `permissions` raised it.
    """
    spec = tool.spec
    permissions: list[PermissionRequest] = list(tool.permissions(request))
    if spec.annotations.needs_approval:
        permissions.insert(0, _permission_to_run(request))
    if not permissions:
        return None
    facts = PolicyFacts(spec, request)
    missing: dict[ApprovalId, ApprovalRequest] = {}
    for permission in permissions:
        decision = ask_policy(policy, permission, facts)
        if isinstance(decision, Deny):
            return Refused(denied_result(request, f"Permission denied: {decision.reason}"))
        if isinstance(decision, Ask):
            approval = approval_request(permission, request.call, reason=decision.reason)
            if approval.id not in granted:
                missing[approval.id] = approval
    return NeedsApproval(tuple(missing.values())) if missing else None


def denied_result(request: ToolInvocation, text: str) -> ToolResult:
    """Make the error result of a call that was denied."""
    clean = without_lone_surrogates(text)
    return error_result(request.call_id, clean, ToolFailure.PERMISSION_DENIED)


def denied_by_person(request: ToolInvocation, reason: str | None) -> ToolOutcome:
    """Make the outcome of a call that a person denied."""
    text = f"Permission denied: {reason}" if reason else "Permission denied."
    return ToolOutcome(denied_result(request, text))


def _permission_to_run(request: ToolInvocation) -> PermissionRequest:
    arguments = shorten_middle(to_json(request.input).decode(), _SUMMARY_LENGTH)
    return PermissionRequest(
        tool_kind(request.name), f"{request.name} {arguments}", {"tool.input": request.input}
    )
