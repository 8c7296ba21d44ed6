"""Assistant items as input items: what the model said, thought and called.

The vendor's own items go back as they came. What another model said becomes a plain message, and
its calls become calls without an id.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from agentkit_core import Custom, InlineBytes, Media, Part, Reasoning, ToolCall, to_json
from agentkit_core.json import decode_json
from agentkit_providers._protocol_kit._plain_text import plain_text
from agentkit_providers.openai_responses._metadata_keys import ANNOTATIONS_KEY, REFUSAL_KEY
from agentkit_providers.openai_responses._quirks import Quirks
from agentkit_providers.openai_responses._replay import (
    ReplayedPart,
    is_content,
    item_of,
    place_of,
)
from agentkit_providers.openai_responses._wire_request import AssistantMessage, InputItem


def assistant_items(parts: Iterable[ReplayedPart], quirks: Quirks) -> Iterator[InputItem]:
    """Write the parts of an assistant item.

    Args:
        parts: The parts that go back.
        quirks: How the vendor differs from OpenAI.
    """
    for message_key, group in groupby(parts, key=_message_key):
        if message_key is not None:
            parts_of_message = [replayed.part for replayed in group]
            yield _message(parts_of_message, quirks, keeps_id=message_key[0])
            continue
        for part, keeps_id in group:
            item = _item(part, quirks, keeps_id=keeps_id)
            if item is not None:
                yield item


def _message_key(replayed: ReplayedPart) -> tuple[bool, int | None, Any] | None:
    """What neighbours of the same message have in common; None for parts of no message."""
    part = replayed.part
    if not is_content(part):
        return None
    return replayed.keeps_id, place_of(part).item_index, (item_of(part) or {}).get("id")


def _message(parts: list[Part], quirks: Quirks, *, keeps_id: bool) -> InputItem:
    item = item_of(parts[0]) or {}
    if keeps_id and quirks.item_ids and item.get("id"):
        content = list(map(_output_content, parts))
        fields = _without_nulls(item)
        return {"type": "message", "role": "assistant", "content": content, **fields}
    text, phase = "".join(map(plain_text, parts)), item.get("phase")
    if not quirks.assistant_text_in_list:
        return AssistantMessage("assistant", text, phase)
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


def _output_content(part: Part) -> Any:
    if isinstance(part, Custom):
        return part.value
    if part.metadata.get(REFUSAL_KEY) is True:
        return {"type": "refusal", "refusal": plain_text(part)}
    annotations = part.metadata.get(ANNOTATIONS_KEY) or []
    return {"type": "output_text", "text": plain_text(part), "annotations": annotations}


def _item(part: Part, quirks: Quirks, *, keeps_id: bool) -> dict[str, Any] | None:
    item = dict(item_of(part) or {})
    match part:
        case ToolCall():
            return _call(part, item, keeps_id=keeps_id and quirks.item_ids)
        case Custom(value=dict(value)):
            item = dict(value)
        case Media(data=InlineBytes(data=image)):
            item["result"] = b64encode(image).decode()
        case Reasoning():
            item = _without_nulls(item)
        case _:
            return None
    if not quirks.item_ids:
        item.pop("id", None)
    return item


def _call(call: ToolCall, item: dict[str, Any], *, keeps_id: bool) -> dict[str, Any]:
    if not keeps_id:
        item.pop("id", None)
    arguments = item.pop("arguments", None)
    if item.pop("type", None) == "custom_tool_call":
        text = call.input.get("input")
        custom = {
            "type": "custom_tool_call",
            "call_id": call.id,
            "name": call.name,
            "input": text if isinstance(text, str) else to_json(call.input).decode(),
        }
        return custom | _without_nulls(item)
    if not (isinstance(arguments, str) and _are_arguments_of(call, arguments)):
        arguments = to_json(call.input).decode()
    function = {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments,
    }
    return function | _without_nulls(item)


def _are_arguments_of(call: ToolCall, arguments: str) -> bool:
    """Whether the vendor's text still says what the call's input is, which may have been edited."""
    try:
        return decode_json(arguments) == call.input
    except ValueError:
        return False


def _without_nulls(item: dict[str, Any]) -> dict[str, Any]:
    """Drop fields that are null: the vendor sends them but does not accept them."""
    return {name: value for name, value in item.items() if value is not None}
