"""Compares the cost of decoding an event, for each protocol, with the least possible cost.

The floor is a minimal SSE split and one typed msgspec decode per event. Both get one event per
read, as from an HTTP client. There is no network; times are CPU time, the best of five runs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from answers import fragments
from msgspec import Struct

from agentkit_core import ModelRequest
from agentkit_core.provider import ResponseFold
from agentkit_providers import Endpoint
from agentkit_providers.endpoints import default_registry

EVENTS = 20_000
RUNS = 5


class ChatDelta(Struct):
    content: str | None = None


class ChatChoice(Struct):
    delta: ChatDelta


class ChatChunk(Struct):
    choices: list[ChatChoice]


class ResponsesEvent(Struct):
    type: str
    delta: Any = None


class MessagesDelta(Struct):
    text: str | None = None


class MessagesEvent(Struct):
    type: str
    delta: MessagesDelta | None = None


class GooglePart(Struct):
    text: str | None = None


class GoogleContent(Struct):
    parts: list[GooglePart]


class GoogleCandidate(Struct):
    content: GoogleContent


class GoogleChunk(Struct):
    candidates: list[GoogleCandidate]


def chat(word: str) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": word}, "logprobs": None, "finish_reason": None}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice]}


def responses(word: str) -> dict[str, Any]:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    return {"type": "response.output_text.delta", **place, "delta": word, "sequence_number": 5}


def messages(word: str) -> dict[str, Any]:
    delta = {"type": "text_delta", "text": word}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def google(word: str) -> dict[str, Any]:
    content = {"parts": [{"text": word}], "role": "model"}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 9, "totalTokenCount": 14}
    head = {"modelVersion": "m", "responseId": "r"}
    return {"candidates": [{"content": content, "index": 0}], "usageMetadata": usage, **head}


def opening(api: str) -> list[dict[str, Any]]:
    """Return the events before the first word."""
    match api:
        case "openai_responses":
            item = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
            part = {"type": "output_text", "text": "", "annotations": []}
            return [
                {"type": "response.created", "response": {"id": "r", "model": "m", "output": []}},
                {"type": "response.output_item.added", "output_index": 0, "item": item},
                {
                    "type": "response.content_part.added",
                    "output_index": 0,
                    "content_index": 0,
                    "part": part,
                },
            ]
        case "anthropic_messages":
            message = {"id": "m", "role": "assistant", "content": [], "model": "m", "usage": {}}
            block = {"type": "text", "text": ""}
            return [
                {"type": "message_start", "message": message},
                {"type": "content_block_start", "index": 0, "content_block": block},
            ]
        case _:
            return []


PROTOCOLS: dict[str, tuple[Callable[[str], dict[str, Any]], type[Struct]]] = {
    "openai_chat": (chat, ChatChunk),
    "openai_responses": (responses, ResponsesEvent),
    "anthropic_messages": (messages, MessagesEvent),
    "google_generate": (google, GoogleChunk),
}


def frame(event: dict[str, Any]) -> bytes:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def floor(reads: list[bytes], shape: type[Struct]) -> None:
    decode = msgspec.json.Decoder(shape).decode
    chunks = []
    for read in reads:
        for line in read.split(b"\n"):
            if line.startswith(b"data: "):
                chunks.append(decode(line[6:]))


def ours(api: str, reads: list[bytes]) -> None:
    projection = default_registry.projection(Endpoint(name="bench", api=api))
    decoder = projection.decoder(ModelRequest(model="m"))
    folding = ResponseFold()
    for read in reads:
        folding.feed(decoder.feed(read))
    text = folding.partial().item.text
    assert text == "".join(fragments(EVENTS)), f"{api} lost text"


def best(job: Callable[[], None]) -> float:
    """Return the CPU seconds of the best run."""
    spent = []
    for _ in range(RUNS):
        before = time.process_time()
        job()
        spent.append(time.process_time() - before)
    return min(spent)


def main() -> None:
    for api, (make_event, shape) in PROTOCOLS.items():
        first = [frame(event) for event in opening(api)]
        reads = first + [frame(make_event(word)) for word in fragments(EVENTS)]
        least = best(partial(floor, reads, shape)) / EVENTS * 1e6
        cost = best(partial(ours, api, reads)) / EVENTS * 1e6
        print(
            f"{api}: floor {least:.2f}, agentkit {cost:.2f} µs per event, ratio {cost / least:.2f}"
        )


if __name__ == "__main__":
    main()
