"""What a tool is asked: one call of a model, on its way to the tool."""

from __future__ import annotations

from msgspec import field

from agentkit_core import JsonValue, MetadataMap, SessionId, ToolCall, ToolCallId, TurnId
from agentkit_core.values import Record


class ToolInvocation(Record, frozen=True, omit_defaults=True):
    """One call of a tool.

    Attributes:
        name: The tool's name, as the model wrote it; there may be no such tool.
        input: The arguments; treat them as frozen, the transcript holds the same object.
        metadata: The metadata of the call's part.
    """

    call_id: ToolCallId
    name: str
    input: dict[str, JsonValue] = field(default_factory=dict)
    session_id: SessionId | None = None
    turn_id: TurnId | None = None
    metadata: MetadataMap = field(default_factory=dict)

    @property
    def call(self) -> ToolCall:
        """The call as a part, with the arguments that the tool would run with."""
        return ToolCall(self.call_id, self.name, self.input, metadata=self.metadata)
