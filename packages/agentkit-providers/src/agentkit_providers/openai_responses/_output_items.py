"""Output items that are whole, as parts.

message                a text for each piece of its content; a refusal is a marked text
reasoning              reasoning, with the item itself beside it
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
from agentkit_providers._protocol_kit._lenient_values import bytes_of
from agentkit_providers.openai_responses._metadata_keys import (
    ANNOTATIONS_KEY,
    API,
    CONTENT_PREFIX,
    ITEM_KEY,
    LOGPROBS_KEY,
    REFUSAL_KEY,
)

CALLS: Final = frozenset({"function_call", "custom_tool_call"})
"""Items that are calls of the client's tools."""


class Piece(NamedTuple):
    """A part of an item, and its place in the item's content."""

    at: int
    part: Part


def pieces_of(item: Mapping[str, Any], place: MetadataMap) -> list[Piece]:
    """Read an item that is whole.

    Args:
        item: The item; calls are read by `call_of`.
        place: Metadata for each of the parts.
    """
    match item.get("type"):
        case "message":
            return list(_message(item, place))
        case "reasoning":
            return [Piece(0, reasoning_of(item, place))]
        case "image_generation_call" if image := _exact_bytes(item.get("result")):
            rest = {name: one for name, one in item.items() if name != "result"}
            mime_type = f"image/{_text(item.get('output_format')) or 'png'}"
            metadata = {**place, ITEM_KEY: rest}
            part = Media(Modality.IMAGE, mime_type, InlineBytes(image), metadata=metadata)
            return [Piece(0, part)]
        case kind:
            return [Piece(0, Custom(f"{API}.{kind}", dict(item), metadata=place))]


def _exact_bytes(value: Any) -> bytes:
    """Decode base64 that is written again as it is; empty for other values."""
    content = bytes_of(_text(value))
    return content if b64encode(content).decode() == value else b""


def _message(item: Mapping[str, Any], place: MetadataMap) -> Iterator[Piece]:
    beside = {**place, ITEM_KEY: message_facts(item)}
    content = item.get("content")
    if isinstance(content, str):
        content = [{"type": "output_text", "text": content}]
    for at, entry in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(entry, dict):
            continue
        kind = entry.get("type")
        if kind in ("output_text", "text"):
            if text := _text(entry.get("text")):
                yield Piece(at, Text(text, metadata={**beside, **_marks(entry)}))
        elif kind == "refusal":
            if text := _text(entry.get("refusal")):
                yield Piece(at, Text(text, metadata={**beside, REFUSAL_KEY: True}))
        else:
            yield Piece(at, Custom(f"{CONTENT_PREFIX}{kind}", entry, metadata=beside))


def message_facts(item: Mapping[str, Any]) -> dict[str, JsonValue]:
    """What a message is besides what it says: id, status, phase."""
    return {name: one for name, one in item.items() if name not in ("type", "role", "content")}


def _marks(entry: Mapping[str, Any]) -> MetadataMap:
    fields = ((ANNOTATIONS_KEY, "annotations"), (LOGPROBS_KEY, "logprobs"))
    return {key: entry[name] for key, name in fields if entry.get(name)}


def reasoning_of(item: Mapping[str, Any], place: MetadataMap) -> Reasoning:
    """Read reasoning: its summary, then its content; once where they say the same."""
    summary, content = (
        "".join(_text(one.get("text")) for one in entries if isinstance(one, dict))
        for entries in map(_list, (item.get("summary"), item.get("content")))
    )
    text = summary if summary == content else summary + content
    metadata = {**place, ITEM_KEY: dict(item)}
    return Reasoning(text or None, redacted=not text, metadata=metadata)


def call_of(
    item: Mapping[str, Any], call_id: str, streamed: str | None, place: MetadataMap
) -> ToolCall:
    """Read a call that is whole.

    Args:
        item: The item.
        call_id: The id that the call is known by here.
        streamed: What was streamed of its arguments, for servers whose item has none.
        place: Metadata for the call.
    """
    kept = {
        name: one
        for name, one in item.items()
        if name not in ("call_id", "name", "arguments", "input")
    }
    name = _text(item.get("name"))
    if item.get("type") == "custom_tool_call":
        given = _text(item.get("input"))
        return ToolCall(
            ToolCallId(call_id), name, {"input": given}, metadata={**place, ITEM_KEY: kept}
        )
    del kept["type"]
    arguments = arguments_of(item)
    if not arguments.strip() and streamed:
        arguments = streamed
    call = complete_call(
        ToolCall(ToolCallId(call_id), name), arguments, cut=item.get("status") == "incomplete"
    )
    if call.input_error is None and to_json(call.input) != (arguments or "{}").encode(
        "utf-8", "replace"
    ):
        kept["arguments"] = arguments  # spelled in another way; the vendor caches what it wrote
    return ToolCall(
        call.id,
        name,
        call.input,
        call.raw_input,
        call.input_error,
        metadata={**place, ITEM_KEY: kept} if kept else place,
    )


def arguments_of(item: Mapping[str, Any]) -> str:
    """The text of a call's arguments; some send the object itself."""
    arguments = item.get("arguments")
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return to_json(arguments).decode()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
