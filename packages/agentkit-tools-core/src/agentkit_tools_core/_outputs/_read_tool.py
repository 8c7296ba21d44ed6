"""The tool with which a model reads stored outputs in slices."""

from __future__ import annotations

from typing import Final

from agentkit_core import ArtifactId, JsonValue, ToolAnnotations, ToolFailure, ToolSpec
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._errors import ToolError
from agentkit_tools_core._functions._schema_tool import SchemaTool
from agentkit_tools_core._outputs._artifacts import (
    ArtifactSlice,
    ArtifactStore,
    InvalidOffset,
    UnknownArtifact,
)

READ_TOOL: Final = "tool_result_read"
READ_BYTES: Final = 50_000
"""How many bytes are read at once by default."""
READS_BACK: Final = "agentkit.reads_back"
"""Metadata key of the spec of a tool whose outputs have no limit."""


def read_artifact_tool(store: ArtifactStore, *, max_bytes: int = READ_BYTES) -> SchemaTool:
    """Make the tool `tool_result_read`, with which a model reads stored outputs.

    Its results are `ArtifactSlice`s as JSON; output limits do not apply to them. The tool reads any
    text in the store. Use separate stores for sessions that must not see each other's texts.

    Args:
        store: The store that `OutputLimits` uses.
        max_bytes: How many bytes may be read at once, and are by default.

    Raises:
        ValueError: `max_bytes` is less than 1.
    """
    if max_bytes < 1:
        raise ValueError(f"max_bytes={max_bytes} is not valid; use at least 1")

    def read(arguments: dict[str, JsonValue], context: ToolContext) -> ArtifactSlice:
        artifact_id = arguments["id"]
        offset, limit = arguments.get("offset", 0), arguments.get("limit", max_bytes)
        if not isinstance(artifact_id, str):
            raise _invalid("id must be a string")
        if not isinstance(offset, int) or isinstance(offset, bool):
            raise _invalid("offset must be an integer")
        if not isinstance(limit, int) or isinstance(limit, bool) or not 0 < limit <= max_bytes:
            raise _invalid(f"limit must be an integer from 1 to {max_bytes}")
        try:
            return store.read(ArtifactId(artifact_id), offset, limit)
        except (UnknownArtifact, InvalidOffset) as error:
            raise _invalid(str(error)) from None

    spec = ToolSpec(
        READ_TOOL,
        "Read a slice of a tool result that was too long. Take the arguments from the result; to "
        "continue, use next_offset as offset, until eof is true.",
        input_schema={
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "offset": {
                    "type": "integer",
                    "description": "Where to begin, in bytes.",
                    "default": 0,
                    "minimum": 0,
                },
                "limit": {
                    "type": "integer",
                    "description": "How many bytes to read.",
                    "default": max_bytes,
                    "minimum": 1,
                    "maximum": max_bytes,
                },
            },
            "required": ["id"],
            "additionalProperties": False,
        },
        annotations=ToolAnnotations(read_only=True, idempotent=True),
        metadata={READS_BACK: True},
    )
    return SchemaTool(spec, read)


def _invalid(reason: str) -> ToolError:
    return ToolError(reason, failure=ToolFailure.INVALID_INPUT)
