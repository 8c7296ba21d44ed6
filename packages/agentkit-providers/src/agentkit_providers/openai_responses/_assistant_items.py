"""What an assistant said, thought and called, as input items.

What comes from the vendor goes back as it came, in its items; what another model said is a plain
message, and its calls are calls without an id.
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
from agentkit_providers.openai_responses._replay import Replayed, is_content, item_of, place_of
from agentkit_providers.openai_responses._wire_request import AssistantMessage, InputItem


def own_items(parts: Iterable[Replayed], quirks: Quirks) -> Iterator[InputItem]:
    """Write the parts of an assistant item.

    Args:
        parts: Those that go back.
        quirks: How the vendor wants it.
    """
    for message, group in groupby(parts, key=_message_of):
        if message is not None:
            yield _message([one.part for one in group], quirks, known=message[0])
            continue
        for part, known in group:
            item = _item(part, quirks, known=known)
            if item is not None:
                yield item


def _message_of(one: Replayed) -> tuple[bool, int | None, Any] | None:
    """Which message a part belongs to: neighbours with the same answer stand in one."""
    if not is_content(one.part):
        return None
    return one.known, place_of(one.part).at, (item_of(one.part) or {}).get("id")


def _message(parts: list[Part], quirks: Quirks, *, known: bool) -> InputItem:
    item = item_of(parts[0]) or {}
    if known and quirks.item_ids and item.get("id"):
        content = list(map(_output_content, parts))
        return {"type": "message", "role": "assistant", "content": content, **_given(item)}
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


def _item(part: Part, quirks: Quirks, *, known: bool) -> dict[str, Any] | None:
    item = dict(item_of(part) or {})
    match part:
        case ToolCall():
            return _call(part, item, known=known and quirks.item_ids)
        case Custom(value=dict(value)):
            item = dict(value)
        case Media(data=InlineBytes(data=image)):
            item["result"] = b64encode(image).decode()
        case Reasoning():
            item = _given(item)
        case _:
            return None
    if not quirks.item_ids:
        item.pop("id", None)
    return item


def _call(call: ToolCall, item: dict[str, Any], *, known: bool) -> dict[str, Any]:
    if not known:
        item.pop("id", None)
    spelled = item.pop("arguments", None)
    if item.pop("type", None) == "custom_tool_call":
        given = call.input.get("input")
        written = {
            "type": "custom_tool_call",
            "call_id": call.id,
            "name": call.name,
            "input": given if isinstance(given, str) else to_json(call.input).decode(),
        }
        return written | _given(item)
    if not (isinstance(spelled, str) and _says(spelled, call)):
        spelled = to_json(call.input).decode()
    written = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": spelled}
    return written | _given(item)


def _says(arguments: str, call: ToolCall) -> bool:
    """Whether arguments are still the call's own; somebody may have changed these."""
    try:
        return decode_json(arguments) == call.input
    except ValueError:
        return False


def _given(item: dict[str, Any]) -> dict[str, Any]:
    """The fields that say anything; the vendor answers with nulls that it does not take back."""
    return {name: one for name, one in item.items() if one is not None}
