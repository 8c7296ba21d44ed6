"""Chat Completions by hand: bodies as servers send them, and what we make of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agentkit_core import ModelOptions, ModelRequest, ModelResponse, ToolSpec
from agentkit_core.provider import ModelEvent
from agentkit_core.testing import check_decoder, decode_chunks
from agentkit_providers.openai_chat import OpenAIChat, Quirks


def request(
    *tools: str, streamed: bool = True, extra: dict[str, Any] | None = None
) -> ModelRequest:
    """A question that offers tools of these names."""
    return ModelRequest(
        model="m",
        tools=tuple(ToolSpec(name) for name in tools),
        streamed=streamed,
        options=ModelOptions(extra={"openai_chat": extra} if extra else {}),
    )


def stream(*chunks: dict[str, Any] | bytes, done: bool = True) -> bytes:
    """The body of a stream of these events."""
    written = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in chunks]
    if done:
        written.append(b"[DONE]")
    return b"".join(b"data: " + one + b"\n\n" for one in written)


def delta(finish: str | None = None, index: int = 0, **fields: Any) -> dict[str, Any]:
    """A chunk with one choice that gained these fields."""
    choice = {"index": index, "delta": fields, "finish_reason": finish}
    return {"id": "r1", "model": "m-1", "choices": [choice]}


def fragment(
    arguments: str | None = None, name: str | None = None, **fields: Any
) -> dict[str, Any]:
    """A fragment of a tool call."""
    function = {"name": name, "arguments": arguments}
    return {**fields, "function": {key: one for key, one in function.items() if one is not None}}


def whole(finish: str | None = "stop", **message: Any) -> bytes:
    """The body of a whole answer."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps({"id": "r1", "model": "m-1", "choices": [choice]}).encode()


def read(
    body: bytes, asked: ModelRequest | None = None, quirks: Quirks | None = None
) -> ModelResponse:
    """What a body says; the decoder's laws are checked on the way."""
    projection = OpenAIChat(quirks=quirks or Quirks())
    asked = asked or request()
    return check_decoder(lambda: projection.decoder(asked), body)


def events(
    body: bytes | Sequence[bytes], asked: ModelRequest | None = None, quirks: Quirks | None = None
) -> tuple[ModelEvent, ...]:
    """The events of a body, or of its pieces."""
    decoder = OpenAIChat(quirks=quirks or Quirks()).decoder(asked or request())
    return decode_chunks(decoder, [body] if isinstance(body, bytes) else body)
