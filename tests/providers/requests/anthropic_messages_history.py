"""Messages of Messages requests, read back into items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import (
    Custom,
    File,
    InlineText,
    Item,
    ItemKind,
    Media,
    Modality,
    Part,
    PartsOutput,
    Provenance,
    Reasoning,
    Text,
    TextOutput,
    ToolCall,
    ToolOutput,
    ToolResult,
    Uri,
)
from agentkit_core.cache import CacheMark, PartEnd
from agentkit_providers.anthropic_messages import Quirks
from providers.requests.reading import (
    MENDED,
    Body,
    Fields,
    NotExpressible,
    bytes_or_address,
    one_text,
)

API: Final = "anthropic_messages"


class HistoryReader:
    """Reads the messages of one body, and notes which quirks they show.

    Args:
        origin: Who made what is said in the model's name.
        own: The quirks of the vendor's row.
        quirks: Where those that are shown are noted.
    """

    def __init__(self, origin: Provenance, own: Quirks, quirks: dict[str, Any]) -> None:
        self.marks: list[tuple[CacheMark, Body]] = []
        """Where cached prefixes end, and what is said of each."""
        self._origin = origin
        self._own = own
        self._quirks = quirks

    def items(self, system: Sequence[Body] | None, messages: Sequence[Body]) -> Iterator[Item]:
        """Give the items that instructions and messages are; a user's results stand apart."""
        at = 0
        if system is not None:
            yield Item.system(*self._parts(system, at))
            at += 1
        for message in messages:
            fields = Fields(message)
            role, blocks = fields.take("role"), fields.take("content")
            fields.end(f"a message of the role {role!r}")
            if role == "assistant":
                yield replace(Item.assistant(*self._parts(blocks, at)), provenance=self._origin)
                at += 1
            elif role == "user":
                count = sum(block["type"] == "tool_result" for block in blocks)
                if any(block["type"] != "tool_result" for block in blocks[:count]):
                    raise NotExpressible("a result stands after what the user says")
                if count:
                    results = enumerate(map(Fields, blocks[:count]))
                    yield Item.tool(*(self._result(one, PartEnd(at, n)) for n, one in results))
                    at += 1
                if blocks[count:]:
                    yield Item.user(*self._parts(blocks[count:], at))
                    at += 1
            else:
                raise NotExpressible(f"a message of the role {role!r}, which is none of ours")

    def _parts(self, blocks: Sequence[Body], item: int) -> Iterator[Part]:
        for at, block in enumerate(blocks):
            fields = Fields(block)
            mark = fields.take("cache_control")
            if mark is not None:
                self.marks.append((PartEnd(item, at), mark))
            yield self._part(fields)

    def _part(self, fields: Fields) -> Part:
        part = _part(fields)
        if isinstance(part, Media):
            self._quirks["media"] = self._own.media | {part.modality}
        elif isinstance(part, File):
            self._quirks["files"] = True
        return part

    def _result(self, fields: Fields, place: PartEnd) -> ToolResult:
        fields.take("type")
        mark = fields.take("cache_control")
        if mark is not None:
            self.marks.append((place, mark))
        call_id, blocks = fields.take("tool_use_id"), fields.take("content", [])
        is_error = fields.take("is_error", False)
        more: dict[str, Any] = {f"{API}.block": fields.left} if fields.left else {}
        parts = tuple(self._part(Fields(block)) for block in blocks)
        if any(part.metadata for part in parts):
            raise NotExpressible("a block inside a result has fields that only others may have")
        if not any(isinstance(part, Media | File) for part in parts):
            one_text(parts, "a result")
        elif all(isinstance(part, Media) for part in parts):
            raise NotExpressible("a result of images alone, before which we say that they are")
        output: ToolOutput = PartsOutput(parts)
        if len(parts) == 1 and isinstance(parts[0], Text):
            output = TextOutput(parts[0].text)
        return ToolResult(call_id, output, is_error=is_error, metadata=more)


def refuse_unpaired(items: Sequence[Item]) -> None:
    """Check that what the vendor ran has its results, and they what began it.

    Raises:
        NotExpressible: Something is missing, and it is not the end of a turn that goes on.
    """
    begun = set[object]()
    for at, item in enumerate(items):
        blocks: list[Any] = [entry.value for entry in item.parts if isinstance(entry, Custom)]
        uses = {entry.get("id") for entry in blocks if str(entry.get("type")).endswith("_tool_use")}
        results = {entry["tool_use_id"] for entry in blocks if "tool_use_id" in entry}
        begun |= uses
        goes_on = items[at + 1 : at + 2] in ((), []) or items[at + 1].kind is not ItemKind.USER
        if not results <= begun or (uses - results and not goes_on):
            raise NotExpressible(
                MENDED + "a tool that the vendor ran lacks its result, or its call"
            )


def _part(fields: Fields) -> Part:
    """A block as a part; what it says beyond that goes into the part's metadata."""
    left = fields.left
    kind = fields.take("type")
    part: Part
    match kind:
        case "text":
            part = Text(fields.take("text"), metadata=_kept(fields, "citations", "citations"))
        case "thinking":
            text, metadata = fields.take("thinking"), _kept(fields, "signature", "signature")
            if not metadata.get(f"{API}.signature"):
                raise NotExpressible("thinking without its signature")
            part = Reasoning(summary=text or None, metadata=metadata)
        case "redacted_thinking":
            part = Reasoning(redacted=True, metadata=_kept(fields, "data", "redacted_data"))
        case "tool_use":
            part = ToolCall(fields.take("id"), fields.take("name"), fields.take("input"))
        case "image":
            mime_type, data = _source(Fields(fields.take("source")))
            part = Media(Modality.IMAGE, mime_type or "", data)
        case "document":
            mime_type, data = _source(Fields(fields.take("source")))
            part = File(data, mime_type, fields.take("title"))
        case _:
            return Custom(f"{API}.{kind}", {"type": kind, **left})
    if left:
        return replace(part, metadata={**part.metadata, f"{API}.block": left})
    return part


def _kept(fields: Fields, name: str, key: str) -> dict[str, Any]:
    value = fields.take(name)
    return {} if value is None else {f"{API}.{key}": value}


def _source(fields: Fields) -> tuple[str | None, Any]:
    """The MIME type, and where the content is."""
    kind, mime_type = fields.take("type"), fields.take("media_type")
    match kind:
        case "base64":
            data: Any = bytes_or_address(fields.take("data"), mime_type)
        case "text":
            data = InlineText(fields.take("data"))
        case "url":
            data = Uri(fields.take("url"))
        case "file":
            data = Uri(fields.take("file_id"))
        case _:
            raise NotExpressible(f"content from a source of type {kind!r}")
    fields.end("a source")
    return mime_type, data
