"""Answers written by hand, in the format of the corpus, for what no recording has.

They follow the vendors' references; each names what it is for.
"""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

from providers.recorded.exchanges import Exchange

_BYTES = b64encode(b"some bytes").decode()
_USAGE = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}


def handmade() -> list[Exchange]:
    """All of them, each made anew."""
    by_address = {"type": "image_url", "image_url": "https://a.b/c.png"}
    png, pdf = ({"mimeType": kind, "data": _BYTES} for kind in ("image/png", "application/pdf"))
    custom_call = {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "SELECT 1"}
    image_call = {"type": "image_generation_call", "result": _BYTES, "output_format": "webp"}
    too_long = {
        "message": "prompt is too long: 210000 tokens > 200000 maximum",
        "type": "invalid_request_error",
        "param": "messages",
    }
    aggregated = {"message": "Provider returned error", "metadata": {"raw": "model overloaded\n"}}
    return [
        _chat("audio", {"audio": {"id": "audio_1", "data": _BYTES, "transcript": "Hello."}}),
        _chat("image by value", {"content": "Here:", "images": [_image(_BYTES)]}),
        _chat("image by address", {"content": [by_address]}),
        _chat("block of the vendor", {"content": [{"type": "reference", "reference_ids": [1]}]}),
        _chat("cost", {"content": "hi"}, vendor="openrouter", usage={**_USAGE, "cost": 0.25}),
        _chat("failed finish", {"content": "so"}, finish="network_error"),
        _responses("custom call", {**custom_call, "id": "ctc_1"}),
        _responses("image", {**image_call, "id": "ig_1"}),
        _generate("thought image", {"thought": True, "inlineData": png, "thoughtSignature": "c2l"}),
        _generate("image", {"inlineData": png}),
        _generate("document", {"inlineData": pdf}),
        _generate("video by address", {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://a"}}),
        _generate("failed finish", finish="MALFORMED_FUNCTION_CALL", message="print(add(1,"),
        _broken_off(),
        _http_error("context", 400, too_long),
        _http_error("moment", 503, {"message": "Later."}, "Wed, 21 Oct 2026 07:28:00 GMT"),
        _http_error("behind an aggregator", 502, aggregated),
        _http_error("long message", 500, {"message": "no " * 1000}),
        _http_error("long", 500, {"message": "no", "trace": "x" * 9000}),
    ]


def _exchange(name: str, protocol: str, vendor: str, **more: Any) -> Exchange:
    return {
        "id": f"handmade: {name}",
        "protocol": protocol,
        "vendor": vendor,
        "model": "a-model",
        "request": {},
        "status": 200,
        "streamed": "sse" in more,
        "expected": {},
        **more,
    }


def _image(base64: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64}"}}


def _chat(
    name: str,
    message: dict[str, Any],
    *,
    vendor: str = "openai",
    usage: dict[str, Any] = _USAGE,
    finish: str = "stop",
) -> Exchange:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    answer = {"id": "chat-1", "model": "a-model-1", "choices": [choice], "usage": usage}
    return _exchange(name, "openai-chat", vendor, response=answer)


def _responses(name: str, item: dict[str, Any]) -> Exchange:
    answer = {
        "id": "resp_1",
        "object": "response",
        "model": "a-model-1",
        "status": "completed",
        "output": [item],
        "usage": {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12},
    }
    return _exchange(name, "openai-responses", "openai", response=answer)


def _generate(
    name: str, *parts: dict[str, Any], finish: str = "STOP", message: str | None = None
) -> Exchange:
    candidate = {"content": {"parts": list(parts)}, "finishReason": finish}
    if message is not None:
        candidate["finishMessage"] = message
    answer = {"responseId": "r1", "modelVersion": "a-model-1", "candidates": [candidate]}
    return _exchange(name, "google-generate", "google", response=answer)


def _broken_off() -> Exchange:
    """A Messages stream that ends with an error in the middle of a call's arguments."""
    message = {"id": "msg_1", "model": "a-model-1", "content": [], "usage": {"input_tokens": 5}}
    block = {"type": "tool_use", "id": "t1", "name": "add", "input": {}}
    piece = {"type": "input_json_delta", "partial_json": '{"a": '}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": piece},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ]
    sse = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return _exchange("broken off", "anthropic-messages", "anthropic", sse=sse)


def _http_error(
    name: str, status: int, error: dict[str, Any], retry_after: str | None = None
) -> Exchange:
    wait = {} if retry_after is None else {"retry_after": retry_after}
    body = {"error": error}
    return _exchange(name, "openai-chat", "openai", status=status, response=body, **wait)
