"""Complete output items, as parts.

message                a text for each entry of its content; a refusal is a marked text
reasoning              reasoning, with the item itself in the metadata
function_call          a tool call
custom_tool_call       a tool call whose input is `{"input": text}`
image_generation_call  an image, once there is one
anything else          a custom part with the item as its value
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from agentkit_core import (
    Custom,
    InlineBytes,
    JsonValue,
    Media,
    MetadataMap,
    Modality,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolCallId,
    to_json,
)
from agentkit_core.provider import complete_call
from agentkit_providers._protocol_kit._lenient_values import (
    decode_base64,
    list_or_empty,
    text_or_empty,
)
from agentkit_providers.openai_responses._metadata_keys import (
    ANNOTATIONS_KEY,
    API,
    CONTENT_PREFIX,
    ITEM_KEY,
    LOGPROBS_KEY,
    REFUSAL_KEY,
)

CALL_TYPES: Final = frozenset({"function_call", "custom_tool_call"})
"""Types of items that are calls of the client's tools."""


class ItemPart(NamedTuple):
    """A part of an item.

    Attributes:
        at: Its place in the item's content.
        part: The part.
    """

    at: int
    part: Part


def item_parts(item: Mapping[str, Any], place: MetadataMap) -> list[ItemPart]:
    """Read a complete item that is not a call.

    Args:
        item: The item.
        place: Metadata for each of the parts.
    """
    match item.get("type"):
        case "message":
            return list(_message(item, place))
        case "reasoning":
            return [ItemPart(0, _reasoning(item, place))]
        case "image_generation_call" if image := _canonical_base64(item.get("result")):
            rest = {name: value for name, value in item.items() if name != "result"}
            mime_type = f"image/{text_or_empty(item.get('output_format')) or 'png'}"
            metadata = {**place, ITEM_KEY: rest}
            part = Media(Modality.IMAGE, mime_type, InlineBytes(image), metadata=metadata)
            return [ItemPart(0, part)]
        case kind:
            return [ItemPart(0, Custom(f"{API}.{kind}", dict(item), metadata=place))]


def _canonical_base64(value: Any) -> bytes:
    """Decode base64 that encodes back to the same text; empty for other values."""
    content = decode_base64(text_or_empty(value))
    return content if b64encode(content).decode() == value else b""


def _message(item: Mapping[str, Any], place: MetadataMap) -> Iterator[ItemPart]:
    metadata = {**place, ITEM_KEY: message_fields(item)}
    content = item.get("content")
    if isinstance(content, str):
        content = [{"type": "output_text", "text": content}]
    for at, entry in enumerate(list_or_empty(content)):
        if not isinstance(entry, dict):
            continue
        kind = entry.get("type")
        if kind in ("output_text", "text"):
            if text := text_or_empty(entry.get("text")):
                yield ItemPart(at, Text(text, metadata={**metadata, **_text_details(entry)}))
        elif kind == "refusal":
            if text := text_or_empty(entry.get("refusal")):
                yield ItemPart(at, Text(text, metadata={**metadata, REFUSAL_KEY: True}))
        else:
            yield ItemPart(at, Custom(f"{CONTENT_PREFIX}{kind}", entry, metadata=metadata))


def message_fields(item: Mapping[str, Any]) -> dict[str, JsonValue]:
    """The fields of a message besides its content: id, status, phase."""
    content_fields = ("type", "role", "content")
    return {name: value for name, value in item.items() if name not in content_fields}


def _text_details(entry: Mapping[str, Any]) -> MetadataMap:
    fields = ((ANNOTATIONS_KEY, "annotations"), (LOGPROBS_KEY, "logprobs"))
    return {key: entry[name] for key, name in fields if entry.get(name)}


def _reasoning(item: Mapping[str, Any], place: MetadataMap) -> Reasoning:
    """Read reasoning: its summary and then its content, or one of them where they are the same."""
    summary, content = (
        "".join(text_or_empty(entry.get("text")) for entry in entries if isinstance(entry, dict))
        for entries in map(list_or_empty, (item.get("summary"), item.get("content")))
    )
    text = summary if summary == content else summary + content
    metadata = {**place, ITEM_KEY: dict(item)}
    return Reasoning(text or None, redacted=not text, metadata=metadata)


def parse_call(
    item: Mapping[str, Any], call_id: str, streamed: str | None, place: MetadataMap
) -> ToolCall:
    """Read a complete call.

    Args:
        item: The item.
        call_id: The call's id in the response's parts.
        streamed: The arguments as they were streamed, for servers whose item has none.
        place: Metadata for the call.
    """
    rest = {
        name: value
        for name, value in item.items()
        if name not in ("call_id", "name", "arguments", "input")
    }
    name = text_or_empty(item.get("name"))
    if item.get("type") == "custom_tool_call":
        tool_input: dict[str, JsonValue] = {"input": text_or_empty(item.get("input"))}
        metadata: MetadataMap = {**place, ITEM_KEY: rest}
        return ToolCall(ToolCallId(call_id), name, tool_input, metadata=metadata)
    del rest["type"]
    arguments = arguments_text(item)
    if streamed and (not arguments or arguments.isspace()):
        arguments = streamed
    call = complete_call(
        ToolCall(ToolCallId(call_id), name), arguments, cut=item.get("status") == "incomplete"
    )
    if call.input_error is None and to_json(call.input) != (arguments or "{}").encode(
        "utf-8", "replace"
    ):
        # The vendor caches the text that it wrote, so the same spelling must go back.
        rest["arguments"] = arguments
    return ToolCall(
        call.id,
        name,
        call.input,
        call.raw_input,
        call.input_error,
        metadata={**place, ITEM_KEY: rest} if rest else place,
    )


def arguments_text(item: Mapping[str, Any]) -> str:
    """The text of a call's arguments; some servers send the object itself."""
    arguments = item.get("arguments")
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return to_json(arguments).decode()
