"""Messages requests: what means the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from providers.requests.reading import Body
from providers.requests.rules import Rule, by_content, drop_default, drop_nulls


def _contents(body: Any) -> Iterator[Body]:
    """Every object that has a content: messages, and the results in them."""
    for message in body.get("messages") or ():
        yield message
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("type") == "tool_result":
                yield block


def _list_content(body: Any) -> None:
    for entry in (*_contents(body), {"content": None}):
        if isinstance(entry.get("content"), str):
            entry["content"] = [{"type": "text", "text": entry["content"]}]
    if isinstance(body.get("system"), str):
        body["system"] = [{"type": "text", "text": body["system"]}]


def _unsaid_success(body: Any) -> None:
    for content in _contents(body):
        if content.get("is_error") is False:
            del content["is_error"]


def _parallel_by_default(body: Any) -> None:
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("disable_parallel_tool_use") is False:
        del choice["disable_parallel_tool_use"]


def _newer_output_format(body: Any) -> None:
    if "output_format" in body:
        body.setdefault("output_config", {})["format"] = body.pop("output_format")


def _unsaid_descriptions(body: Any) -> None:
    for tool in body.get("tools") or ():
        if tool.get("description") == "":
            del tool["description"]


def _unsaid_five_minutes(value: Any) -> None:
    if isinstance(value, dict):
        mark = value.get("cache_control")
        if isinstance(mark, dict) and mark.get("ttl") == "5m":
            del mark["ttl"]
        for entry in value.values():
            _unsaid_five_minutes(entry)
    elif isinstance(value, list):
        for entry in value:
            _unsaid_five_minutes(entry)


def _any_order(body: Any) -> None:
    if not any("cache_control" in tool for tool in body.get("tools") or ()):
        by_content(body.get("tools", []))


def _joined_turns(body: Any) -> None:
    turns: list[Body] = []
    for message in body.get("messages") or ():
        if turns and turns[-1]["role"] == message["role"] and message.keys() == {"role", "content"}:
            turns[-1]["content"] += message["content"]
        else:
            turns.append(message)
    if "messages" in body:
        body["messages"] = turns


def _schemas_of_objects(body: Any) -> None:
    for tool in body.get("tools") or ():
        if "input_schema" in tool:
            tool["input_schema"].setdefault("type", "object")
        if tool.get("type") == "custom":
            del tool["type"]


RULES: Final = (
    Rule("null is absence", "every optional field has null or nothing by default", drop_nulls),
    Rule("stream: false is absence", "false is its default", drop_default("stream", False)),
    Rule(
        "a text is a list of one text",
        "a string is said to be short for it, in messages, results and system",
        _list_content,
    ),
    Rule("is_error: false is absence", "false is its default", _unsaid_success),
    Rule(
        "disable_parallel_tool_use: false is absence",
        "false is its default",
        _parallel_by_default,
    ),
    Rule("a ttl of 5m is absence", "five minutes are its default", _unsaid_five_minutes),
    Rule(
        "output_format is output_config.format",
        "the field was moved there, and both are taken",
        _newer_output_format,
    ),
    Rule(
        "neighbours of one role are one message",
        "they are said to be combined into one turn",
        _joined_turns,
    ),
    Rule(
        "tools are custom ones, and their schemas an object's",
        "the one is the default, the other the only type that is taken",
        _schemas_of_objects,
    ),
    Rule("an empty description is absence", "descriptions are optional", _unsaid_descriptions),
    Rule(
        "tools may stand in any order",
        "it is said nowhere to matter, but for where a cached prefix ends",
        _any_order,
    ),
)
