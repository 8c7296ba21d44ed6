"""The wire protocols as a table: how a body is decoded, and what good answers look like."""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import ModuleType
from typing import Any, NamedTuple

from agentkit_core import Item, ModelRequest, ModelResponse, ToolSpec
from agentkit_core.provider import ModelEvent, fold_response
from agentkit_providers.endpoints import default_registry
from agentkit_providers.replay import (
    Answer,
    anthropic_messages,
    google_generate,
    openai_chat,
    openai_responses,
)

TOOL = ToolSpec("get_weather", "Tells the weather.", {"type": "object", "properties": {}})


class Protocol(NamedTuple):
    """A protocol: a vendor that speaks it, and how its answers are made."""

    provider: str
    answers: ModuleType


PROTOCOLS = {
    "openai_chat": Protocol("compatible", openai_chat),
    "openai_responses": Protocol("openai-responses", openai_responses),
    "anthropic_messages": Protocol("anthropic", anthropic_messages),
    "google_generate": Protocol("google", google_generate),
}


def decode(api: str, pieces: Iterable[bytes], *, streamed: bool = True) -> list[ModelEvent]:
    """All events of a body, in a stream or whole."""
    projection: Any = default_registry.projection(default_registry.get(PROTOCOLS[api].provider))
    request = ModelRequest(model="m", items=(Item.user("hi"),), tools=(TOOL,), streamed=streamed)
    decoder = projection.decoder(request)
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return [*events, *decoder.finish()]


def read(api: str, *payloads: Any) -> ModelResponse:
    """The response of a stream of payloads: texts and bytes as they are, others as JSON."""
    return fold_response(decode(api, stream(*payloads)), strict=True)


def read_whole(api: str, body: Any) -> ModelResponse:
    """The response of a whole body: bytes as they are, others as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return fold_response(decode(api, [data], streamed=False), strict=True)


def stream(*payloads: Any) -> list[bytes]:
    """The events of a stream, one for each payload."""
    return [b"data: " + _encode(payload) + b"\n\n" for payload in payloads]


def _encode(payload: Any) -> bytes:
    if isinstance(payload, bytes):
        return payload
    return payload.encode() if isinstance(payload, str) else json.dumps(payload).encode()


def answers(api: str) -> list[Answer]:
    """Good answers of a protocol: a text after reasoning, and calls."""
    replay = PROTOCOLS[api].answers
    return [
        replay.text("hello there", reasoning="hm"),
        replay.tool_calls([("get_weather", {"city": "Oslo"}), ("get_weather", {})], said="wait"),
    ]


def payloads_of(answer: Answer) -> list[Any]:
    """The payloads of a streamed answer: JSON values, and texts that are not JSON."""
    return [_decode(piece.partition(b"data: ")[2].strip()) for piece in answer.pieces]


def _decode(payload: bytes) -> Any:
    try:
        return json.loads(payload)
    except ValueError:
        return payload.decode()
