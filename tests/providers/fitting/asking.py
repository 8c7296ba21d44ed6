"""One request to a model, and what of it arrives at the server."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from agentkit_core import (
    Item,
    JsonValue,
    ModelOptions,
    ModelRequest,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
    ToolSpec,
)
from agentkit_core.provider import RequestChange, request_changes
from agentkit_providers import connect

OBJECT: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = ToolSpec("get_weather", "Weather.", OBJECT)
CALL = Item.assistant(ToolCall(ToolCallId("c1"), "get_weather", {"city": "Oslo"}))
RESULT = Item.tool(ToolResult(ToolCallId("c1"), TextOutput("sunny")))


class Sent:
    """What a model is sent: the body, and what was changed of the request."""

    def __init__(
        self, body: bytes, headers: dict[str, str], metadata: dict[str, JsonValue]
    ) -> None:
        self.body: dict[str, Any] = json.loads(body)
        self.headers = headers
        self.metadata = metadata

    @property
    def changes(self) -> dict[str, RequestChange]:
        """The changes by what was changed."""
        return {change.what: change for change in request_changes(self.metadata)}


def send(
    name: str,
    *items: Item,
    tools: Iterable[ToolSpec] = (),
    streamed: bool = True,
    quirks: Any = None,
    **options: Any,
) -> Sent:
    """Encode a request to a model, by its name."""
    model = connect(name, base_url="http://127.0.0.1:1", quirks=quirks)
    request = ModelRequest(
        model=model.name,
        items=items or (Item.user("hi"),),
        tools=tuple(tools),
        streamed=streamed,
        options=ModelOptions(**options),
    )
    wire = model.projection.encode(request)
    return Sent(wire.body, wire.headers, wire.metadata)
