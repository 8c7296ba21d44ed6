"""Permissions: what a tool would do, and whether it may.

A tool proposes requests, a policy decides each of them: allow, ask or deny. A policy may have
no opinion. Of several opinions the strictest counts (deny, ask, allow), whatever their order,
and a policy that fails has denied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import field

from agentkit_core import MetadataMap, ToolSpec
from agentkit_core.values import Record
from agentkit_tools_core._contract._request import ToolInvocation


class PermissionRequest(Record, frozen=True, omit_defaults=True):
    """Something that a call would do and that someone may object to.

    Attributes:
        kind: What it is, dotted: `filesystem.write`, `shell.command`, `tool.<name of the tool>`.
        summary: What would be done, for people, in one line.
        metadata: The facts that a policy decides on (`filesystem.path`). All of them are part of
            what is approved: a grant for other facts is another grant.
    """

    kind: str
    summary: str
    metadata: MetadataMap = field(default_factory=dict)


class Allow(Record, frozen=True, tag="allow", tag_field="type"):
    """It may be done."""


class Ask(Record, frozen=True, omit_defaults=True, tag="ask", tag_field="type"):
    """Someone must say yes first.

    Attributes:
        reason: Why it has to be asked, for people.
    """

    reason: str | None = None


class Deny(Record, frozen=True, omit_defaults=True, tag="deny", tag_field="type"):
    """It must not be done.

    Attributes:
        reason: Why not; the model is told.
        code: The reason for programs: `path_not_allowed`, `command_not_allowed`, …
    """

    reason: str
    code: str = "policy_denied"


Decision = Allow | Ask | Deny
"""What a policy says of one request."""


class PolicyFacts(Record, frozen=True):
    """Who asks: what a policy may want to know besides the request.

    Attributes:
        spec: The tool, with its annotations.
        call: The call, with the arguments that it would run with, as hooks have changed them.
    """

    spec: ToolSpec
    call: ToolInvocation


Policy = Callable[[PermissionRequest, PolicyFacts], Decision | None]
"""Decides one request; None is no opinion. It is called synchronously, must not wait, and has
no side effects: the same call may be looked at more than once."""


def default_policy(request: PermissionRequest, facts: PolicyFacts) -> Decision:
    """Allow everything, but ask before a tool runs that says `needs_approval`."""
    # A source may know a tool by another name than its own.
    whole = {tool_kind(facts.spec.name), tool_kind(facts.call.name)}
    return Ask() if facts.spec.annotations.needs_approval and request.kind in whole else _ALLOW


def combine_policies(*policies: Policy) -> Policy:
    """Make one policy of several, of which the strictest opinion counts.

    All of them are asked until one denies. A denial wins even if an earlier policy asks; then
    the first that asks; then allowing. With no opinion among them there is none (None), and
    whoever evaluates the policy falls back to `default_policy`.
    """

    def strictest(request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        found: Decision | None = None
        for policy in policies:
            decision = _checked(policy(request, facts))
            if isinstance(decision, Deny):
                return decision
            if found is None or (isinstance(decision, Ask) and isinstance(found, Allow)):
                found = decision
        return found

    return strictest


def evaluate_policy(policy: Policy, request: PermissionRequest, facts: PolicyFacts) -> Decision:
    """Ask a policy, and never fail: one that raises, or answers nonsense, has denied.

    Where it has no opinion, `default_policy` decides.
    """
    try:
        decision = _checked(policy(request, facts))
    except Exception as error:
        return Deny(f"the permission policy failed ({type(error).__name__})", "policy_failed")
    return default_policy(request, facts) if decision is None else decision


def tool_kind(name: str) -> str:
    """Say of which kind the request is that stands for a whole tool."""
    return f"tool.{name}"


def _checked(decision: Decision | None) -> Decision | None:
    # `True`, or the coroutine of an async function, must not pass for a permission.
    if decision is None or isinstance(decision, (Allow, Ask, Deny)):
        return decision
    raise TypeError(f"a policy answers Allow, Ask, Deny or None, not {type(decision).__name__}")


_ALLOW: Final = Allow()
