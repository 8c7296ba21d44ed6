"""Items as parts of contents: texts, media, calls, function responses, the vendor's own parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final

import msgspec

from agentkit_core import (
    Custom,
    File,
    FilesOutput,
    Item,
    ItemKind,
    JsonValue,
    Media,
    Part,
    PartsOutput,
    Reasoning,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolOutput,
    ToolResult,
    to_json,
)
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._media_types import content_of, type_of
from agentkit_providers._protocol_kit._plain_text import SYSTEM
from agentkit_providers._protocol_kit._readable_media import MediaTraits, readable_item
from agentkit_providers.google_generate import _wire_request as wire
from agentkit_providers.google_generate._media import data_part, file_part, media_part
from agentkit_providers.google_generate._metadata_keys import (
    CALL_ID_KEY,
    MIME_TYPE_KEY,
    PIECES_KEY,
    SIGNATURE_KEY,
)
from agentkit_providers.google_generate._models import is_before_gemini_3
from agentkit_providers.google_generate._quirks import Quirks

_RESERVED: Final = frozenset({"output", "error"})
"""Names that the vendor looks for in a response; an object without them is the output itself."""
_MEDIA_FOLLOW: Final = "(see the attached media)"
"""The output of a function that returned only media."""


def encode_item(
    items: Sequence[Item],
    at: int,
    quirks: Quirks,
    *,
    target: Target,
    first_uses: Mapping[str, int],
) -> list[wire.AnyPart]:
    """Write one item.

    Args:
        items: The sendable items.
        at: Which one.
        quirks: How the endpoint or the model differs from Google's newest.
        target: What the items were made sendable for.
        first_uses: Each id that the vendor gave to a call of an earlier item, and the index of the
            first item that has it.

    Returns:
        Any number of parts; none for an item that is empty.
    """
    item = readable_item(items[at], MediaTraits(image_types=quirks.image_types))
    match item.kind:
        case ItemKind.TOOL:
            calls = {call.id: call for call in items[at - 1].tool_calls} if at else {}
            ids = _call_ids(items, at - 1, quirks, first_uses) if at else {}
            return [
                _function_response(result, calls.get(result.call_id), ids.get(result.call_id))
                for result in item.tool_results
            ]
        case ItemKind.ASSISTANT:
            return list(_assistant(item, _call_ids(items, at, quirks, first_uses), quirks, target))
        case _:
            return list(_content(item.parts))


def encode_instructions(items: Iterable[Item]) -> list[wire.Part]:
    """Write the instructions among sendable items; empty where there are none."""
    # `sendable` puts them at the front for this vendor.
    instructions = takewhile(lambda item: item.kind is SYSTEM, items)
    return [part for item in instructions for part in _content(item.parts)]


def _assistant(
    item: Item, ids: Mapping[ToolCallId, str | None], quirks: Quirks, target: Target
) -> Iterator[wire.AnyPart]:
    origin = item.provenance
    same_model = origin is not None and origin.same_model(target.provider, target.api, target.model)
    signature = quirks.imported_call_signature or None
    if same_model or is_before_gemini_3(target.model):
        signature = None
    for part in item.parts:
        match part:
            case ToolCall():
                # The vendor looks for a signature only on the first call of a turn.
                yield _call(part, ids[part.id], signature)
                signature = None
            case Custom(value=dict() as block):
                # A signed part means nothing to another model.
                if same_model or "thoughtSignature" not in block:
                    yield block
            case Reasoning():
                yield from _reasoning(part)
            case _:
                yield from _content_part(part)


def _call(call: ToolCall, call_id: str | None, signature: str | None) -> wire.Part:
    function = wire.FunctionCall(call_id, call.name, call.input)
    return wire.Part(function_call=function, thought_signature=_signature(call) or signature)


def _call_ids(
    items: Sequence[Item], at: int, quirks: Quirks, first_uses: Mapping[str, int]
) -> dict[ToolCallId, str | None]:
    """The ids under which the calls of an item are sent; no two calls have the same.

    The vendor's id is sent where it gave one, our own only where quirks ask for it. Where the
    vendor gave one id to several calls, the first has it, and the others have their own.
    """
    ids: dict[ToolCallId, str | None] = {}
    sent_here = set[str]()

    def is_taken(call_id: str) -> bool:
        return call_id in sent_here or first_uses.get(call_id, at) < at

    for call in items[at].tool_calls:
        vendors_id = _vendors_id(call)
        if vendors_id is None:
            ids[call.id] = call.id if quirks.call_ids else None
            continue
        sent: str = vendors_id
        while is_taken(sent):
            sent = call.id if sent != call.id and not is_taken(call.id) else f"{sent}_"
        sent_here.add(sent)
        ids[call.id] = sent
    return ids


def vendor_call_ids(item: Item) -> tuple[str, ...]:
    """Return the ids that the vendor gave to an item's calls, empty for those without one."""
    return tuple(_vendors_id(call) or "" for call in item.tool_calls)


def _vendors_id(call: ToolCall) -> str | None:
    vendors_id = call.metadata.get(CALL_ID_KEY)
    return vendors_id if isinstance(vendors_id, str) else None


def _function_response(result: ToolResult, call: ToolCall | None, call_id: str | None) -> wire.Part:
    text, media = _output(result.output)
    value: JsonValue = text
    if isinstance(result.output, StructuredOutput):
        value = result.output.value
    response = value
    if result.is_error or not isinstance(value, dict) or _RESERVED & set(value):
        response = {"error" if result.is_error else "output": value}
    return wire.Part(
        function_response=wire.FunctionResponse(
            call_id,
            "unknown_tool" if call is None else call.name,
            response,
            media or None,
        )
    )


def _content(parts: Iterable[Part]) -> Iterator[wire.Part]:
    """Write the parts of a content."""
    for part in parts:
        yield from _content_part(part)


def _content_part(part: Part) -> Iterator[wire.Part]:
    match part:
        case Text(text=text):
            yield from _signed_text(part, text, thought=None)
        case Structured(value=value):
            yield wire.Part(text=to_json(value).decode())
        case Media():
            media = media_part(part)
            media.thought_signature = _signature(part)
            yield media
        case File():
            file = file_part(part)
            file.thought_signature = _signature(part)
            yield file
        case _:
            pass


def _reasoning(part: Reasoning) -> Iterator[wire.Part]:
    if part.data is not None:
        mime_type = part.metadata.get(MIME_TYPE_KEY)
        shown = type_of(content_of(part.data) or b"")
        named = mime_type if isinstance(mime_type, str) else ""
        image = data_part(part.data, shown or named, default_type="image/png")
        image.thought, image.thought_signature = True, _signature(part)
        yield image
    elif part.summary:
        yield from _signed_text(part, part.summary, thought=True)


def _signed_text(part: Part, text: str, *, thought: bool | None) -> Iterator[wire.Part]:
    """Write a text in the pieces that were signed; whole where the text was edited since."""
    at = 0
    for length, signature in _pieces(part, text):
        yield wire.Part(thought=thought, text=text[at : at + length], thought_signature=signature)
        at += length


def _pieces(part: Part, text: str) -> list[tuple[int, str | None]]:
    """The lengths and signatures of a text's pieces; one piece where the text was edited."""
    recorded: Any = part.metadata.get(PIECES_KEY)
    try:
        pieces = msgspec.convert(recorded, list[tuple[int, str | None]])
    except msgspec.ValidationError:
        pieces = []
    if sum(length for length, _ in pieces) == len(text):
        return pieces
    return [(len(text), _signature(part))]


def _signature(part: Part) -> str | None:
    signature = part.metadata.get(SIGNATURE_KEY)
    return signature if isinstance(signature, str) and signature else None


def _output(output: ToolOutput) -> tuple[str, list[wire.Part]]:
    """A tool's output: its text, and the media that belong to it."""
    match output:
        case TextOutput(text=text):
            return text, []
        case StructuredOutput():
            return "", []
        case PartsOutput(parts=parts):
            return _text_and_media(parts)
        case FilesOutput(files=files):
            return _text_and_media(files)


def _text_and_media(parts: Iterable[Part]) -> tuple[str, list[wire.Part]]:
    texts: list[str] = []
    media: list[wire.Part] = []
    for part in _content(parts):
        if part.text is not None:
            texts.append(part.text)
        else:
            media.append(part)
    text = "\n".join(texts)
    return (text or _MEDIA_FOLLOW) if media else text, media
