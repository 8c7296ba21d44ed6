"""agentkit-core: the data of an agent. No I/O; depends on msgspec only."""

from agentkit_core._approval import ApprovalKind, ApprovalRequest
from agentkit_core._data_ref import DataRef, Handle, InlineBytes, InlineText, Modality, Uri
from agentkit_core._errors import (
    AgentkitError,
    CurrencyMismatch,
    DuplicateToolCall,
    DuplicateToolResult,
    MisplacedPart,
    OrphanToolResult,
    ProviderError,
    RecordError,
    TranscriptError,
    UnansweredToolCall,
    UnsupportedContent,
)
from agentkit_core._failure import FailureKind, ProviderFailure, ToolFailure
from agentkit_core._finish import FinishReason
from agentkit_core._history._transcript import Transcript, open_calls, repair
from agentkit_core._ids import ApprovalId, ArtifactId, MessageId, SessionId, ToolCallId, TurnId
from agentkit_core._item import ANSWERABLE_KINDS, Item, ItemKind, Provenance
from agentkit_core._json import JsonValue, to_json
from agentkit_core._metadata import MetadataMap, foreign_metadata
from agentkit_core._part import (
    Custom,
    File,
    FilesOutput,
    Media,
    Part,
    PartsOutput,
    Reasoning,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    ToolCall,
    ToolOutput,
    ToolResult,
)
from agentkit_core._records import from_json, from_msgpack, to_msgpack
from agentkit_core._request import (
    JsonFormat,
    JsonSchemaFormat,
    ModelOptions,
    ModelRequest,
    NamedTool,
    ResponseFormat,
    ThinkingLevel,
    Timeouts,
    ToolChoice,
    ToolChoiceMode,
)
from agentkit_core._retry import RetryPolicy
from agentkit_core._streaming._response import ModelResponse
from agentkit_core._tool_spec import ToolAnnotations, ToolSpec
from agentkit_core._usage import CostUsage, TokenUsage, Usage

__version__ = "0.1.0"

__all__ = [
    # identifiers
    "ApprovalId",
    "ApprovalKind",
    "ApprovalRequest",
    "ArtifactId",
    "MessageId",
    "SessionId",
    "ToolCallId",
    "TurnId",
    # items and parts
    "ANSWERABLE_KINDS",
    "Custom",
    "DataRef",
    "File",
    "FilesOutput",
    "Handle",
    "InlineBytes",
    "InlineText",
    "Item",
    "ItemKind",
    "Media",
    "Modality",
    "Part",
    "PartsOutput",
    "Provenance",
    "Reasoning",
    "Structured",
    "StructuredOutput",
    "Text",
    "TextOutput",
    "ToolCall",
    "ToolFailure",
    "ToolOutput",
    "ToolResult",
    "Uri",
    # transcripts
    "Transcript",
    "open_calls",
    "repair",
    # requests to a model
    "JsonFormat",
    "JsonSchemaFormat",
    "ModelOptions",
    "ModelRequest",
    "NamedTool",
    "ResponseFormat",
    "ThinkingLevel",
    "Timeouts",
    "ToolAnnotations",
    "ToolChoice",
    "ToolChoiceMode",
    "ToolSpec",
    # responses
    "CostUsage",
    "FailureKind",
    "FinishReason",
    "ModelResponse",
    "ProviderFailure",
    "RetryPolicy",
    "TokenUsage",
    "Usage",
    # JSON and metadata
    "JsonValue",
    "MetadataMap",
    "foreign_metadata",
    "from_json",
    "from_msgpack",
    "to_json",
    "to_msgpack",
    # errors
    "AgentkitError",
    "CurrencyMismatch",
    "DuplicateToolCall",
    "DuplicateToolResult",
    "MisplacedPart",
    "OrphanToolResult",
    "ProviderError",
    "RecordError",
    "TranscriptError",
    "UnansweredToolCall",
    "UnsupportedContent",
]
