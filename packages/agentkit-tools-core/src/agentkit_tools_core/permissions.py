"""Permissions: requests that tools make, policies that decide them, and checked paths.

A tool proposes `PermissionRequest`s (`read_path`, `run_command`, …); a policy answers each with
`Allow`, `Ask` or `Deny`. `PathPolicy`, `CommandPolicy`, `KindPolicy`, `McpPolicy` and `Rules` are
ready-made policies; `combine_policies` joins several. `PathPolicy`, `Rule` with a prefix,
`CommandPolicy` and `resolve_path` look at links and folders; `open_checked` opens a file.
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
    connect_mcp,
    custom_permission,
    delete_path,
    edit_path,
    fetch_mcp_prompt,
    invoke_mcp_tool,
    list_path,
    make_directory,
    move_path,
    read_mcp_resource,
    read_path,
    run_command,
    use_mcp_auth_scope,
    write_path,
)
from agentkit_tools_core._policies._rules import Rule, Rules

__all__ = [
    # requests
    "PermissionRequest",
    "connect_mcp",
    "custom_permission",
    "delete_path",
    "edit_path",
    "fetch_mcp_prompt",
    "invoke_mcp_tool",
    "list_path",
    "make_directory",
    "move_path",
    "read_mcp_resource",
    "read_path",
    "run_command",
    "tool_kind",
    "use_mcp_auth_scope",
    "write_path",
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
