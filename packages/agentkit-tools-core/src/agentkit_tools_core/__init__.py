"""agentkit-tools-core: the contract of a tool, permissions and the executor.

Most of it does no I/O. `PathPolicy`, `Rule` with a prefix, `CommandPolicy` and `resolve_path`
look at links and folders; `open_checked` opens a file; `FileArtifacts` reads and writes its own.
"""

from agentkit_tools_core._access import (
    connect_mcp,
    custom,
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
from agentkit_tools_core._approval import ApprovalRequest, approval_id
from agentkit_tools_core._artifacts import (
    ArtifactStore,
    FileArtifacts,
    InvalidOffset,
    MemoryArtifacts,
    Slice,
    UnknownArtifact,
)
from agentkit_tools_core._catalogue import CatalogueChanges, catalogue_changes, digests
from agentkit_tools_core._children import ChildCallsDiffer
from agentkit_tools_core._command_policy import CommandPolicy
from agentkit_tools_core._context import ToolContext
from agentkit_tools_core._decorator import FunctionTool, Propose, tool
from agentkit_tools_core._errors import (
    DuplicateTool,
    InvalidToolFunction,
    InvalidToolInput,
    InvalidToolName,
    MissingDependency,
    ToolDefinitionError,
    ToolError,
    UnwritableOutput,
)
from agentkit_tools_core._executor import Executor
from agentkit_tools_core._hooks import Block, ChangeInput, ToolFacts, ToolHook
from agentkit_tools_core._kind_policies import KindPolicy, McpPolicy
from agentkit_tools_core._outcome import ToolOutcome, ToolReturn, error_result
from agentkit_tools_core._output import json_value_of, outcome_of, output_of
from agentkit_tools_core._output_limits import OutputLimits, Overflow
from agentkit_tools_core._path_policy import Outside, PathPolicy
from agentkit_tools_core._paths import UnresolvablePath, is_within, open_checked, resolve_path
from agentkit_tools_core._permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    PermissionRequest,
    Policy,
    PolicyFacts,
    combine,
    default_policy,
    evaluate,
    tool_kind,
)
from agentkit_tools_core._read_back import read_back_tool
from agentkit_tools_core._registry import ToolRegistry
from agentkit_tools_core._request import ToolRequest
from agentkit_tools_core._rules import Rule, Rules
from agentkit_tools_core._run import ToThread
from agentkit_tools_core._schema_tool import SchemaTool, Validate, host_tool
from agentkit_tools_core._sources import (
    Collision,
    Federated,
    Filtered,
    Prefixed,
    Renamed,
    ToolSource,
    Unadvertised,
    hidden_specs,
)
from agentkit_tools_core._suspension import ApprovalDenied, Suspension, TokenRefused, ToolSuspended
from agentkit_tools_core._tool import Tool
from agentkit_tools_core._truncate import clip, clip_text
from agentkit_tools_core._verdict import Allowed, NeedsApproval, Preflight, Refused

__all__ = [
    # the contract of a tool
    "SchemaTool",
    "host_tool",
    "Validate",
    "FunctionTool",
    "Propose",
    "Suspension",
    "Tool",
    "ToolContext",
    "ToolOutcome",
    "ToolRequest",
    "ToolReturn",
    "ToolSuspended",
    "error_result",
    "tool",
    # what it gives
    "ArtifactStore",
    "FileArtifacts",
    "MemoryArtifacts",
    "OutputLimits",
    "Overflow",
    "Slice",
    "read_back_tool",
    "clip",
    "clip_text",
    "json_value_of",
    "outcome_of",
    "output_of",
    # permissions and approvals
    "Allow",
    "ApprovalRequest",
    "Ask",
    "Decision",
    "Deny",
    "PermissionRequest",
    "Policy",
    "PolicyFacts",
    "approval_id",
    "combine",
    "default_policy",
    "evaluate",
    "tool_kind",
    # requests, policies and rules that are ready-made
    "CommandPolicy",
    "KindPolicy",
    "McpPolicy",
    "Outside",
    "PathPolicy",
    "Rule",
    "Rules",
    "connect_mcp",
    "custom",
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
    "use_mcp_auth_scope",
    "write_path",
    "is_within",
    "open_checked",
    "resolve_path",
    # many tools, and how they are run
    "CatalogueChanges",
    "Collision",
    "Federated",
    "Filtered",
    "Prefixed",
    "Renamed",
    "ToolSource",
    "Unadvertised",
    "catalogue_changes",
    "digests",
    "hidden_specs",
    "Allowed",
    "Executor",
    "NeedsApproval",
    "Preflight",
    "Refused",
    "ToThread",
    "ToolRegistry",
    # hooks
    "Block",
    "ChangeInput",
    "ToolFacts",
    "ToolHook",
    # errors
    "InvalidOffset",
    "UnknownArtifact",
    "UnresolvablePath",
    "ApprovalDenied",
    "ChildCallsDiffer",
    "DuplicateTool",
    "InvalidToolFunction",
    "InvalidToolInput",
    "InvalidToolName",
    "MissingDependency",
    "TokenRefused",
    "ToolDefinitionError",
    "ToolError",
    "UnwritableOutput",
]
