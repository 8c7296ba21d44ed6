"""agentkit-tools-core: tools, the sources that contain them, and the executor that runs them.

Permissions and policies are in `agentkit_tools_core.permissions`, stored outputs in
`agentkit_tools_core.artifacts`. Apart from some of these, the package does no I/O.
"""

from agentkit_tools_core._contract._approval import approval_id, approval_request
from agentkit_tools_core._contract._child_calls import ChildCallsDiffer
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._outcome import ToolOutcome, ToolReturn, error_result
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._revision import (
    RevisedTool,
    WrappingTool,
    is_same_tool,
    tool_revision,
)
from agentkit_tools_core._contract._suspension import (
    ApprovalDenied,
    Suspension,
    TokenRefused,
    ToolSuspended,
)
from agentkit_tools_core._contract._timer import CallTimer
from agentkit_tools_core._contract._tool import NormalizingTool, Tool
from agentkit_tools_core._errors import (
    DuplicateTool,
    InvalidToolFunction,
    InvalidToolInput,
    InvalidToolName,
    MissingDependency,
    ToolDefinitionError,
    ToolError,
    UnstableArguments,
    UnwritableOutput,
)
from agentkit_tools_core._execution._executor import Executor
from agentkit_tools_core._execution._hooks import Block, ChangeInput, ToolFacts, ToolHook
from agentkit_tools_core._execution._preflight import Allowed, NeedsApproval, Refused, Verdict
from agentkit_tools_core._functions._decorator import FunctionTool, tool
from agentkit_tools_core._functions._schema_tool import SchemaTool, external_tool
from agentkit_tools_core._outputs._convert import output_of
from agentkit_tools_core._outputs._limits import OutputLimits, OverflowAction
from agentkit_tools_core._sources._changes import CatalogueChanges, catalogue_changes, spec_digests
from agentkit_tools_core._sources._registry import ToolRegistry
from agentkit_tools_core._sources._source import HidingSource, ToolSource, hidden_specs
from agentkit_tools_core._sources._wrappers import (
    Collision,
    CombinedTools,
    FilteredTools,
    HiddenTools,
    PrefixedTools,
    RenamedTools,
)

__version__ = "0.1.0"

__all__ = [
    # the contract of a tool
    "SchemaTool",
    "external_tool",
    "FunctionTool",
    "Suspension",
    "NormalizingTool",
    "RevisedTool",
    "WrappingTool",
    "is_same_tool",
    "tool_revision",
    "Tool",
    "CallTimer",
    "ToolContext",
    "ToolOutcome",
    "ToolInvocation",
    "ToolReturn",
    "ToolSuspended",
    "error_result",
    "tool",
    # outputs
    "OutputLimits",
    "OverflowAction",
    "output_of",
    # approvals
    "approval_id",
    "approval_request",
    # sources of tools, and the executor
    "CatalogueChanges",
    "Collision",
    "CombinedTools",
    "FilteredTools",
    "PrefixedTools",
    "RenamedTools",
    "ToolSource",
    "HiddenTools",
    "HidingSource",
    "catalogue_changes",
    "spec_digests",
    "hidden_specs",
    "Allowed",
    "Executor",
    "NeedsApproval",
    "Verdict",
    "Refused",
    "ToolRegistry",
    # hooks
    "Block",
    "ChangeInput",
    "ToolFacts",
    "ToolHook",
    # errors
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
    "UnstableArguments",
    "UnwritableOutput",
]
