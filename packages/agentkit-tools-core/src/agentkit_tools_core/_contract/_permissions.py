"""Permissions: what a tool call needs, and what a policy decides.

A tool requests permissions, and a policy decides each request: allow, ask a person, or deny. A
policy may have no opinion (None). If several policies have an opinion, the strictest one counts:
deny before ask before allow. A policy that raises an error denies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import field

from agentkit_core import MetadataMap, ToolSpec
from agentkit_core.values import Record
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._errors import PolicyFailed
from agentkit_tools_core.sync import NeedsEventLoop, require_no_awaitable


class PermissionRequest(Record, frozen=True, omit_defaults=True):
    """A permission that a call needs.

    Attributes:
        kind: What the call would do: `filesystem.write`, `shell.command`, `tool.<tool name>`, …
        summary: What the call would do, for people, in one line.
        metadata: The facts that a policy decides on, such as `filesystem.path`; may be empty. An
            approval is valid only for exactly these facts.
    """

    kind: str
    summary: str
    metadata: MetadataMap = field(default_factory=dict)


class Allow(Record, frozen=True, tag="allow", tag_field="type"):
    """The policy allows the request."""


class Ask(Record, frozen=True, omit_defaults=True, tag="ask", tag_field="type"):
    """A person must approve the request first.

    Attributes:
        reason: Why a person has to decide, for people; None if no reason is given.
    """

    reason: str | None = None


class Deny(Record, frozen=True, omit_defaults=True, tag="deny", tag_field="type"):
    """The policy denies the request.

    Attributes:
        reason: Why, for the model.
        code: Why, for programs: `path_not_allowed`, `command_not_allowed`, …
    """

    reason: str
    code: str = "policy_denied"


Decision = Allow | Ask | Deny
"""The decision of a policy about one request."""


class PolicyFacts(Record, frozen=True):
    """The tool and the call that a permission request belongs to.

    Attributes:
        spec: The spec of the tool, with its annotations.
        call: The call, with the arguments that it would run with, after changes by hooks.
    """

    spec: ToolSpec
    call: ToolInvocation


Policy = Callable[[PermissionRequest, PolicyFacts], Decision | None]
"""Decides one request; None means no opinion. A policy is called synchronously and must not wait.
It has no side effects, because it may be called more than once for the same call."""


def default_policy(request: PermissionRequest, facts: PolicyFacts) -> Decision:
    """Allow everything, but ask before a tool with `needs_approval` runs."""
    # A source may call a tool by another name than its own.
    tool_kinds = {tool_kind(facts.spec.name), tool_kind(facts.call.name)}
    needs_approval = facts.spec.annotations.needs_approval and request.kind in tool_kinds
    return Ask() if needs_approval else _ALLOW


def combine_policies(*policies: Policy) -> Policy:
    """Combine policies to one, in which the strictest opinion counts.

    The policies are called in order, until one denies. A denial has precedence over `Ask`, even of
    an earlier policy; then comes the first `Ask`, then `Allow`. If no policy has an opinion, the
    result is None, and `evaluate_policy` uses `default_policy`.
    """

    def strictest(request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        strictest_so_far: Decision | None = None
        for policy in policies:
            decision = _check_decision(policy(request, facts))
            if isinstance(decision, Deny):
                return decision
            if strictest_so_far is None or (
                isinstance(decision, Ask) and isinstance(strictest_so_far, Allow)
            ):
                strictest_so_far = decision
        return strictest_so_far

    return strictest


def evaluate_policy(policy: Policy, request: PermissionRequest, facts: PolicyFacts) -> Decision:
    """Return the decision of a policy.

    A policy that raises, or returns something else than a decision, denies. If the policy has no
    opinion, `default_policy` decides.

    Raises:
        NeedsEventLoop: The policy is async; nobody awaits it.
    """
    try:
        return ask_policy(policy, request, facts)
    except PolicyFailed as failed:
        return Deny(failed.reason, "policy_failed")


def ask_policy(policy: Policy, request: PermissionRequest, facts: PolicyFacts) -> Decision:
    """Return the decision of a policy; see `evaluate_policy`.

    Raises:
        PolicyFailed: The policy raised, or returned something else than a decision.
        NeedsEventLoop: The policy is async; nobody awaits it.
    """
    try:
        decision = _check_decision(policy(request, facts))
    except NeedsEventLoop:
        raise
    except Exception as error:
        raise PolicyFailed(error) from error
    return default_policy(request, facts) if decision is None else decision


def permissions_of(returned: object, tool: str) -> tuple[PermissionRequest, ...]:
    """Return what the `permissions` of a tool returned, as a tuple.

    Raises:
        TypeError: It is no list of permission requests.
    """
    if isinstance(returned, Iterable):
        requests = tuple(returned)
        if all(isinstance(request, PermissionRequest) for request in requests):
            return requests
    raise TypeError(
        f"`permissions` of the tool {tool!r} returned a {type(returned).__name__} instead of a "
        f"list of permission requests; write [permission_to_read(path)], also for one"
    )


def tool_kind(name: str) -> str:
    """Return the kind of the request for a whole tool: `tool.<name>`."""
    return f"tool.{name}"


def _check_decision(decision: Decision | None) -> Decision | None:
    # `True`, or the coroutine of an async function, must not count as permission.
    require_no_awaitable(decision, "the permission policy")
    if decision is None or isinstance(decision, (Allow, Ask, Deny)):
        return decision
    raise TypeError(
        f"a policy returned {type(decision).__name__}; return Allow(), Ask(), Deny(…) or None"
    )


_ALLOW: Final = Allow()
