"""Messages by hand: bodies as servers send them, and what we make of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agentkit_core import Item, ModelOptions, ModelRequest, ModelResponse, ToolSpec
from agentkit_core.provider import ModelEvent
from agentkit_core.testing import check_decoder, decode_chunks
from agentkit_providers.anthropic_messages import AnthropicMessages, Quirks

MODEL = "claude-opus-4-6"
USAGE = {"input_tokens": 9, "output_tokens": 1}


def request(*items: Item, streamed: bool = True, **options: Any) -> ModelRequest:
    """A question."""
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
        *({"type": "content_block_delta", "index": index, "delta": one} for one in deltas),
    ]
    return [*events, {"type": "content_block_stop", "index": index}] if stopped else events


def said(*words: str, index: int = 0, stopped: bool = True) -> list[dict[str, Any]]:
    """The events of a text block."""
    deltas = [{"type": "text_delta", "text": word} for word in words]
    return block({"type": "text", "text": ""}, *deltas, index=index, stopped=stopped)


def called(
    *pieces: str, index: int = 0, stopped: bool = True, **fields: Any
) -> list[dict[str, Any]]:
    """The events of a call of `f` with id `t1`, unless it says otherwise."""
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
    for one in events:
        if isinstance(one, list):
            flat += one
        else:
            flat.append(one)
    return b"".join(map(_event, flat))


def _event(event: dict[str, Any] | bytes) -> bytes:
    if isinstance(event, bytes):
        return b"data: " + event + b"\n\n"
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def whole(*blocks: dict[str, Any], reason: str | None = "end_turn", **fields: Any) -> bytes:
    """The body of a whole answer."""
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
    """What a body says; the decoder's laws are checked on the way."""
    projection = AnthropicMessages(quirks=quirks or Quirks())
    asked = asked or request()
    return check_decoder(lambda: projection.decoder(asked), body)


def events(body: bytes | Sequence[bytes], quirks: Quirks | None = None) -> tuple[ModelEvent, ...]:
    """The events of a body, or of its pieces."""
    decoder = AnthropicMessages(quirks=quirks or Quirks()).decoder(request())
    return decode_chunks(decoder, [body] if isinstance(body, bytes) else body)


def sent(
    *items: Item,
    quirks: Quirks | None = None,
    tools: tuple[ToolSpec, ...] = (),
    model: str = MODEL,
    streamed: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """The body of a request, as JSON."""
    asked = ModelRequest(
        model=model, items=items, tools=tools, streamed=streamed, options=ModelOptions(**options)
    )
    wire = AnthropicMessages(quirks=quirks or Quirks()).encode(asked)
    body: dict[str, Any] = json.loads(wire.body)
    return body
