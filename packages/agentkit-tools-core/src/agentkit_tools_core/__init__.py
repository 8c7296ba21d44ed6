"""agentkit-tools-core: the contract of a tool, permissions and the executor.

Most of it does no I/O. `PathPolicy`, `Rule` with a prefix, `CommandPolicy` and `resolve_path`
look at links and folders; `open_checked` opens a file; `FileArtifacts` reads and writes its own.
"""

from agentkit_tools_core._contract._approval import ApprovalRequest, approval_id
from agentkit_tools_core._contract._child_calls import ChildCallsDiffer
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._outcome import ToolOutcome, ToolReturn, error_result
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
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._suspension import (
    ApprovalDenied,
    Suspension,
    TokenRefused,
    ToolSuspended,
)
from agentkit_tools_core._contract._tool import Tool
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
from agentkit_tools_core._execution._executor import Executor
from agentkit_tools_core._execution._hooks import Block, ChangeInput, ToolFacts, ToolHook
from agentkit_tools_core._execution._preflight import Allowed, NeedsApproval, Refused, Verdict
from agentkit_tools_core._execution._run import ToThread
from agentkit_tools_core._functions._decorator import FunctionTool, Propose, tool
from agentkit_tools_core._functions._schema_tool import SchemaTool, Validate, external_tool
from agentkit_tools_core._outputs._artifacts import (
    ArtifactSlice,
    ArtifactStore,
    FileArtifacts,
    InvalidOffset,
    MemoryArtifacts,
    UnknownArtifact,
)
from agentkit_tools_core._outputs._convert import json_value_of, outcome_of, output_of
from agentkit_tools_core._outputs._limits import OutputLimits, OverflowAction
from agentkit_tools_core._outputs._read_tool import read_artifact_tool
from agentkit_tools_core._outputs._truncate import clip_text, truncate_output
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
from agentkit_tools_core._sources._changes import CatalogueChanges, catalogue_changes, spec_digests
from agentkit_tools_core._sources._registry import ToolRegistry
from agentkit_tools_core._sources._wrappers import (
    Collision,
    CombinedTools,
    FilteredTools,
    HiddenTools,
    PrefixedTools,
    RenamedTools,
    ToolSource,
    hidden_specs,
)

__all__ = [
    # the contract of a tool
    "SchemaTool",
    "external_tool",
    "Validate",
    "FunctionTool",
    "Propose",
    "Suspension",
    "Tool",
    "ToolContext",
    "ToolOutcome",
    "ToolInvocation",
    "ToolReturn",
    "ToolSuspended",
    "error_result",
    "tool",
    # what it gives
    "ArtifactStore",
    "FileArtifacts",
    "MemoryArtifacts",
    "OutputLimits",
    "OverflowAction",
    "ArtifactSlice",
    "read_artifact_tool",
    "truncate_output",
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
    "combine_policies",
    "default_policy",
    "evaluate_policy",
    "tool_kind",
    # requests, policies and rules that are ready-made
    "CommandPolicy",
    "KindPolicy",
    "McpPolicy",
    "UnlistedAction",
    "PathPolicy",
    "Rule",
    "Rules",
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
    "use_mcp_auth_scope",
    "write_path",
    "is_within",
    "open_checked",
    "resolve_path",
    # many tools, and how they are run
    "CatalogueChanges",
    "Collision",
    "CombinedTools",
    "FilteredTools",
    "PrefixedTools",
    "RenamedTools",
    "ToolSource",
    "HiddenTools",
    "catalogue_changes",
    "spec_digests",
    "hidden_specs",
    "Allowed",
    "Executor",
    "NeedsApproval",
    "Verdict",
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
