"""Requests and their bodies, for the tests of every protocol's encoder."""

from __future__ import annotations

import json
from typing import Any

from agentkit_core import (
    FinishReason,
    InlineBytes,
    Item,
    ItemKind,
    Media,
    Modality,
    ModelOptions,
    ModelRequest,
    Part,
    PartsOutput,
    Provenance,
    SessionId,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
    ToolSpec,
)
from agentkit_core.provider import Projection

WEATHER = ToolSpec(
    "weather",
    "Say what the weather is like.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
PNG = Media(Modality.IMAGE, "image/png", InlineBytes(b"\x89PNG\r\n\x1a\n"))
"""An image whose base64 is `UE5H`."""


def call(call_id: str, name: str = "f", **arguments: Any) -> ToolCall:
    """A tool call."""
    return ToolCall(ToolCallId(call_id), name, arguments)


def result(call_id: str, *parts: Part | str, is_error: bool = False) -> ToolResult:
    """The result of a tool call: one text, or any parts."""
    if len(parts) == 1 and isinstance(parts[0], str):
        return ToolResult(ToolCallId(call_id), TextOutput(parts[0]), is_error)
    content = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    return ToolResult(ToolCallId(call_id), PartsOutput(content), is_error)


def model_item(
    *parts: Part,
    api: str,
    provider: str,
    model: str,
    reason: FinishReason = FinishReason.COMPLETED,
    **fields: Any,
) -> Item:
    """An assistant item that records which model it comes from."""
    origin = Provenance(provider, api, model)
    return Item(ItemKind.ASSISTANT, parts, provenance=origin, finish_reason=reason, **fields)


def encoded_body(
    projection: Projection,
    *items: Item,
    model: str = "m",
    tools: tuple[ToolSpec, ...] = (),
    streamed: bool = False,
    session_id: str | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The body of a request, as JSON; further arguments are its options."""
    request = ModelRequest(
        model=model,
        items=items,
        tools=tools,
        streamed=streamed,
        session_id=None if session_id is None else SessionId(session_id),
        options=ModelOptions(**options),
    )
    body: dict[str, Any] = json.loads(projection.encode(request).body)
    return body
