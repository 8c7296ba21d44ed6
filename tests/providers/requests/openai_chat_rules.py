"""Chat Completions requests: what means the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from providers.requests.reading import Body
from providers.requests.rules import Rule, drop_default, drop_nulls, parsed


def _messages(body: Any) -> Iterator[Body]:
    return (entry for entry in body.get("messages") or () if isinstance(entry, dict))


def _list_content(body: Any) -> None:
    for message in _messages(body):
        if isinstance(message.get("content"), str):
            message["content"] = [{"type": "text", "text": message["content"]}]


def _object_addresses(body: Any) -> None:
    for message in _messages(body):
        for entry in message.get("content") or ():
            if isinstance(entry, dict) and isinstance(entry.get("image_url"), str):
                entry["image_url"] = {"url": entry["image_url"]}


def _looked_at_as_usual(body: Any) -> None:
    for message in _messages(body):
        for entry in message.get("content") or ():
            image = entry.get("image_url")
            if isinstance(image, dict) and image.get("detail") == "auto":
                del image["detail"]


def _parsed_arguments(body: Any) -> None:
    for message in _messages(body):
        for call in message.get("tool_calls") or ():
            call["function"]["arguments"] = parsed(call["function"].get("arguments"))


def _nothing_beside_calls(body: Any) -> None:
    for message in _messages(body):
        if message.get("tool_calls") and message.get("content") in ("", []):
            del message["content"]


def _listed_stop(body: Any) -> None:
    if isinstance(body.get("stop"), str):
        body["stop"] = [body["stop"]]


def _function_by_default(body: Any) -> None:
    for message in _messages(body):
        for call in message.get("tool_calls") or ():
            call.setdefault("type", "function")


def _nothing_thought(body: Any) -> None:
    for message in _messages(body):
        for name in ("reasoning_content", "reasoning", "reasoning_details"):
            if message.get(name) in ("", []):
                del message[name]


def _no_parameters(body: Any) -> None:
    for tool in body.get("tools") or ():
        if "function" in tool:
            tool["function"].setdefault("parameters", {"type": "object", "properties": {}})


def _said_descriptions(body: Any) -> None:
    for tool in body.get("tools") or ():
        function = tool.get("function", {})
        if function.get("description") == "":
            del function["description"]


def _unsaid_five_minutes(body: Any) -> None:
    entries = [entry for element in _messages(body) for entry in element.get("content") or ()]
    for entry in (*_messages(body), *entries, *(body.get("tools") or ())):
        if (
            isinstance(entry.get("cache_control"), dict)
            and entry["cache_control"].get("ttl") == "5m"
        ):
            del entry["cache_control"]["ttl"]


RULES: Final = (
    Rule("null is absence", "every optional field is nullable and has null by default", drop_nulls),
    Rule("stream: false is absence", "false is its default", drop_default("stream", False)),
    Rule("one stop sequence is a list of one", "both are taken", _listed_stop),
    Rule("a call is a function's", "so it is where no type is said", _function_by_default),
    Rule("an empty reasoning is absence", "nothing was thought", _nothing_thought),
    Rule(
        "no parameters are an object without properties",
        "leaving them out is said to define an empty list",
        _no_parameters,
    ),
    Rule(
        "an empty content beside calls is absence",
        "content is required only where there are no calls",
        _nothing_beside_calls,
    ),
    Rule("a text is a list of one text", "both are said to be a content", _list_content),
    Rule("an empty description is absence", "descriptions are optional", _said_descriptions),
    Rule("a ttl of 5m is absence", "five minutes are its default", _unsaid_five_minutes),
    Rule("an address is an object with it", "Mistral takes both", _object_addresses),
    Rule("detail: auto is absence", "auto is its default", _looked_at_as_usual),
    Rule("arguments are JSON", "spaces and order of keys are the writer's own", _parsed_arguments),
)
