"""agentkit-tools-core: the contract of a tool, permissions and the executor. No I/O."""

from agentkit_tools_core._approval import ApprovalRequest, approval_id
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
from agentkit_tools_core._executor import (
    Allowed,
    Executor,
    NeedsApproval,
    Preflight,
    Refused,
    ToThread,
)
from agentkit_tools_core._outcome import ToolOutcome, ToolReturn, error_result
from agentkit_tools_core._output import json_value_of, outcome_of, output_of
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
from agentkit_tools_core._registry import ToolRegistry
from agentkit_tools_core._request import ToolRequest
from agentkit_tools_core._tool import Tool
from agentkit_tools_core._truncate import clip, clip_text

__all__ = [
    # the contract of a tool
    "FunctionTool",
    "Propose",
    "Tool",
    "ToolContext",
    "ToolOutcome",
    "ToolRequest",
    "ToolReturn",
    "error_result",
    "tool",
    # what it gives
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
    # many tools, and how they are run
    "Allowed",
    "Executor",
    "NeedsApproval",
    "Preflight",
    "Refused",
    "ToThread",
    "ToolRegistry",
    # errors
    "DuplicateTool",
    "InvalidToolFunction",
    "InvalidToolInput",
    "InvalidToolName",
    "MissingDependency",
    "ToolDefinitionError",
    "ToolError",
    "UnwritableOutput",
]
