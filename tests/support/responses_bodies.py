"""Responses, by hand: bodies as servers send them, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agentkit_core import ModelRequest, ModelResponse, ToolSpec
from agentkit_core.provider import ModelEvent
from agentkit_providers.openai_responses import OpenAIResponses, Quirks
from support.decoding import events_of, read_body


def request(*tools: str, streamed: bool = True) -> ModelRequest:
    """A request that offers tools of these names."""
    return ModelRequest(model="m", tools=tuple(ToolSpec(name) for name in tools), streamed=streamed)


def stream(*events: dict[str, Any] | bytes) -> bytes:
    """The body of a stream of these events, with their names."""
    return b"".join(map(_framed, events))


def _framed(event: dict[str, Any] | bytes) -> bytes:
    if isinstance(event, bytes):
        return b"data: " + event + b"\n\n"
    name = f"event: {event['type']}\n".encode() if "type" in event else b""
    return name + b"data: " + json.dumps(event).encode() + b"\n\n"


def created(**fields: Any) -> dict[str, Any]:
    """The first event."""
    response = {"id": "r1", "model": "m-1", "status": "in_progress", "output": []}
    return {"type": "response.created", "response": response | fields}


def ended(
    status: str = "completed", *output: dict[str, Any], name: str = "", **fields: Any
) -> dict[str, Any]:
    """The last event."""
    response = {"id": "r1", "model": "m-1", "status": status, "output": list(output)}
    return {"type": f"response.{name or status}", "response": response | fields}


def added(index: int, **item: Any) -> dict[str, Any]:
    """An item begins."""
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, **item: Any) -> dict[str, Any]:
    """An item is complete."""
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def text_delta(delta: str, index: int = 0, at: int = 0) -> dict[str, Any]:
    """More of a text."""
    kind = "response.output_text.delta"
    return {"type": kind, "output_index": index, "content_index": at, "delta": delta}


def delta(kind: str, text: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    """More of something else."""
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text, **fields}


def message(*texts: str, **fields: Any) -> dict[str, Any]:
    """A message with these texts."""
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    own = {"id": "msg_1", "status": "completed", "role": "assistant"}
    return {"type": "message", "content": content, **own, **fields}


def reasoning(summary: str = "", secret: str | None = "c2VjcmV0", **fields: Any) -> dict[str, Any]:
    """Reasoning, encrypted, with a summary."""
    parts = [{"type": "summary_text", "text": summary}] if summary else []
    item = {"type": "reasoning", "id": "rs_1", "summary": parts, "encrypted_content": secret}
    return item | fields


def call(call_id: str = "call_1", arguments: str = "{}", **fields: Any) -> dict[str, Any]:
    """A call of a function."""
    item = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": call_id,
        "name": "f",
        "arguments": arguments,
        "status": "completed",
    }
    return {**item, **fields}


def whole(*output: dict[str, Any], status: str = "completed", **fields: Any) -> bytes:
    """The body of a whole response."""
    body = {"id": "r1", "object": "response", "model": "m-1", "status": status}
    return json.dumps({**body, "output": list(output), **fields}).encode()


def read(
    body: bytes, asked: ModelRequest | None = None, quirks: Quirks | None = None
) -> ModelResponse:
    """Decode a body; the laws of decoders are checked on the way."""
    return read_body(OpenAIResponses(quirks=quirks or Quirks()), body, asked or request())


def events(
    body: bytes | Sequence[bytes], asked: ModelRequest | None = None, quirks: Quirks | None = None
) -> tuple[ModelEvent, ...]:
    """The events of a body, or of its pieces."""
    return events_of(OpenAIResponses(quirks=quirks or Quirks()), body, asked or request())
