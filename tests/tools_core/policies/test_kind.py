"""Servers and kinds are judged by their names."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit_core import ToolCallId, ToolSpec
from agentkit_tools_core import ToolInvocation
from agentkit_tools_core.permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    KindPolicy,
    McpPolicy,
    PermissionRequest,
    PolicyFacts,
    UnlistedAction,
    custom_permission,
    permission_to_connect_mcp,
    permission_to_invoke_mcp_tool,
    permission_to_read,
    permission_to_use_mcp_auth_scope,
)

FACTS = PolicyFacts(ToolSpec("t"), ToolInvocation(ToolCallId("1"), "t"))


def test_t25_a_server_that_is_not_trusted_is_asked_for_or_denied() -> None:
    asking = McpPolicy(trusted=("good",))
    strict = McpPolicy(trusted=("good",), untrusted=UnlistedAction.DENY)

    for policy in (asking, strict):
        assert policy(permission_to_invoke_mcp_tool("good", "t"), FACTS) == Allow()
    assert isinstance(asking(permission_to_connect_mcp("other"), FACTS), Ask)
    assert isinstance(strict(permission_to_connect_mcp("other"), FACTS), Deny)


def test_t25_without_a_list_all_servers_are_trusted_but_those_denied() -> None:
    policy = McpPolicy(denied=("bad",))

    assert policy(permission_to_connect_mcp("any"), FACTS) == Allow()
    assert isinstance(policy(permission_to_connect_mcp("bad"), FACTS), Deny)


def test_t25_a_scope_is_denied_unless_it_is_listed() -> None:
    policy = McpPolicy(trusted=("good",), auth_scopes=("read",))

    assert policy(permission_to_use_mcp_auth_scope("good", "read"), FACTS) == Allow()
    assert isinstance(policy(permission_to_use_mcp_auth_scope("good", "write"), FACTS), Deny)
    assert isinstance(policy(permission_to_use_mcp_auth_scope("other", "read"), FACTS), Ask)
    assert isinstance(McpPolicy()(permission_to_use_mcp_auth_scope("good", "read"), FACTS), Deny)


def test_a_request_without_a_server_is_denied_and_other_kinds_are_no_business_of_it() -> None:
    assert isinstance(McpPolicy()(PermissionRequest("mcp.connect", "s"), FACTS), Deny)
    assert McpPolicy()(permission_to_read("/x"), FACTS) is None


KINDS = KindPolicy(
    allowed=("custom.a", "custom.b.*", "custom.d.ok"),
    denied=("custom.b.no", "custom.d.*"),
    asks=("custom.*",),
)


@pytest.mark.parametrize(
    ("kind", "decision"),
    [
        ("custom.a", Allow),
        ("custom.a.b", Ask),
        ("custom.b.c.d", Allow),
        ("custom.b.no", Deny),
        ("custom.b.nothing", Allow),
        ("custom.b", Ask),
        ("custom.c", Ask),
        ("custom.d.ok", Deny),
    ],
)
def test_t25_what_is_denied_is_denied_and_else_the_longest_entry_counts(
    kind: str, decision: type[Decision]
) -> None:
    assert isinstance(KINDS(custom_permission(kind, "s"), FACTS), decision)


def test_t25_kinds_that_no_entry_covers_are_what_the_policy_says_of_others() -> None:
    request = PermissionRequest("customer.x", "s")

    assert KINDS(request, FACTS) is None
    assert KindPolicy(other=Deny("no"))(request, FACTS) == Deny("no")
    assert KindPolicy(allowed=("*",))(request, FACTS) == Allow()


@pytest.mark.parametrize(
    ("policy", "settings"),
    [
        (McpPolicy, {"trusted": "good"}),
        (McpPolicy, {"trusted": ["x"], "denied": ["x"]}),
        (McpPolicy, {"auth_scopes": [1]}),
        (McpPolicy, {"untrusted": "maybe"}),
        (KindPolicy, {"allowed": ["a", "a"]}),
        (KindPolicy, {"allowed": ["a"], "asks": ["a"]}),
        (KindPolicy, {"denied": ["a*"]}),
        (KindPolicy, {"denied": ["a.*.b"]}),
        (KindPolicy, {"denied": [""]}),
        (KindPolicy, {"other": True}),
    ],
)
def test_a_bad_setting_is_refused_when_the_policy_is_made(
    policy: Any, settings: dict[str, Any]
) -> None:
    with pytest.raises((TypeError, ValueError)):
        policy(**settings)
