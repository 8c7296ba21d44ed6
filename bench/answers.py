"""What the model server answers: streams of two protocols, encoded in advance, an event each.

A dialect is `openai` (Chat Completions) or `anthropic` (Messages).
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Literal

Dialect = Literal["openai", "anthropic"]

FRAGMENTS = (" the", " answer", " to", " life", ",", " uni", "verse", " naïve", ' "quoted"', "\n")
SHORT = 10
"""Text deltas of the answer after the last tool round."""
LONG = "lorem ipsum dolor sit amet " * 400
"""One delta of a large answer: 10.8 KB."""
MARK = "@" * 6
"""Stands for the number of a session, until the answer is sent."""
CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "bench"}


def fragments(count: int) -> list[str]:
    return [FRAGMENTS[n % len(FRAGMENTS)] for n in range(count)]


def text(count: int, mark: str = "") -> str:
    """Return an answer in `count` text deltas, each of which begins with `mark`."""
    period = [mark + fragment for fragment in FRAGMENTS]
    times, rest = divmod(count, len(period))
    return "".join(period) * times + "".join(period[:rest])


def mark(session: int) -> str:
    """Return what each delta of a session's own answer begins with."""
    return f"{session:0{len(MARK)}}"


@lru_cache(maxsize=512)
def text_events(dialect: Dialect, count: int, mark: str = "") -> tuple[bytes, ...]:
    """Return an answer of one text, in `count` deltas, each of which begins with `mark`."""
    pieces = [mark + fragment for fragment in fragments(count)]
    if dialect == "openai":
        texts = [_chat({"content": piece}) for piece in pieces]
        return (_chat({"role": "assistant", "content": ""}), *texts, *_chat_end("stop"))
    texts = [_block_delta(0, {"type": "text_delta", "text": piece}) for piece in pieces]
    block = _block_start(0, {"type": "text", "text": ""})
    return (_message_start(), block, *texts, _block_stop(0), *_message_end("end_turn"))


@lru_cache(maxsize=2)
def large_events(dialect: Dialect, count: int) -> tuple[bytes, ...]:
    """Return an answer of one text, in `count` deltas of `LONG`."""
    if dialect == "openai":
        return (*[_chat({"content": LONG})] * count, *_chat_end("stop"))
    block = _block_start(0, {"type": "text", "text": ""})
    texts = [_block_delta(0, {"type": "text_delta", "text": LONG})] * count
    return (_message_start(), block, *texts, _block_stop(0), *_message_end("end_turn"))


@lru_cache(maxsize=512)
def write_events(dialect: Dialect, count: int) -> tuple[bytes, ...]:
    """Return a call of `write`, whose arguments come in `count` deltas."""
    inside = [json.dumps(text, ensure_ascii=False)[1:-1] for text in fragments(count - 2)]
    return _calls(
        dialect, [("call_w", "write", ['{"path":"notes.txt","content":"', *inside, '"}'])]
    )


@lru_cache(maxsize=512)
def round_events(dialect: Dialect, number: int, parallel: int) -> tuple[bytes, ...]:
    """Return the calls of `add` of one tool round."""
    return _calls(
        dialect,
        [
            (f"call_{number}_{index}", "add", ['{"a":', str(number), ',"b":', f"{index}}}"])
            for index in range(parallel)
        ],
    )


def _calls(dialect: Dialect, calls: list[tuple[str, str, list[str]]]) -> tuple[bytes, ...]:
    events = [] if dialect == "openai" else [_message_start()]
    for index, (call_id, name, arguments) in enumerate(calls):
        if dialect == "openai":
            head = {"id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
            pieces = [{"index": index, **head}]
            pieces += [{"index": index, "function": {"arguments": text}} for text in arguments]
            events += [_chat({"tool_calls": [piece]}) for piece in pieces]
        else:
            events.append(
                _block_start(index, {"type": "tool_use", "id": call_id, "name": name, "input": {}})
            )
            events += [
                _block_delta(index, {"type": "input_json_delta", "partial_json": text})
                for text in arguments
            ]
            events.append(_block_stop(index))
    end = _chat_end("tool_calls") if dialect == "openai" else _message_end("tool_use")
    return (*events, *end)


def _chat(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return _data({**CHUNK, "choices": [choice]})


def _chat_end(finish: str) -> tuple[bytes, ...]:
    usage = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}
    last = _data({**CHUNK, "choices": [], "usage": usage})
    return _chat({}, finish), last, b"data: [DONE]\n\n"


def _message_start() -> bytes:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "bench"}
    usage = {"input_tokens": 10, "output_tokens": 1}
    return _event({"type": "message_start", "message": {**message, "content": [], "usage": usage}})


def _message_end(reason: str) -> tuple[bytes, ...]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    change = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}}
    return _event(change), _event({"type": "message_stop"})


def _block_start(index: int, block: dict[str, Any]) -> bytes:
    return _event({"type": "content_block_start", "index": index, "content_block": block})


def _block_delta(index: int, delta: dict[str, Any]) -> bytes:
    return _event({"type": "content_block_delta", "index": index, "delta": delta})


def _block_stop(index: int) -> bytes:
    return _event({"type": "content_block_stop", "index": index})


def _event(body: dict[str, Any]) -> bytes:
    return f"event: {body['type']}\n".encode() + _data(body)


def _data(body: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"
