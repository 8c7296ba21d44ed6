"""generateContent, by hand: bodies as Google sends them, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agentkit_core import ModelRequest, ModelResponse, ToolSpec
from agentkit_core.provider import ModelEvent
from agentkit_providers.google_generate import GoogleGenerate
from support.decoding import events_of, read_body


def request(*tools: str, streamed: bool = True, model: str = "m") -> ModelRequest:
    """A request that offers tools of these names."""
    return ModelRequest(
        model=model, tools=tuple(ToolSpec(name) for name in tools), streamed=streamed
    )


def response(
    *parts: dict[str, Any],
    finish: str | None = None,
    usage: dict[str, Any] | None = None,
    index: int | None = 0,
    **beside: Any,
) -> dict[str, Any]:
    """One response: a whole response, or what a stream brings at once."""
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, **beside}
    if index is not None:
        candidate["index"] = index
    if finish is not None:
        candidate["finishReason"] = finish
    body: dict[str, Any] = {"candidates": [candidate], "responseId": "r1", "modelVersion": "m-1"}
    if usage is not None:
        body["usageMetadata"] = usage
    return body


def text(words: str, **fields: Any) -> dict[str, Any]:
    """A part with a text."""
    return {"text": words, **fields}


def call(name: str | None = None, signature: str | None = None, **fields: Any) -> dict[str, Any]:
    """A part with a call, or a piece of one."""
    part: dict[str, Any] = {"functionCall": {**({} if name is None else {"name": name}), **fields}}
    if signature is not None:
        part["thoughtSignature"] = signature
    return part


def partial(path: str, more: bool = True, **value: Any) -> dict[str, Any]:
    """A part with one value of a call whose arguments are streamed."""
    return call(partialArgs=[{"jsonPath": path, **value}], willContinue=more)


def stream(*responses: dict[str, Any] | bytes) -> bytes:
    """The body of a stream of events, with the vendor's line ends."""
    payloads = [
        value if isinstance(value, bytes) else json.dumps(value).encode() for value in responses
    ]
    return b"".join(b"data: " + payload + b"\r\n\r\n" for payload in payloads)


def array(*responses: dict[str, Any]) -> bytes:
    """The body of a stream that is one JSON array."""
    return (
        b"[" + b",\r\n".join(json.dumps(value, indent=1).encode() for value in responses) + b"\n]\n"
    )


def whole(*parts: dict[str, Any], finish: str | None = "STOP", **fields: Any) -> bytes:
    """The body of a whole response."""
    return json.dumps(response(*parts, finish=finish, **fields), indent=2).encode()


def read(body: bytes, asked: ModelRequest | None = None, *, end_mark: bool = True) -> ModelResponse:
    """Decode a body; the laws of decoders are checked on the way."""
    return read_body(GoogleGenerate(), body, asked or request(), end_mark=end_mark)


def events(
    body: bytes | Sequence[bytes], asked: ModelRequest | None = None
) -> tuple[ModelEvent, ...]:
    """The events of a body, or of its pieces."""
    return events_of(GoogleGenerate(), body, asked or request())
