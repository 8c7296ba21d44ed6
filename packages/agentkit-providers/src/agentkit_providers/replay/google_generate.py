"""Answers in the generateContent protocol, made from plain words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentkit_providers.replay._answer import Answer
from agentkit_providers.replay._pieces import split_words

SIGNATURE: Final = "c2lnbmF0dXJl"
"""The thought signature of answers by default; base64, as all signatures are."""

_Part = dict[str, Any]


def text(
    words: str,
    *,
    reasoning: str | None = None,
    signature: str | None = None,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "STOP",
    model: str = "replayed",
) -> Answer:
    """Make an answer with a text; streamed word by word where the request asks for a stream.

    Args:
        words: The text.
        reasoning: The reasoning before it, as parts marked `thought`.
        signature: A thought signature; it comes last, on a part with an empty text.
        usage: Tokens of prompt and candidates; None for no report.
        finish: The finish reason.
        model: The name of the model in the answer.
    """
    pieces = [{"text": word, "thought": True} for word in split_words(reasoning or "")]
    pieces += [{"text": word} for word in split_words(words)]
    whole: list[_Part] = [] if reasoning is None else [{"text": reasoning, "thought": True}]
    whole.append({"text": words})
    signed: list[_Part] = []
    if signature is not None:
        signed = [{"text": "", "thoughtSignature": signature}]
    return _answer([*pieces, *signed], [*whole, *signed], usage=usage, finish=finish, model=model)


def tool_calls(
    calls: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    said: str = "",
    ids: Sequence[str] | None = None,
    signature: str | None = SIGNATURE,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "STOP",
    model: str = "replayed",
) -> Answer:
    """Make an answer with tool calls, each of them whole, as the vendor sends them.

    Args:
        calls: Names and arguments of the calls, in order.
        said: A text before the calls.
        ids: The calls' ids; none by default, as many of the vendor's models give none.
        signature: The thought signature, on the first call; None for none.
        usage: Tokens of prompt and candidates; None for no report.
        finish: The finish reason, which is the same as for any other answer.
        model: The name of the model in the answer.
    """
    called: list[_Part] = []
    for number, (name, arguments) in enumerate(calls):
        call: dict[str, Any] = {"name": name, "args": dict(arguments)}
        if ids is not None:
            call["id"] = ids[number]
        called.append({"functionCall": call})
    if called and signature is not None:
        called[0]["thoughtSignature"] = signature
    pieces: list[_Part] = [{"text": word} for word in split_words(said)]
    whole: list[_Part] = [{"text": said}] if said else []
    return _answer([*pieces, *called], [*whole, *called], usage=usage, finish=finish, model=model)


def error_in_stream(error: Mapping[str, Any], *, after: str = "") -> Answer:
    """Make a stream that ends with an error.

    Args:
        error: The vendor's error object.
        after: A text before the error; empty for none.
    """
    responses = [_response([{"text": word}], "replayed") for word in split_words(after)]
    return _events([*responses, {"error": dict(error)}])


def _answer(
    pieces: Sequence[_Part],
    parts: Sequence[_Part],
    *,
    usage: tuple[int, int] | None,
    finish: str,
    model: str,
) -> Answer:
    events = [_response([piece], model) for piece in pieces[:-1]]
    last = _response(pieces[-1:], model, finish, usage)
    whole = _response(parts, model, finish, usage)
    return _events([*events, last], whole=json.dumps(whole).encode())


def _response(
    parts: Sequence[_Part],
    model: str,
    finish: str | None = None,
    usage: tuple[int, int] | None = None,
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    response: dict[str, Any] = {"candidates": [candidate]}
    if usage is not None:
        prompt, answer = usage
        response["usageMetadata"] = {
            "promptTokenCount": prompt,
            "candidatesTokenCount": answer,
            "totalTokenCount": prompt + answer,
        }
    return {**response, "modelVersion": model, "responseId": "replay"}


def _events(responses: Sequence[Mapping[str, Any]], *, whole: bytes | None = None) -> Answer:
    """Write a stream with the vendor's line ends, CR and LF."""
    pieces = (b"data: " + json.dumps(event).encode() + b"\r\n\r\n" for event in responses)
    return Answer(pieces=tuple(pieces), whole=whole)
