"""Responses requests: what means the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from providers.requests.reading import Body
from providers.requests.rules import Rule, by_content, drop_default, drop_nulls, parsed

_OURS: Final = {"message", "function_call", "function_call_output", "reasoning"}


def _list_input(body: Any) -> None:
    if isinstance(body.get("input"), str):
        body["input"] = [{"role": "user", "content": body["input"]}]


def _items(body: Any, kind: str) -> Iterator[Body]:
    items = body.get("input")
    for item in items if isinstance(items, list) else ():
        if item.get("type", "message") == kind:
            yield item


def _list_content(body: Any) -> None:
    for message in _items(body, "message"):
        message.pop("type", None)
        if isinstance(message.get("content"), str):
            kind = "output_text" if message.get("role") == "assistant" else "input_text"
            message["content"] = [{"type": kind, "text": message["content"]}]


def _parsed_arguments(body: Any) -> None:
    for call in _items(body, "function_call"):
        call["arguments"] = parsed(call.get("arguments"))


def _listed_output(body: Any) -> None:
    for output in _items(body, "function_call_output"):
        if isinstance(output.get("output"), str):
            output["output"] = [{"type": "input_text", "text": output["output"]}]


def _looked_at_as_usual(body: Any) -> None:
    contents = [
        (_items(body, "message"), "content"),
        (_items(body, "function_call_output"), "output"),
    ]
    for items, name in contents:
        for item in items:
            for entry in item.get(name) or ():
                if entry.get("detail") == "auto":
                    del entry["detail"]


def _unsaid_descriptions(body: Any) -> None:
    for tool in body.get("tools") or ():
        if tool.get("description") == "":
            del tool["description"]


def _instructions_first(body: Any) -> None:
    if isinstance(body.get("instructions"), str):
        text = {"type": "input_text", "text": body.pop("instructions")}
        body["input"] = [{"role": "system", "content": [text]}, *body["input"]]


def _unsaid_annotations(body: Any) -> None:
    for message in _items(body, "message"):
        for entry in message["content"]:
            for name in ("annotations", "logprobs"):
                if entry.get(name) == []:
                    del entry[name]


def _sets(body: Any) -> None:
    for name in ("include", "tools"):
        if name in body:
            by_content(body[name])


def _no_status(body: Any) -> None:
    items = body.get("input")
    for item in items if isinstance(items, list) else ():
        if item.get("type", "message") in _OURS:
            item.pop("status", None)


def _no_parameters(body: Any) -> None:
    for tool in body.get("tools") or ():
        if tool.get("type") == "function":
            tool.setdefault("parameters", {"type": "object", "properties": {}})


RULES: Final = (
    Rule("null is absence", "every optional field is nullable and has null by default", drop_nulls),
    Rule("stream: false is absence", "false is its default", drop_default("stream", False)),
    Rule(
        "include: [] is absence", "nothing more is included by default", drop_default("include", [])
    ),
    Rule("an input text is a user's message", "that is what it is said to be", _list_input),
    Rule(
        "a message needs no type, and its text is a list of one text",
        "both are said to be easier ways of writing the same",
        _list_content,
    ),
    Rule(
        "no annotations and logprobs are empty lists", "a text may have none", _unsaid_annotations
    ),
    Rule("arguments are JSON", "spaces and order of keys are the writer's own", _parsed_arguments),
    Rule("an output is a list of one text", "both are said to be an output", _listed_output),
    Rule("detail: auto is absence", "auto is its default", _looked_at_as_usual),
    Rule("what is sent has no status", "it is said to be what answers have", _no_status),
    Rule(
        "instructions are the first system message",
        "they are said to be put there in the model's context",
        _instructions_first,
    ),
    Rule("an empty description is absence", "descriptions are optional", _unsaid_descriptions),
    Rule(
        "no parameters are an object without properties",
        "a function without parameters may leave them out",
        _no_parameters,
    ),
    Rule(
        "tools, and what is to be included, may stand in any order",
        "it is said nowhere to matter",
        _sets,
    ),
)
