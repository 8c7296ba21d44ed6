"""Answers of the Chat Completions protocol, from plain words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from agentkit_providers.replay._answer import Answer

DONE: Final = "[DONE]"
"""The data of the event that ends a stream."""


def text(
    words: str,
    *,
    reasoning: str | None = None,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "stop",
    model: str = "replayed",
) -> Answer:
    """Make an answer that says something, streamed word by word, or whole if asked so.

    Args:
        words: What the model says.
        reasoning: What it thinks before, in `reasoning_content`.
        usage: Tokens of prompt and completion; None reports none.
        finish: The finish reason.
        model: The model that says to have answered.
    """
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": word} for word in _words(reasoning or "")]
    deltas += [{"content": word} for word in _words(words)]
    message: dict[str, Any] = {"role": "assistant", "content": words}
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    return _answer(deltas, message, usage=usage, finish=finish, model=model)


def tool_calls(
    calls: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    said: str = "",
    ids: Sequence[str] | None = None,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "tool_calls",
    model: str = "replayed",
) -> Answer:
    """Make an answer that calls tools, the arguments streamed in pieces.

    Args:
        calls: Names and arguments, in order.
        said: What the model says before it calls.
        ids: The calls' ids; `call_1`, `call_2`, … by default.
        usage: Tokens of prompt and completion; None reports none.
        finish: The finish reason.
        model: The model that says to have answered.
    """
    whole: list[dict[str, Any]] = [
        {
            "id": ids[number] if ids else f"call_{number + 1}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    deltas += [{"content": word} for word in _words(said)]
    for number, call in enumerate(whole):
        function = call["function"]
        begun = {"index": number, **call, "function": {**function, "arguments": ""}}
        deltas.append({"tool_calls": [begun]})
        for piece in _halves(function["arguments"]):
            grown = {"index": number, "function": {"arguments": piece}}
            deltas.append({"tool_calls": [grown]})
    message = {"role": "assistant", "content": said or None, "tool_calls": whole}
    return _answer(deltas, message, usage=usage, finish=finish, model=model)


def error_in_stream(error: Mapping[str, Any], *, after: str = "") -> Answer:
    """Make a stream that says something and then reports an error instead of an end."""
    said = [_chunk({"content": word}, "replayed") for word in _words(after)]
    return Answer.events(*said, {"error": dict(error)})


def _answer(
    deltas: Iterable[Mapping[str, Any]],
    message: Mapping[str, Any],
    *,
    usage: tuple[int, int] | None,
    finish: str,
    model: str,
) -> Answer:
    events: list[Any] = [_chunk(delta, model) for delta in deltas]
    events.append(_chunk({}, model, finish))
    whole: dict[str, Any] = {
        "id": "chatcmpl-replay",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if usage is not None:
        prompt, completion = usage
        counts = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
        events.append({**_chunk({}, model), "choices": [], "usage": counts})
        whole["usage"] = counts
    return replace(Answer.events(*events, DONE), whole=json.dumps(whole).encode())


def _chunk(delta: Mapping[str, Any], model: str, finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-replay",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _words(said: str) -> list[str]:
    """Cut before each word, so that the pieces join to the same text."""
    return re.findall(r"\s?\S+|\s+", said)


def _halves(arguments: str) -> list[str]:
    middle = len(arguments) // 2
    return [half for half in (arguments[:middle], arguments[middle:]) if half]
