"""Items as parts of contents: what is said, called and answered, and what goes back as it came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    ToolOutput,
    ToolResult,
    to_json,
)
from agentkit_core.provider import Target
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
"""What a function says that gave media and nothing else."""


class PartWriter:
    """Writes items for one model.

    Args:
        target: What can be sent; items are those that `sendable` gave for it.
        quirks: How the endpoint wants it.
    """

    def __init__(self, target: Target, quirks: Quirks) -> None:
        self._target = target
        self._quirks = quirks
        self._stand_in = None
        if quirks.imported_call_signature and not is_before_gemini_3(target.model):
            self._stand_in = quirks.imported_call_signature

    def parts(self, item: Item, before: Item | None) -> list[wire.AnyPart]:
        """Write one item.

        Args:
            item: The item.
            before: The one before it, which made the calls that a tool item answers.
        """
        match item.kind:
            case ItemKind.TOOL:
                calls = {} if before is None else {call.id: call for call in before.tool_calls}
                return [
                    self._response(result, calls.get(result.call_id))
                    for result in item.tool_results
                ]
            case ItemKind.ASSISTANT:
                return list(self._answer(item))
            case _:
                return [written for part in item.parts for written in _content(part)]

    def _answer(self, item: Item) -> Iterator[wire.AnyPart]:
        target, origin = self._target, item.provenance
        own = origin is not None and origin.same_model(target.provider, target.api, target.model)
        stand_in = None if own else self._stand_in
        for part in item.parts:
            match part:
                case ToolCall():
                    # The vendor looks for a signature on the first of a turn's calls only.
                    yield self._call(part, stand_in)
                    stand_in = None
                case Custom(value=dict() as block):
                    # What is signed is worth something to its own model only.
                    if own or "thoughtSignature" not in block:
                        yield block
                case Reasoning():
                    yield from _reasoning(part)
                case _:
                    yield from _content(part)

    def _call(self, call: ToolCall, stand_in: str | None) -> wire.Part:
        function = wire.FunctionCall(self._call_id(call), call.name, call.input)
        return wire.Part(function_call=function, thought_signature=_signature(call) or stand_in)

    def _call_id(self, call: ToolCall) -> str | None:
        """The vendor's own id; what we made up for a call without one stays with us."""
        given = call.metadata.get(CALL_ID_KEY)
        if isinstance(given, str):
            return given
        return call.id if self._quirks.call_ids else None

    def _response(self, result: ToolResult, call: ToolCall | None) -> wire.Part:
        text, media = _output(result.output)
        value: JsonValue = text
        if isinstance(result.output, StructuredOutput):
            value = result.output.value
        response = value
        if result.is_error or not isinstance(value, dict) or _RESERVED & set(value):
            response = {"error" if result.is_error else "output": value}
        return wire.Part(
            function_response=wire.FunctionResponse(
                None if call is None else self._call_id(call),
                "unknown_tool" if call is None else call.name,
                response,
                media or None,
            )
        )


def _content(part: Part) -> Iterator[wire.Part]:
    """What may stand in any content: text, media, documents, values."""
    match part:
        case Text(text=text):
            yield from _signed_text(part, text, thought=None)
        case Structured(value=value):
            yield wire.Part(text=to_json(value).decode())
        case Media():
            written = media_part(part)
            written.thought_signature = _signature(part)
            yield written
        case File():
            written = file_part(part)
            written.thought_signature = _signature(part)
            yield written
        case _:
            pass


def _reasoning(part: Reasoning) -> Iterator[wire.Part]:
    if part.data is not None:
        mime_type = part.metadata.get(MIME_TYPE_KEY)
        written = data_part(
            part.data, mime_type if isinstance(mime_type, str) else "", unnamed="image/png"
        )
        written.thought, written.thought_signature = True, _signature(part)
        yield written
    elif part.summary:
        yield from _signed_text(part, part.summary, thought=True)


def _signed_text(part: Part, text: str, *, thought: bool | None) -> Iterator[wire.Part]:
    """Write a text in the pieces in which it was signed; a text that was changed since, whole."""
    at = 0
    for length, signature in _pieces(part, text):
        yield wire.Part(thought=thought, text=text[at : at + length], thought_signature=signature)
        at += length


def _pieces(part: Part, text: str) -> list[tuple[int, str | None]]:
    """The lengths and signatures of a text's pieces; one piece if it was changed since."""
    kept: Any = part.metadata.get(PIECES_KEY)
    try:
        pieces = msgspec.convert(kept, list[tuple[int, str | None]])
    except msgspec.ValidationError:
        pieces = []
    if sum(length for length, _ in pieces) == len(text):
        return pieces
    return [(len(text), _signature(part))]


def _signature(part: Part) -> str | None:
    signature = part.metadata.get(SIGNATURE_KEY)
    return signature if isinstance(signature, str) and signature else None


def _output(output: ToolOutput) -> tuple[str, list[wire.Part]]:
    """What a tool gave: its text, and the media that belong to it."""
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
    for part in parts:
        for written in _content(part):
            if written.text is not None:
                texts.append(written.text)
            else:
                media.append(written)
    text = "\n".join(texts)
    return (text or _MEDIA_FOLLOW) if media else text, media
