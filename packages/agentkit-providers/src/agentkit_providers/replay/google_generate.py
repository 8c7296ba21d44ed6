"""Answers of the generateContent protocol, from plain words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentkit_providers.replay._answer import Answer

SIGNATURE: Final = "c2lnbmF0dXJl"
"""The thought signature that answers carry unless told otherwise; base64, as all of them are."""

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
    """Make an answer that says something, streamed word by word, or whole if asked so.

    Args:
        words: What the model says.
        reasoning: What it thinks before, as parts marked `thought`.
        signature: A thought signature; it comes last, on a part with an empty text.
        usage: Tokens of prompt and candidates; None reports none.
        finish: The finish reason.
        model: The model that says to have answered.
    """
    pieces = [{"text": word, "thought": True} for word in _words(reasoning or "")]
    pieces += [{"text": word} for word in _words(words)]
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
    """Make an answer that calls tools; each call comes whole, as the vendor sends them.

    Args:
        calls: Names and arguments, in order.
        said: What the model says before it calls.
        ids: The calls' ids; none by default, as many of the vendor's models give none.
        signature: The thought signature, on the first call; None for none.
        usage: Tokens of prompt and candidates; None reports none.
        finish: The finish reason, which is the same as for any other answer.
        model: The model that says to have answered.
    """
    called: list[_Part] = []
    for number, (name, arguments) in enumerate(calls):
        call: dict[str, Any] = {"name": name, "args": dict(arguments)}
        if ids is not None:
            call["id"] = ids[number]
        called.append({"functionCall": call})
    if called and signature is not None:
        called[0]["thoughtSignature"] = signature
    pieces: list[_Part] = [{"text": word} for word in _words(said)]
    whole: list[_Part] = [{"text": said}] if said else []
    return _answer([*pieces, *called], [*whole, *called], usage=usage, finish=finish, model=model)


def error_in_stream(error: Mapping[str, Any], *, after: str = "") -> Answer:
    """Make a stream that says something and then reports an error instead of an end."""
    said = [_response([{"text": word}], "replayed") for word in _words(after)]
    return _events([*said, {"error": dict(error)}])


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
    """Write a stream as the vendor does, whose lines end with CR and LF."""
    pieces = (b"data: " + json.dumps(one).encode() + b"\r\n\r\n" for one in responses)
    return Answer(pieces=tuple(pieces), whole=whole)


def _words(said: str) -> list[str]:
    """Cut before each word, so that the pieces join to the same text."""
    return re.findall(r"\s?\S+|\s+", said)
