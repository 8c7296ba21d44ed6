"""The tool by which a model reads, piece by piece, what was too long to be shown."""

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
"""How much is read at once, where nobody says otherwise."""
READS_BACK: Final = "agentkit.reads_back"
"""The key in a spec's metadata of a tool whose outputs are not limited again."""


def read_artifact_tool(store: ArtifactStore, *, max_bytes: int = READ_BYTES) -> SchemaTool:
    """Make the tool `tool_result_read`, by which a model reads what was stored.

    Its results are `ArtifactSlice`s as JSON, and are not limited otherwise. It reads any text
    whose id it is given: give each group of sessions that must not see each
    other's texts its own store.

    Args:
        store: Where the texts are.
        max_bytes: How much may be read at once, and is if nothing is said.

    Raises:
        ValueError: `max_bytes` is less than 1.
    """
    if max_bytes < 1:
        raise ValueError(f"max_bytes is at least 1, not {max_bytes}")

    def read(arguments: dict[str, JsonValue], context: ToolContext) -> ArtifactSlice:
        artifact_id = arguments["id"]
        offset, limit = arguments.get("offset", 0), arguments.get("limit", max_bytes)
        if not isinstance(artifact_id, str):
            raise _refused("id is a text")
        if not isinstance(offset, int) or isinstance(offset, bool):
            raise _refused("offset is a whole number")
        if not isinstance(limit, int) or isinstance(limit, bool) or not 0 < limit <= max_bytes:
            raise _refused(f"limit is a whole number from 1 to {max_bytes}")
        try:
            return store.read(ArtifactId(artifact_id), offset, limit)
        except (UnknownArtifact, InvalidOffset) as error:
            raise _refused(str(error)) from None

    spec = ToolSpec(
        READ_TOOL,
        "Read a piece of a tool result that was too long to be shown. Take the arguments from the "
        "result; to go on, use next_offset as offset, until eof is true.",
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


def _refused(reason: str) -> ToolError:
    return ToolError(reason, failure=ToolFailure.INVALID_INPUT)
