"""Converts parts for a target: what it does not accept is replaced by a text, or removed.

This is one step of `sendable`. Applying it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from operator import is_
from typing import Final

from msgspec.structs import replace

from agentkit_core._data_ref import Handle
from agentkit_core._history._target import ReasoningRule, Target, ToolMedia
from agentkit_core._item import ASSISTANT, Item, ItemKind, Provenance, with_parts
from agentkit_core._json import JsonValue, is_blank, without_lone_surrogates
from agentkit_core._metadata import MetadataMap, metadata_owner
from agentkit_core._part import (
    Custom,
    File,
    FilesOutput,
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
)
from agentkit_core._streaming._open_part import INCOMPLETE_KEY

NO_OUTPUT: Final = "(no tool output)"
"""What is sent for a tool without output."""

MEDIA_FOLLOW: Final = "(see the attached media)"
"""What is sent for a tool whose output is media only, where media follow the result."""

_PLURALS: Final = {"audio": "audio", "binary": "binary data"}


class Closeness(IntEnum):
    """How close the origin of an item is to a target, in ascending order."""

    FOREIGN = 0
    UNKNOWN = 1
    API = 2
    """The same provider and protocol, another model."""
    MODEL = 3


def closeness(origin: Provenance | None, target: Target) -> Closeness:
    """Return how close an origin is to a target."""
    if origin is None:
        return Closeness.UNKNOWN
    if origin.same_model(target.provider, target.api, target.model):
        return Closeness.MODEL
    same_api = origin.provider == target.provider and origin.api == target.api
    return Closeness.API if same_api else Closeness.FOREIGN


def media_follow(target: Target) -> bool:
    """Whether the media of a tool result have to follow it, because it cannot contain them."""
    return target.tool_media_place is ToolMedia.AFTER_RESULTS or ItemKind.TOOL not in target.kinds


class PartReader:
    """Converts the parts of items for one target; histories share it, see `part_reader`.

    Args:
        target: What the model accepts.
    """

    __slots__ = ("_custom_prefix", "_owners", "_target", "_tool_media")

    def __init__(self, target: Target) -> None:
        self._target = target
        self._owners = frozenset({target.api, target.provider})
        self._custom_prefix = f"{target.api}."
        tool_media = target.tool_media
        if media_follow(target):
            # The media end up in a user item, so the rule for user items applies too.
            tool_media &= target.media
        self._tool_media = tool_media

    def read(self, item: Item) -> Item:
        """Return the item with accepted parts only; it may have no parts left."""
        if is_plain(item):
            return item
        origin = closeness(item.provenance, self._target)
        signed = origin is Closeness.MODEL or item.kind is not ASSISTANT
        parts = list[Part]()
        for part in item.parts:
            converted = self._read(part, origin, signed=signed)
            if converted is not None and not _is_repeated(converted, part, parts):
                parts.append(converted)
        readable = with_parts(item, parts)
        if not signed and any(metadata_owner(key) in self._owners for key in item.metadata):
            return replace(readable, metadata=self._without_owners(item.metadata))
        return readable

    def _read(self, part: Part, origin: Closeness, *, signed: bool) -> Part | None:
        if type(part) is Reasoning:
            return self._reasoning(part, own=origin is Closeness.MODEL)
        if type(part) is Custom:
            accepted = origin is not Closeness.FOREIGN and self._accepts_custom(part)
            return part if accepted else None
        if not signed:
            part = self._without_signature(part)
        if type(part) is ToolResult:
            return self._result(part)
        return self._content(part)

    def _content(self, part: Part, *, of_tool: bool = False) -> Part | None:
        """Convert what users and tools provide: text, media, files, values."""
        match part:
            case Text(text=text):
                clean = without_lone_surrogates(text)
                if is_blank(clean) and not self._target.empty_text:
                    return None
                return part if clean is text else replace(part, text=clean)
            case Media(modality=modality, data=data):
                if modality not in (self._tool_media if of_tool else self._target.media):
                    return Text(_omission(modality.value, of_tool=of_tool))
                return Text(_not_loaded(modality.value)) if isinstance(data, Handle) else part
            case File(data=data):
                if not self._target.files:
                    return Text(_omission(_file(part), of_tool=of_tool))
                return Text(_not_loaded(_file(part))) if isinstance(data, Handle) else part
            case Structured() | ToolCall():
                return part
            case _:
                return None

    def _reasoning(self, part: Reasoning, *, own: bool) -> Part | None:
        if own and INCOMPLETE_KEY not in part.metadata and self._accepts_reasoning(part):
            return part
        text = without_lone_surrogates(part.summary or "")
        if self._target.reasoning_as_text and not part.redacted and not is_blank(text):
            return Text(text)
        return None

    def _accepts_reasoning(self, part: Reasoning) -> bool:
        signed = any(_has_value(part.metadata, key) for key in self._target.signature_keys)
        match self._target.reasoning:
            case ReasoningRule.NONE:
                return False
            case ReasoningRule.SIGNED:
                return signed
            case ReasoningRule.ANY:
                return signed or part.data is not None or not is_blank(part.summary or "")

    def _accepts_custom(self, part: Custom) -> bool:
        allowed = self._target.custom_kinds
        if allowed is None:
            return part.kind.startswith(self._custom_prefix)
        return part.kind in allowed

    def _result(self, result: ToolResult) -> ToolResult:
        output = self._output(result.output)
        return result if output is result.output else replace(result, output=output)

    def _output(self, output: ToolOutput) -> ToolOutput:
        match output:
            case TextOutput(text=text):
                clean = without_lone_surrogates(text)
                if is_blank(clean) and not self._target.empty_text:
                    return TextOutput(NO_OUTPUT)
                return output if clean is text else TextOutput(clean)
            case StructuredOutput():
                return output
            case PartsOutput(parts=parts):
                return self._parts_output(output, parts)
            case FilesOutput(files=files):
                if self._target.files and not any(isinstance(file.data, Handle) for file in files):
                    return output if files else TextOutput(NO_OUTPUT)
                return self._parts_output(output, files)

    def _parts_output(self, output: ToolOutput, parts: Sequence[Part]) -> ToolOutput:
        accepted = list[Part]()
        for part in parts:
            converted = self._content(part, of_tool=True)
            if converted is not None and not _is_repeated(converted, part, accepted):
                accepted.append(converted)
        if not accepted:
            return TextOutput(NO_OUTPUT)
        if len(accepted) == len(parts) and all(map(is_, accepted, parts)):
            return output
        return PartsOutput(tuple(accepted))

    def _without_signature(self, part: Part) -> Part:
        if any(metadata_owner(key) in self._owners for key in part.metadata):
            return replace(part, metadata=self._without_owners(part.metadata))
        return part

    def _without_owners(self, metadata: Mapping[str, JsonValue]) -> MetadataMap:
        return {
            key: value for key, value in metadata.items() if metadata_owner(key) not in self._owners
        }


@lru_cache(maxsize=64)
def part_reader(target: Target) -> PartReader:
    """Return the reader of a target."""
    return PartReader(target)


def is_plain(item: Item) -> bool:
    """Whether an item is one text that every target accepts, which is the usual case."""
    parts = item.parts
    if len(parts) != 1 or item.metadata:
        return False
    part = parts[0]
    if type(part) is not Text or part.metadata:
        return False
    text = part.text
    if not text or text.isspace():
        return False
    return text.isascii() or without_lone_surrogates(text) is text


def split_media(result: ToolResult) -> tuple[ToolResult, list[Part]]:
    """Return a result without its media and files, and the media and files in order."""
    match result.output:
        case PartsOutput(parts=parts):
            media: list[Part] = [part for part in parts if isinstance(part, Media | File)]
        case FilesOutput(files=files):
            parts, media = files, list(files)
        case _:
            return result, []
    if not media:
        return result, []
    others = tuple(part for part in parts if not isinstance(part, Media | File))
    output = PartsOutput(others) if others else TextOutput(MEDIA_FOLLOW)
    return replace(result, output=output), media


def label_media(result: ToolResult, media: Iterable[Part]) -> list[Part]:
    """Return media after a text that says which call they come from."""
    return [Text(f"Media from the result of tool call {result.call_id}:"), *media]


def describe_output(output: ToolOutput) -> str:
    """Write an output as text for a target that takes no more; media and files are named."""
    match output:
        case TextOutput() | StructuredOutput():
            return without_lone_surrogates(output.text)
        case PartsOutput(parts=parts):
            return _describe_parts(parts)
        case FilesOutput(files=files):
            return _describe_parts(files)


def _describe_parts(parts: Iterable[Part]) -> str:
    return "\n".join(filter(None, map(_part_text, parts)))


def as_reminder(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Wrap the text of a notification, so that it does not read as the user's own words."""
    media = [part for part in parts if isinstance(part, Media | File)]
    text = "\n".join(_part_text(part) for part in parts if isinstance(part, Text | Structured))
    return (Text(f"<system-reminder>\n{text}\n</system-reminder>"), *media)


def _part_text(part: Part) -> str:
    match part:
        case Text() | Structured():
            return without_lone_surrogates(part.text)
        case Media(modality=modality):
            return f"({modality.value})"
        case File():
            return f"({_file(part)})"
        case _:
            return ""


def _file(part: File) -> str:
    return f"file {without_lone_surrogates(part.name)}" if part.name else "file"


def _omission(what: str, *, of_tool: bool) -> str:
    owner = "tool " if of_tool else ""
    kind = what.partition(" ")[0]
    return f"({owner}{what} omitted: model does not support {_PLURALS.get(kind, f'{kind}s')})"


def _not_loaded(what: str) -> str:
    return f"({what} omitted: its content was not loaded)"


def _is_repeated(converted: Part, original: Part, before: Sequence[Part]) -> bool:
    """Whether a text that replaces media is the same as the text before it."""
    if not isinstance(original, Media | File) or type(converted) is not Text:
        return False
    return before[-1:] == [converted]


def _has_value(metadata: Mapping[str, JsonValue], key: str) -> bool:
    value = metadata.get(key)
    return not is_blank(value) if isinstance(value, str) else value is not None
