"""Chat Completions, by hand: bodies as servers send them, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agentkit_core import ModelOptions, ModelRequest, ModelResponse, ToolSpec
from agentkit_core.provider import ModelEvent
from agentkit_providers.openai_chat import OpenAIChat, Quirks
from support.decoding import events_of, read_body


def request(
    *tools: str, streamed: bool = True, extra: dict[str, Any] | None = None
) -> ModelRequest:
    """A request that offers tools of these names."""
    return ModelRequest(
        model="m",
        tools=tuple(ToolSpec(name) for name in tools),
        streamed=streamed,
        options=ModelOptions(extra={"openai_chat": extra} if extra else {}),
    )


def stream(*chunks: dict[str, Any] | bytes, done: bool = True) -> bytes:
    """The body of a stream of these events."""
    payloads = [
        chunk if isinstance(chunk, bytes) else json.dumps(chunk).encode() for chunk in chunks
    ]
    if done:
        payloads.append(b"[DONE]")
    return b"".join(b"data: " + payload + b"\n\n" for payload in payloads)


def delta(finish: str | None = None, index: int = 0, **fields: Any) -> dict[str, Any]:
    """A chunk that adds these fields to one choice."""
    choice = {"index": index, "delta": fields, "finish_reason": finish}
    return {"id": "r1", "model": "m-1", "choices": [choice]}


def fragment(
    arguments: str | None = None, name: str | None = None, **fields: Any
) -> dict[str, Any]:
    """A fragment of a tool call."""
    function = {"name": name, "arguments": arguments}
    return {
        **fields,
        "function": {key: value for key, value in function.items() if value is not None},
    }


def whole(finish: str | None = "stop", **message: Any) -> bytes:
    """The body of a whole response."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps({"id": "r1", "model": "m-1", "choices": [choice]}).encode()


def read(
    body: bytes, asked: ModelRequest | None = None, quirks: Quirks | None = None
) -> ModelResponse:
    """Decode a body; the laws of decoders are checked on the way."""
    return read_body(OpenAIChat(quirks=quirks or Quirks()), body, asked or request())


def events(
    body: bytes | Sequence[bytes], asked: ModelRequest | None = None, quirks: Quirks | None = None
) -> tuple[ModelEvent, ...]:
    """The events of a body, or of its pieces."""
    return events_of(OpenAIChat(quirks=quirks or Quirks()), body, asked or request())
