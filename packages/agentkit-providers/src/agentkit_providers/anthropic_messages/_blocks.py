"""Blocks while they grow: what a block of the answer becomes, delta by delta.

A `text` becomes a Text with its citations; `thinking` and `redacted_thinking` become Reasoning
with its signature or encrypted original; a `tool_use` is a ToolCall, ours to run. All others are
kept verbatim as Custom: tools that the vendor runs and their results, compaction, and what is
not known yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from agentkit_core import Custom, MetadataMap, Reasoning, Text, ToolCall, ToolCallId, to_json
from agentkit_core.json import without_lone_surrogates
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    CommitPart,
    ModelEvent,
    PartId,
    complete_call,
)
from agentkit_providers._protocol_kit._lenient_values import mended
from agentkit_providers.anthropic_messages._metadata_keys import (
    API,
    BLOCK_KEY,
    CITATIONS_KEY,
    REDACTED_KEY,
    SIGNATURE_KEY,
)
from agentkit_providers.anthropic_messages._wire_events import Delta


class Block(Protocol):
    """One block while it grows."""

    careful: bool
    """Whether text may hold lone surrogates, which only some decoding lets through."""

    def grow(self, delta: Delta, out: list[ModelEvent], /) -> None:
        """Take what the block gained; add the deltas of its part to `out`."""
        ...

    def close(self, out: list[ModelEvent], /) -> None:
        """Commit the block's part; the block has ended."""
        ...


class TextBlock:
    """A text; it begins with its first word, for blocks without any are of no use to anyone."""

    careful = False

    def __init__(self, part_id: PartId, block: dict[str, Any], out: list[ModelEvent]) -> None:
        self._part_id = part_id
        self._begun = False
        self._pieces: list[str] = []
        self._half = ""
        self._metadata = _further_fields(block, "text", "citations")
        self._citations = list(_list(block.get("citations")))
        self._append(_text(block.get("text")), out)

    def grow(self, delta: Delta, out: list[ModelEvent], /) -> None:
        """Take more text, or a citation; these come before the text they belong to."""
        text = delta.text
        if text:
            if self._begun and not self.careful:
                self._pieces.append(text)
                out.append(AppendText(self._part_id, text))
            else:
                self._append(text, out)
        elif delta.citation is not None:
            self._citations.append(delta.citation)

    def close(self, out: list[ModelEvent], /) -> None:
        """Commit the text, if there is any."""
        if self._half:
            self.careful, self._half = False, ""
            self._append("\ufffd", out)
        if not self._begun:
            return
        metadata = self._metadata
        if self._citations:
            metadata = {CITATIONS_KEY: self._citations, **metadata}
        out.append(CommitPart(Text("".join(self._pieces), metadata=metadata), self._part_id))

    def _append(self, text: str, out: list[ModelEvent]) -> None:
        if self.careful:
            text, self._half = mended(self._half + text)
        if not text:
            return
        if not self._begun:
            self._begun = True
            out.append(BeginPart(self._part_id, Text("")))
        self._pieces.append(text)
        out.append(AppendText(self._part_id, text))


class ThinkingBlock:
    """Reasoning; its text may be withheld, and the signature is what counts for the vendor."""

    careful = False

    def __init__(self, part_id: PartId, block: dict[str, Any], out: list[ModelEvent]) -> None:
        self._part_id = part_id
        self._pieces: list[str] = []
        self._half = ""
        self._signature = _text(block.get("signature"))
        self._metadata = _further_fields(block, "thinking", "signature")
        out.append(BeginPart(part_id, Reasoning()))
        self._append(_text(block.get("thinking")), out)

    def grow(self, delta: Delta, out: list[ModelEvent], /) -> None:
        """Take more reasoning, or its signature."""
        if delta.thinking:
            self._append(delta.thinking, out)
        if delta.signature:
            self._signature += delta.signature

    def close(self, out: list[ModelEvent], /) -> None:
        """Commit the reasoning."""
        if self._half:
            self.careful, self._half = False, ""
            self._append("\ufffd", out)
        metadata = self._metadata
        if self._signature:
            metadata = {SIGNATURE_KEY: self._signature, **metadata}
        text = "".join(self._pieces)
        part = Reasoning(text or None, redacted=not text, metadata=metadata)
        out.append(CommitPart(part, self._part_id))

    def _append(self, text: str, out: list[ModelEvent]) -> None:
        if self.careful:
            text, self._half = mended(self._half + text)
        if text:
            self._pieces.append(text)
            out.append(AppendText(self._part_id, text))


class CallBlock:
    """A call for us to run; its arguments come as JSON text, or at once when it begins."""

    careful = False

    def __init__(
        self, part_id: PartId, call_id: str, block: dict[str, Any], out: list[ModelEvent]
    ) -> None:
        self._part_id = part_id
        self._pieces: list[str] = []
        self._half = ""
        self._whole = block.get("input")
        metadata = _further_fields(block, "id", "name", "input")
        self._call = ToolCall(ToolCallId(call_id), _text(block.get("name")), metadata=metadata)
        out.append(BeginPart(part_id, self._call))

    def grow(self, delta: Delta, out: list[ModelEvent], /) -> None:
        """Take more of the arguments."""
        piece = delta.partial_json
        if piece:
            if self.careful:
                piece, self._half = mended(self._half + piece)
            self._append(piece, out)

    def close(self, out: list[ModelEvent], /) -> None:
        """Commit the call with its arguments; marked where these cannot be read."""
        if self._half:
            self._append("\ufffd", out)
        if not "".join(self._pieces).strip() and self._whole:
            given = self._whole
            self._append(given if isinstance(given, str) else to_json(given).decode(), out)
        call = complete_call(self._call, "".join(self._pieces))
        out.append(CommitPart(call, self._part_id))

    def _append(self, piece: str, out: list[ModelEvent]) -> None:
        if piece:
            self._pieces.append(piece)
            out.append(AppendText(self._part_id, piece))


class OtherBlock:
    """A block that is kept as it is; what it gains goes into the field it belongs to."""

    careful = False

    def __init__(self, part_id: PartId, block: dict[str, Any], out: list[ModelEvent]) -> None:
        self._part_id = part_id
        self._block = block
        self._input: list[str] = []
        self._texts: dict[str, list[str]] = {}
        out.append(BeginPart(part_id, Custom(self._kind, block)))

    @property
    def _kind(self) -> str:
        return f"{API}.{self._block['type']}"

    def grow(self, delta: Delta, out: list[ModelEvent], /) -> None:
        """Take what the block gained; it is told of when the block is whole."""
        if delta.partial_json:
            self._input.append(delta.partial_json)
        for name in ("text", "thinking", "signature"):
            if text := getattr(delta, name):
                self._texts.setdefault(name, []).append(text)
        if delta.citation is not None:
            self.gain({"citations": [delta.citation]})

    def gain(self, fields: dict[str, Any]) -> None:
        """Take a delta of a type that is not known: texts and lists grow, others are replaced."""
        for name, new in fields.items():
            known = self._block.get(name)
            if isinstance(new, str) and (known is None or isinstance(known, str)):
                self._texts.setdefault(name, []).append(new)
            elif isinstance(new, list) and isinstance(known, list):
                self._block = {**self._block, name: known + new}
            elif new is not None:
                self._block = {**self._block, name: new}

    def close(self, out: list[ModelEvent], /) -> None:
        """Commit the block, whole."""
        block = dict(self._block)
        for name, pieces in self._texts.items():
            begun = block.get(name)
            so_far = begun if isinstance(begun, str) else ""
            block[name] = without_lone_surrogates(so_far + "".join(pieces))
        arguments = without_lone_surrogates("".join(self._input))
        if arguments.strip():
            block["input"] = _parsed(arguments)
        out.append(CommitPart(Custom(self._kind, block), self._part_id))


def open_block(
    block: dict[str, Any],
    part_id: PartId,
    call_id: Callable[[Any], str],
    out: list[ModelEvent],
) -> Block | None:
    """Open a block.

    Args:
        block: As it begins, with its type; a whole one is a block that begins with everything.
        part_id: What its part is to be called.
        call_id: Gives a call the id it is known by here, from the vendor's.
        out: Gets the deltas of its part.

    Returns:
        The block; None for one that is whole in itself.
    """
    match block["type"]:
        case "text":
            return TextBlock(part_id, block, out)
        case "thinking":
            return ThinkingBlock(part_id, block, out)
        case "tool_use":
            return CallBlock(part_id, call_id(block.get("id")), block, out)
        case "redacted_thinking":
            metadata: MetadataMap = {REDACTED_KEY: _text(block.get("data"))}
            metadata |= _further_fields(block, "data")
            out.append(CommitPart(Reasoning(redacted=True, metadata=metadata)))
            return None
        case _:
            return OtherBlock(part_id, block, out)


def _further_fields(block: dict[str, Any], *known: str) -> MetadataMap:
    """What a block has that no field of ours holds; to be given back with it."""
    more = {key: one for key, one in block.items() if key != "type" and key not in known}
    return {BLOCK_KEY: more} if more else {}


def _parsed(arguments: str) -> Any:
    """The arguments of a tool that the vendor runs; the text itself where they broke off."""
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return arguments


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
