"""Messages, by hand: bodies as servers send them, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agentkit_core import Item, ModelOptions, ModelRequest, ModelResponse
from agentkit_core.provider import ModelEvent
from agentkit_providers.anthropic_messages import AnthropicMessages, Quirks
from support.decoding import events_of, read_body
from support.encoding import encoded_body

MODEL = "claude-opus-4-6"
USAGE = {"input_tokens": 9, "output_tokens": 1}


def request(*items: Item, streamed: bool = True, **options: Any) -> ModelRequest:
    """A request."""
    return ModelRequest(
        model=MODEL, items=items, streamed=streamed, options=ModelOptions(**options)
    )


def started(usage: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """The event that begins a stream."""
    message = {"id": "m1", "model": "m-1", "content": [], "usage": usage or USAGE, **more}
    return {"type": "message_start", "message": message}


def block(
    begun: dict[str, Any], *deltas: dict[str, Any], index: int = 0, stopped: bool = True
) -> list[dict[str, Any]]:
    """The events of one block."""
    events = [
        {"type": "content_block_start", "index": index, "content_block": begun},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
    ]
    return [*events, {"type": "content_block_stop", "index": index}] if stopped else events


def said(*words: str, index: int = 0, stopped: bool = True) -> list[dict[str, Any]]:
    """The events of a text block."""
    deltas = [{"type": "text_delta", "text": word} for word in words]
    return block({"type": "text", "text": ""}, *deltas, index=index, stopped=stopped)


def called(
    *pieces: str, index: int = 0, stopped: bool = True, **fields: Any
) -> list[dict[str, Any]]:
    """The events of a call, by default of `f` with the id `t1`."""
    begun = {"type": "tool_use", "id": "t1", "name": "f", "input": {}, **fields}
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(begun, *deltas, index=index, stopped=stopped)


def ended(
    reason: str | None = "end_turn", usage: dict[str, Any] | None = None, **more: Any
) -> list[dict[str, Any]]:
    """The events that end a stream."""
    delta = {"stop_reason": reason, "stop_sequence": None, **more}
    last = {"type": "message_delta", "delta": delta, "usage": usage or {"output_tokens": 5}}
    return [last, {"type": "message_stop"}]


def stream(*events: dict[str, Any] | bytes | list[dict[str, Any]]) -> bytes:
    """The body of a stream of these events."""
    flat: list[dict[str, Any] | bytes] = []
    for event in events:
        flat += event if isinstance(event, list) else [event]
    return b"".join(map(_event, flat))


def _event(event: dict[str, Any] | bytes) -> bytes:
    if isinstance(event, bytes):
        return b"data: " + event + b"\n\n"
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def whole(*blocks: dict[str, Any], reason: str | None = "end_turn", **fields: Any) -> bytes:
    """The body of a whole response."""
    message = {
        "id": "m1",
        "type": "message",
        "model": "m-1",
        "content": list(blocks),
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 5},
        **fields,
    }
    return json.dumps(message).encode()


def read(
    body: bytes, asked: ModelRequest | None = None, quirks: Quirks | None = None
) -> ModelResponse:
    """Decode a body; the laws of decoders are checked on the way."""
    return read_body(AnthropicMessages(quirks=quirks or Quirks()), body, asked or request())


def events(body: bytes | Sequence[bytes], quirks: Quirks | None = None) -> tuple[ModelEvent, ...]:
    """The events of a body, or of its pieces."""
    return events_of(AnthropicMessages(quirks=quirks or Quirks()), body, request())


def sent(
    *items: Item, quirks: Quirks | None = None, model: str = MODEL, **request: Any
) -> dict[str, Any]:
    """The body of a request, as JSON."""
    projection = AnthropicMessages(quirks=quirks or Quirks())
    return encoded_body(projection, *items, model=model, **request)
