"""Verdicts: what is known of a call before it runs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from msgspec import Struct

from agentkit_core import ApprovalId, ApprovalRequest, JsonValue, ToolFailure, ToolResult, to_json
from agentkit_core.json import without_lone_surrogates
from agentkit_core.values import Record
from agentkit_tools_core._contract._approval import approval_request
from agentkit_tools_core._contract._outcome import error_result
from agentkit_tools_core._contract._permissions import (
    Ask,
    Deny,
    PermissionRequest,
    Policy,
    PolicyFacts,
    evaluate_policy,
    tool_kind,
)
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._tool import Tool

_SUMMARY_LENGTH: Final = 200


class Allowed(Record, frozen=True, omit_defaults=True, tag="allowed", tag_field="type"):
    """The call may run.

    Attributes:
        input: The arguments it has to run with, where a hook changed them; None means unchanged.
    """

    input: dict[str, JsonValue] | None = None


class Refused(Record, frozen=True, omit_defaults=True, tag="refused", tag_field="type"):
    """The call must not run, and this is its result.

    Attributes:
        stop: Whether the turn should end here, without another word of the model.
    """

    result: ToolResult
    stop: bool = False


class NeedsApproval(
    Struct, frozen=True, omit_defaults=True, tag="needs_approval", tag_field="type"
):
    """The call may run once all of these are granted.

    Attributes:
        requests: At least one; each id once.
        input: The arguments it has to run with then, where a hook changed them; None means
            unchanged.
    """

    requests: tuple[ApprovalRequest, ...]
    input: dict[str, JsonValue] | None = None


Verdict = Allowed | Refused | NeedsApproval
"""What is known of a call before it runs."""


def permitted(
    policy: Policy, tool: Tool, request: ToolInvocation, granted: Collection[ApprovalId]
) -> Refused | NeedsApproval | None:
    """Look at every permission request of a call; None if nothing is in its way.

    Args:
        policy: Decides each of them.
        tool: The tool.
        request: The call, with arguments that fit.
        granted: The approvals given for it so far.

    Raises:
        Exception: The tool cannot say what it would do.
    """
    spec = tool.spec
    asked: list[PermissionRequest] = list(tool.permissions(request))
    if spec.annotations.needs_approval:
        asked.insert(0, _permission_to_run(request))
    if not asked:
        return None
    facts = PolicyFacts(spec, request)
    missing: dict[ApprovalId, ApprovalRequest] = {}
    for one in asked:
        decision = evaluate_policy(policy, one, facts)
        if isinstance(decision, Deny):
            return Refused(denied_result(request, f"Permission denied: {decision.reason}"))
        if isinstance(decision, Ask):
            approval = approval_request(one, request.call, reason=decision.reason)
            if approval.id not in granted:
                missing[approval.id] = approval
    return NeedsApproval(tuple(missing.values())) if missing else None


def denied_result(request: ToolInvocation, text: str) -> ToolResult:
    """Make the result of a call that somebody did not want."""
    clean = without_lone_surrogates(text)
    return error_result(request.call_id, clean, ToolFailure.PERMISSION_DENIED)


def _permission_to_run(request: ToolInvocation) -> PermissionRequest:
    arguments = to_json(request.input).decode()
    if len(arguments) > _SUMMARY_LENGTH:
        arguments = arguments[:_SUMMARY_LENGTH] + "…"
    return PermissionRequest(
        tool_kind(request.name), f"{request.name} {arguments}", {"tool.input": request.input}
    )
