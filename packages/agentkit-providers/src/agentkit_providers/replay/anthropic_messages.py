"""Answers in the Messages protocol, made from plain words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from agentkit_providers.replay._answer import Answer
from agentkit_providers.replay._pieces import split_halves, split_words


def text(
    words: str,
    *,
    reasoning: str | None = None,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "end_turn",
    model: str = "replayed",
) -> Answer:
    """Make an answer with a text; streamed word by word where the request asks for a stream.

    Args:
        words: The text.
        reasoning: The reasoning before it, in a signed thinking block.
        usage: Tokens of prompt and completion; None for no report.
        finish: The stop reason.
        model: The name of the model in the answer.
    """
    blocks = [*_thinking_blocks(reasoning), *_text_blocks(words)]
    return message(blocks, usage=usage, finish=finish, model=model)


def tool_calls(
    calls: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    said: str = "",
    reasoning: str | None = None,
    ids: Sequence[str] | None = None,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "tool_use",
    model: str = "replayed",
) -> Answer:
    """Make an answer with tool calls, their arguments streamed in pieces.

    Args:
        calls: Names and arguments of the calls, in order.
        said: A text before the calls.
        reasoning: The reasoning before that, in a signed thinking block.
        ids: The calls' ids; `toolu_1`, `toolu_2`, … by default.
        usage: Tokens of prompt and completion; None for no report.
        finish: The stop reason.
        model: The name of the model in the answer.
    """
    uses = [
        {
            "type": "tool_use",
            "id": ids[number] if ids else f"toolu_{number + 1}",
            "name": name,
            "input": dict(arguments),
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    blocks = [*_thinking_blocks(reasoning), *_text_blocks(said), *uses]
    return message(blocks, usage=usage, finish=finish, model=model)


def message(
    blocks: Sequence[Mapping[str, Any]],
    *,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "end_turn",
    model: str = "replayed",
) -> Answer:
    """Make an answer of content blocks.

    Args:
        blocks: The blocks, as a whole answer has them. Texts, thinking and arguments are streamed
            in pieces, others in one piece.
        usage: Tokens of prompt and completion; None for no report.
        finish: The stop reason.
        model: The name of the model in the answer.
    """
    begun: dict[str, Any] = {
        "id": "msg_replay",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    end: dict[str, Any] = {"stop_reason": finish, "stop_sequence": None}
    last: dict[str, Any] = {"type": "message_delta", "delta": end}
    whole = {**begun, **end, "content": list(blocks)}
    if usage is not None:
        prompt, completion = usage
        begun["usage"] = {"input_tokens": prompt, "output_tokens": 1}
        last["usage"] = {"output_tokens": completion}
        whole["usage"] = {"input_tokens": prompt, "output_tokens": completion}
    events = [{"type": "message_start", "message": begun}, *_block_events(blocks)]
    stream = _events(*events, last, {"type": "message_stop"})
    return replace(stream, whole=json.dumps(whole).encode())


def error_in_stream(error: Mapping[str, Any], *, after: str = "") -> Answer:
    """Make a stream that ends with an error.

    Args:
        error: The vendor's error object.
        after: A text before the error; empty for none.
    """
    begun = {"id": "msg_replay", "model": "replayed", "content": []}
    events = [{"type": "message_start", "message": begun}, *_block_events(_text_blocks(after))]
    return _events(*events, {"type": "error", "error": dict(error)})


def _events(*events: Mapping[str, Any]) -> Answer:
    """Make a stream whose events are named as the vendor names them."""
    pieces = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)
    return Answer(pieces=tuple(pieces))


def _text_blocks(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}] if words else []


def _thinking_blocks(reasoning: str | None) -> list[dict[str, Any]]:
    if reasoning is None:
        return []
    return [{"type": "thinking", "thinking": reasoning, "signature": "c2lnbmVk"}]


def _block_events(blocks: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for index, block in enumerate(blocks):
        begun, deltas = dict(block), list[dict[str, Any]]()
        match block["type"]:
            case "text":
                begun["text"] = ""
                words = split_words(block["text"])
                deltas = [{"type": "text_delta", "text": word} for word in words]
            case "thinking":
                begun |= {"thinking": "", "signature": ""}
                deltas = [
                    {"type": "thinking_delta", "thinking": word}
                    for word in split_words(block["thinking"])
                ]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            case "tool_use":
                begun["input"] = {}
                deltas = [
                    {"type": "input_json_delta", "partial_json": piece}
                    for piece in ("", *split_halves(json.dumps(block["input"])))
                ]
            case _:
                pass
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
