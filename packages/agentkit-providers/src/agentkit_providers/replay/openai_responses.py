"""Answers in the Responses protocol, made from plain words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from agentkit_providers.replay._answer import Answer
from agentkit_providers.replay._pieces import split_halves, split_words

_RESPONSE_ID: Final = "resp_replay"


def text(
    words: str,
    *,
    reasoning: str | None = None,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "completed",
    model: str = "replayed",
) -> Answer:
    """Make an answer with a text; streamed word by word where the request asks for a stream.

    Args:
        words: The text.
        reasoning: The summary of the reasoning before it; the reasoning itself is encrypted.
        usage: Tokens of prompt and answer; None for no report.
        finish: The status at the end; `incomplete` means that the limit on the output was reached.
        model: The name of the model in the answer.
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
    """Make an answer with tool calls, their arguments streamed in pieces.

    Args:
        calls: Names and arguments of the calls, in order.
        said: A text before the calls.
        reasoning: The summary of the reasoning before that.
        ids: The calls' ids; `call_1`, `call_2`, … by default.
        usage: Tokens of prompt and answer; None for no report.
        finish: The status at the end.
        model: The name of the model in the answer.
    """
    function_calls = [
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
    output = [*_reasoning(reasoning), *(_message(said) if said else ()), *function_calls]
    return response(output, usage=usage, finish=finish, model=model)


def response(
    output: Sequence[Mapping[str, Any]],
    *,
    usage: tuple[int, int] | None = (10, 5),
    finish: str = "completed",
    model: str = "replayed",
) -> Answer:
    """Make an answer of output items.

    Args:
        output: The items, as a whole answer has them. Texts, summaries and arguments are streamed
            in pieces, others in one piece.
        usage: Tokens of prompt and answer; None for no report.
        finish: The status at the end; `incomplete` means that the limit on the output was reached.
        model: The name of the model in the answer.
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
    events = [_created_event(model)]
    for index, item in enumerate(output):
        events += _item_events(index, item)
    events.append({"type": f"response.{finish}", "response": whole})
    return replace(Answer.events(*_number_events(events)), whole=json.dumps(whole).encode())


def error_in_stream(error: Mapping[str, Any], *, after: str = "") -> Answer:
    """Make a stream that ends with an error.

    As the vendor does, it sends the error twice: in an event of its own, and with the failed
    response.

    Args:
        error: The vendor's error object.
        after: A text before the error; empty for none.
    """
    events = [_created_event("replayed")]
    if after:
        events += list(_item_events(0, _message(after)[0]))[:-3]  # the message is not done
    failed = {**_response("replayed", "failed"), "error": dict(error)}
    events += [
        {"type": "error", "error": dict(error)},
        {"type": "response.failed", "response": failed},
    ]
    return Answer.events(*_number_events(events))


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


def _created_event(model: str) -> dict[str, Any]:
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


def _item_events(index: int, item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The events that stream an item."""
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
        for word in split_words(part["text"]):
            yield {"type": "response.output_text.delta", **here, "delta": word, "logprobs": []}
        yield {"type": "response.output_text.done", **here, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **here, "part": part}


def _summary_events(item: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    kind = "response.reasoning_summary"
    for at, part in enumerate(item["summary"]):
        here = {**place, "summary_index": at}
        yield {"type": f"{kind}_part.added", **here, "part": {**part, "text": ""}}
        for word in split_words(part["text"]):
            yield {"type": f"{kind}_text.delta", **here, "delta": word}
        yield {"type": f"{kind}_text.done", **here, "text": part["text"]}
        yield {"type": f"{kind}_part.done", **here, "part": part}


def _argument_events(item: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    arguments: str = item["arguments"]
    for half in split_halves(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": half}
    yield {"type": "response.function_call_arguments.done", **place, "arguments": arguments}


def _number_events(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]
