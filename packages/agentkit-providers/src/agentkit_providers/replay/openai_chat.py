"""Answers in the Chat Completions protocol, made from plain words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from agentkit_providers.replay._answer import Answer
from agentkit_providers.replay._pieces import split_halves, split_words

DONE: Final = "[DONE]"
"""The payload that ends a stream."""


def text(
    words: str,
    *,
    reasoning: str | None = None,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "stop",
    model: str = "replayed",
) -> Answer:
    """Make an answer with a text; streamed word by word where the request asks for a stream.

    Args:
        words: The text.
        reasoning: The reasoning before it, in `reasoning_content`.
        usage: Tokens of prompt and completion; None for no report.
        finish: The finish reason.
        model: The name of the model in the answer.
    """
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": word} for word in split_words(reasoning or "")]
    deltas += [{"content": word} for word in split_words(words)]
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
    """Make an answer with tool calls, their arguments streamed in pieces.

    Args:
        calls: Names and arguments of the calls, in order.
        said: A text before the calls.
        ids: The calls' ids; `call_1`, `call_2`, … by default.
        usage: Tokens of prompt and completion; None for no report.
        finish: The finish reason.
        model: The name of the model in the answer.
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
    deltas += [{"content": word} for word in split_words(said)]
    for number, call in enumerate(whole):
        function = call["function"]
        begun = {"index": number, **call, "function": {**function, "arguments": ""}}
        deltas.append({"tool_calls": [begun]})
        for piece in split_halves(function["arguments"]):
            grown = {"index": number, "function": {"arguments": piece}}
            deltas.append({"tool_calls": [grown]})
    message = {"role": "assistant", "content": said or None, "tool_calls": whole}
    return _answer(deltas, message, usage=usage, finish=finish, model=model)


def error_in_stream(error: Mapping[str, Any], *, after: str = "") -> Answer:
    """Make a stream that ends with an error.

    Args:
        error: The vendor's error object.
        after: A text before the error; empty for none.
    """
    chunks = [_chunk({"content": word}, "replayed") for word in split_words(after)]
    return Answer.events(*chunks, {"error": dict(error)})


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
