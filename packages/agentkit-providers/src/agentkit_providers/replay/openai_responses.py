"""Answers of the Responses protocol, from plain words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from agentkit_providers.replay._answer import Answer

_RESPONSE_ID: Final = "resp_replay"


def text(
    words: str,
    *,
    reasoning: str | None = None,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "completed",
    model: str = "replayed",
) -> Answer:
    """Make an answer that says something, streamed word by word, or whole if asked so.

    Args:
        words: What the model says.
        reasoning: The summary of what it thinks before; the thoughts themselves are encrypted.
        usage: Tokens of prompt and answer; None reports none.
        finish: The status that the answer ends with; `incomplete` is for the limit on the output.
        model: The model that says to have answered.
    """
    output = [*_reasoning(reasoning), *_message(words)]
    return response(output, usage=usage, finish=finish, model=model)


def tool_calls(
    calls: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    said: str = "",
    reasoning: str | None = None,
    ids: Sequence[str] | None = None,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "completed",
    model: str = "replayed",
) -> Answer:
    """Make an answer that calls tools, the arguments streamed in pieces.

    Args:
        calls: Names and arguments, in order.
        said: What the model says before it calls.
        reasoning: The summary of what it thinks first.
        ids: The calls' ids; `call_1`, `call_2`, … by default.
        usage: Tokens of prompt and answer; None reports none.
        finish: The status that the answer ends with.
        model: The model that says to have answered.
    """
    made = [
        {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": ids[number - 1] if ids else f"call_{number}",
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    output = [*_reasoning(reasoning), *(_message(said) if said else ()), *made]
    return response(output, usage=usage, finish=finish, model=model)


def response(
    output: Sequence[Mapping[str, Any]],
    *,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "completed",
    model: str = "replayed",
) -> Answer:
    """Make an answer of output items, as a whole answer has them.

    Args:
        output: The items; texts, summaries and arguments are streamed in pieces, others at once.
        usage: Tokens of prompt and answer; None reports none.
        finish: The status that the answer ends with; `incomplete` is for the limit on the output.
        model: The model that says to have answered.
    """
    whole = {**_response(model, finish), "output": list(output)}
    if finish == "incomplete":
        whole["incomplete_details"] = {"reason": "max_output_tokens"}
    if usage is not None:
        prompt, answer = usage
        whole["usage"] = {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": answer,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + answer,
        }
    events = [_created(model)]
    for index, item in enumerate(output):
        events += _streamed(index, item)
    events.append({"type": f"response.{finish}", "response": whole})
    return replace(Answer.events(*_numbered(events)), whole=json.dumps(whole).encode())


def error_in_stream(error: Mapping[str, Any], *, after: str = "") -> Answer:
    """Make a stream that says something and then reports an error instead of an end.

    The error comes as the vendor sends it: in an event of its own, and with the failed response.
    """
    events = [_created("replayed")]
    if after:
        events += list(_streamed(0, _message(after)[0]))[:-3]  # the message is not done
    failed = {**_response("replayed", "failed"), "error": dict(error)}
    events += [
        {"type": "error", "error": dict(error)},
        {"type": "response.failed", "response": failed},
    ]
    return Answer.events(*_numbered(events))


def _response(model: str, status: str) -> dict[str, Any]:
    return {
        "id": _RESPONSE_ID,
        "object": "response",
        "created_at": 0,
        "status": status,
        "model": model,
        "output": [],
        "error": None,
        "incomplete_details": None,
        "usage": None,
    }


def _created(model: str) -> dict[str, Any]:
    return {"type": "response.created", "response": _response(model, "in_progress")}


def _reasoning(summary: str | None) -> list[dict[str, Any]]:
    if summary is None:
        return []
    return [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": summary}],
            "encrypted_content": "c2VjcmV0",
        }
    ]


def _message(words: str) -> list[dict[str, Any]]:
    return [
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "annotations": [], "text": words}],
        }
    ]


def _streamed(index: int, item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The events in which an item comes."""
    place = {"output_index": index, "item_id": item.get("id")}
    begun: dict[str, Any] = {"status": "in_progress"}
    inner: Iterator[dict[str, Any]] = iter(())
    match item["type"]:
        case "message":
            begun["content"], inner = [], _text_events(item, place)
        case "reasoning":
            begun, inner = {"summary": []}, _summary_events(item, place)
        case "function_call":
            begun["arguments"], inner = "", _argument_events(item, place)
        case _:
            pass
    yield {"type": "response.output_item.added", "output_index": index, "item": {**item, **begun}}
    yield from inner
    yield {"type": "response.output_item.done", "output_index": index, "item": dict(item)}


def _text_events(item: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for at, part in enumerate(item["content"]):
        if "text" not in part:
            continue
        here = {**place, "content_index": at}
        yield {"type": "response.content_part.added", **here, "part": {**part, "text": ""}}
        for word in _words(part["text"]):
            yield {"type": "response.output_text.delta", **here, "delta": word, "logprobs": []}
        yield {"type": "response.output_text.done", **here, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **here, "part": part}


def _summary_events(item: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    kind = "response.reasoning_summary"
    for at, part in enumerate(item["summary"]):
        here = {**place, "summary_index": at}
        yield {"type": f"{kind}_part.added", **here, "part": {**part, "text": ""}}
        for word in _words(part["text"]):
            yield {"type": f"{kind}_text.delta", **here, "delta": word}
        yield {"type": f"{kind}_text.done", **here, "text": part["text"]}
        yield {"type": f"{kind}_part.done", **here, "part": part}


def _argument_events(item: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    arguments: str = item["arguments"]
    middle = len(arguments) // 2
    for half in filter(None, (arguments[:middle], arguments[middle:])):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": half}
    yield {"type": "response.function_call_arguments.done", **place, "arguments": arguments}


def _numbered(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _words(said: str) -> list[str]:
    """Cut before each word, so that the pieces join to the same text."""
    return re.findall(r"\s?\S+|\s+", said)
