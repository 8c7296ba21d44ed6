"""Answers of the Messages protocol, from plain words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from agentkit_providers.replay._answer import Answer


def text(
    words: str,
    *,
    reasoning: str | None = None,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "end_turn",
    model: str = "replayed",
) -> Answer:
    """Make an answer that says something, streamed word by word, or whole if asked so.

    Args:
        words: What the model says.
        reasoning: What it thinks before, in a signed thinking block.
        usage: Tokens of prompt and completion; None reports none.
        finish: The stop reason.
        model: The model that says to have answered.
    """
    blocks = [*_thought(reasoning), *_said(words)]
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
    """Make an answer that calls tools, the arguments streamed in pieces.

    Args:
        calls: Names and arguments, in order.
        said: What the model says before it calls.
        reasoning: What it thinks before that, in a signed thinking block.
        ids: The calls' ids; `toolu_1`, `toolu_2`, … by default.
        usage: Tokens of prompt and completion; None reports none.
        finish: The stop reason.
        model: The model that says to have answered.
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
    blocks = [*_thought(reasoning), *_said(said), *uses]
    return message(blocks, usage=usage, finish=finish, model=model)


def message(
    blocks: Sequence[Mapping[str, Any]],
    *,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "end_turn",
    model: str = "replayed",
) -> Answer:
    """Make an answer of content blocks, as a whole answer has them.

    Args:
        blocks: The blocks; texts, thinking and arguments are streamed in pieces, others at once.
        usage: Tokens of prompt and completion; None reports none.
        finish: The stop reason.
        model: The model that says to have answered.
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
    events = [{"type": "message_start", "message": begun}, *_streamed(blocks)]
    stream = _events(*events, last, {"type": "message_stop"})
    return replace(stream, whole=json.dumps(whole).encode())


def error_in_stream(error: Mapping[str, Any], *, after: str = "") -> Answer:
    """Make a stream that says something and then reports an error instead of an end."""
    begun = {"id": "msg_replay", "model": "replayed", "content": []}
    events = [{"type": "message_start", "message": begun}, *_streamed(_said(after))]
    return _events(*events, {"type": "error", "error": dict(error)})


def _events(*events: Mapping[str, Any]) -> Answer:
    """Make a stream whose events have the names that the vendor gives them."""
    pieces = (f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)
    return Answer(pieces=tuple(pieces))


def _said(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}] if words else []


def _thought(reasoning: str | None) -> list[dict[str, Any]]:
    if reasoning is None:
        return []
    return [{"type": "thinking", "thinking": reasoning, "signature": "c2lnbmVk"}]


def _streamed(blocks: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for index, block in enumerate(blocks):
        begun, deltas = dict(block), list[dict[str, Any]]()
        match block["type"]:
            case "text":
                begun["text"] = ""
                deltas = [{"type": "text_delta", "text": word} for word in _words(block["text"])]
            case "thinking":
                begun |= {"thinking": "", "signature": ""}
                deltas = [
                    {"type": "thinking_delta", "thinking": word}
                    for word in _words(block["thinking"])
                ]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            case "tool_use":
                begun["input"] = {}
                deltas = [
                    {"type": "input_json_delta", "partial_json": piece}
                    for piece in ("", *_halves(json.dumps(block["input"])))
                ]
            case _:
                pass
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}


def _words(said: str) -> list[str]:
    """Cut before each word, so that the pieces join to the same text."""
    return re.findall(r"\s?\S+|\s+", said)


def _halves(arguments: str) -> list[str]:
    middle = len(arguments) // 2
    return [half for half in (arguments[:middle], arguments[middle:]) if half]
