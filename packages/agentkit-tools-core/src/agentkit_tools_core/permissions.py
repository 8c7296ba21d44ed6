"""Permissions: requests that tools make, policies that decide them, and checked paths.

A tool proposes `PermissionRequest`s, made by `permission_to_read`, `permission_to_run` and the
like; a policy answers each with `Allow`, `Ask` or `Deny`. `PathPolicy`, `CommandPolicy`,
`KindPolicy`, `McpPolicy` and `Rules` are ready-made policies; `combine_policies` joins several.
`PathPolicy`, `Rule` with a prefix, `CommandPolicy` and `resolve_path` look at links and folders;
`open_checked` opens a file.
"""

from agentkit_tools_core._contract._permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    PermissionRequest,
    Policy,
    PolicyFacts,
    combine_policies,
    default_policy,
    evaluate_policy,
    tool_kind,
)
from agentkit_tools_core._policies._command import CommandPolicy
from agentkit_tools_core._policies._kind import KindPolicy, McpPolicy
from agentkit_tools_core._policies._path import PathPolicy, UnlistedAction
from agentkit_tools_core._policies._paths import (
    UnresolvablePath,
    is_within,
    open_checked,
    resolve_path,
)
from agentkit_tools_core._policies._requests import (
    custom_permission,
    permission_to_connect_mcp,
    permission_to_delete,
    permission_to_edit,
    permission_to_fetch_mcp_prompt,
    permission_to_invoke_mcp_tool,
    permission_to_list,
    permission_to_make_directory,
    permission_to_move,
    permission_to_read,
    permission_to_read_mcp_resource,
    permission_to_run,
    permission_to_use_mcp_auth_scope,
    permission_to_write,
)
from agentkit_tools_core._policies._rules import Rule, Rules

__all__ = [
    # requests
    "PermissionRequest",
    "custom_permission",
    "permission_to_connect_mcp",
    "permission_to_delete",
    "permission_to_edit",
    "permission_to_fetch_mcp_prompt",
    "permission_to_invoke_mcp_tool",
    "permission_to_list",
    "permission_to_make_directory",
    "permission_to_move",
    "permission_to_read",
    "permission_to_read_mcp_resource",
    "permission_to_run",
    "permission_to_use_mcp_auth_scope",
    "permission_to_write",
    "tool_kind",
    # decisions and policies
    "Allow",
    "Ask",
    "Decision",
    "Deny",
    "Policy",
    "PolicyFacts",
    "combine_policies",
    "default_policy",
    "evaluate_policy",
    # ready-made policies
    "CommandPolicy",
    "KindPolicy",
    "McpPolicy",
    "PathPolicy",
    "Rule",
    "Rules",
    "UnlistedAction",
    # paths
    "UnresolvablePath",
    "is_within",
    "open_checked",
    "resolve_path",
]
