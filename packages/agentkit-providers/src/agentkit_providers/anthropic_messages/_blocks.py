"""Blocks while they grow: what a block of the response becomes, delta by delta.

A `text` becomes a Text with its citations. `thinking` and `redacted_thinking` become Reasoning with
its signature or its encrypted original. A `tool_use` becomes a ToolCall, which the client runs. All
others are kept verbatim as Custom: tools that the vendor runs and their results, compaction, and
types that are not known yet.
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
from agentkit_providers._protocol_kit._lenient_values import (
    REPLACEMENT,
    join_surrogates,
    list_or_empty,
    text_or_empty,
)
from agentkit_providers.anthropic_messages._common_events import ARGUMENTS, TEXT, THINKING
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

    has_surrogates: bool
    """Whether texts may hold lone surrogates, as only lenient reading lets them through."""
    grows_by: type | None
    """The narrow delta that only adds to `pieces`, see `_common_events`; None where none does."""
    part_id: PartId
    pieces: list[str]
    """The text of the part so far."""

    def grow(self, delta: Delta, out: list[ModelEvent], /) -> None:
        """Take a delta of the block; add the deltas of its part to `out`."""
        ...

    def close(self, out: list[ModelEvent], /) -> None:
        """Commit the block's part; the block has ended."""
        ...


class TextBlock:
    """A text. Its part begins with the first text, so that an empty block leaves no part."""

    has_surrogates = False

    def __init__(self, part_id: PartId, block: dict[str, Any], out: list[ModelEvent]) -> None:
        self.part_id = part_id
        self.grows_by: type | None = None  # until the part begins
        self.pieces: list[str] = []
        self._surrogate = ""
        self._metadata = _further_fields(block, "text", "citations")
        self._citations = list(list_or_empty(block.get("citations")))
        self._append(text_or_empty(block.get("text")), out)

    def grow(self, delta: Delta, out: list[ModelEvent], /) -> None:
        """Take more text, or a citation, which comes before the text that it belongs to."""
        if delta.text:
            self._append(delta.text, out)
        elif delta.citation is not None:
            self._citations.append(delta.citation)

    def close(self, out: list[ModelEvent], /) -> None:
        """Commit the text, if there is any."""
        if self._surrogate:
            self.has_surrogates, self._surrogate = False, ""
            self._append(REPLACEMENT, out)
        if not self.pieces:
            return
        metadata = self._metadata
        if self._citations:
            metadata = {CITATIONS_KEY: self._citations, **metadata}
        out.append(CommitPart(Text("".join(self.pieces), metadata=metadata), self.part_id))

    def _append(self, text: str, out: list[ModelEvent]) -> None:
        if self.has_surrogates:
            text, self._surrogate = join_surrogates(self._surrogate + text)
        if not text:
            return
        if not self.pieces:
            self.grows_by = TEXT
            out.append(BeginPart(self.part_id, Text("")))
        self.pieces.append(text)
        out.append(AppendText(self.part_id, text))


class ThinkingBlock:
    """Reasoning. Its text may be withheld; the vendor needs only the signature back."""

    has_surrogates = False
    grows_by: type | None = THINKING

    def __init__(self, part_id: PartId, block: dict[str, Any], out: list[ModelEvent]) -> None:
        self.part_id = part_id
        self.pieces: list[str] = []
        self._surrogate = ""
        self._signature = [text_or_empty(block.get("signature"))]
        self._metadata = _further_fields(block, "thinking", "signature")
        out.append(BeginPart(part_id, Reasoning()))
        self._append(text_or_empty(block.get("thinking")), out)

    def grow(self, delta: Delta, out: list[ModelEvent], /) -> None:
        """Take more reasoning, or its signature."""
        if delta.thinking:
            self._append(delta.thinking, out)
        if delta.signature:
            self._signature.append(delta.signature)

    def close(self, out: list[ModelEvent], /) -> None:
        """Commit the reasoning."""
        if self._surrogate:
            self.has_surrogates, self._surrogate = False, ""
            self._append(REPLACEMENT, out)
        metadata = self._metadata
        if signature := "".join(self._signature):
            metadata = {SIGNATURE_KEY: signature, **metadata}
        text = "".join(self.pieces)
        part = Reasoning(text or None, redacted=not text, metadata=metadata)
        out.append(CommitPart(part, self.part_id))

    def _append(self, text: str, out: list[ModelEvent]) -> None:
        if self.has_surrogates:
            text, self._surrogate = join_surrogates(self._surrogate + text)
        if text:
            self.pieces.append(text)
            out.append(AppendText(self.part_id, text))


class CallBlock:
    """A call that the client runs. Its arguments come as JSON text, or whole in the start."""

    has_surrogates = False
    grows_by: type | None = ARGUMENTS

    def __init__(
        self, part_id: PartId, call_id: str, block: dict[str, Any], out: list[ModelEvent]
    ) -> None:
        self.part_id = part_id
        self.pieces: list[str] = []
        self._surrogate = ""
        self._whole = block.get("input")
        metadata = _further_fields(block, "id", "name", "input")
        self._call = ToolCall(
            ToolCallId(call_id), text_or_empty(block.get("name")), metadata=metadata
        )
        out.append(BeginPart(part_id, self._call))

    def grow(self, delta: Delta, out: list[ModelEvent], /) -> None:
        """Take more of the arguments."""
        piece = delta.partial_json
        if piece:
            if self.has_surrogates:
                piece, self._surrogate = join_surrogates(self._surrogate + piece)
            self._append(piece, out)

    def close(self, out: list[ModelEvent], /) -> None:
        """Commit the call with its arguments; with an `input_error` where these cannot be read."""
        if self._surrogate:
            self._append(REPLACEMENT, out)
        if self._whole and not "".join(self.pieces).strip():
            whole = self._whole
            self._append(whole if isinstance(whole, str) else to_json(whole).decode(), out)
        call = complete_call(self._call, "".join(self.pieces))
        if call.input_error is not None and isinstance(self._whole, dict) and self._whole:
            call = complete_call(self._call, to_json(self._whole).decode())
        out.append(CommitPart(call, self.part_id))

    def _append(self, piece: str, out: list[ModelEvent]) -> None:
        if piece:
            self.pieces.append(piece)
            out.append(AppendText(self.part_id, piece))


class OtherBlock:
    """A block that is kept as it is; each delta goes into the field that it belongs to."""

    has_surrogates = False
    grows_by: type | None = None

    def __init__(self, part_id: PartId, block: dict[str, Any], out: list[ModelEvent]) -> None:
        self.part_id = part_id
        self.pieces: list[str] = []
        self._block = dict(block)
        self._own_lists: set[str] = set()  # lists of `_block` that no event holds
        self._input: list[str] = []
        self._texts: dict[str, list[str]] = {}
        out.append(BeginPart(part_id, Custom(self._kind, block)))

    @property
    def _kind(self) -> str:
        return f"{API}.{self._block['type']}"

    def grow(self, delta: Delta, out: list[ModelEvent], /) -> None:
        """Take a delta of the block; the part changes only when the block ends."""
        if delta.partial_json:
            self._input.append(delta.partial_json)
        for name in ("text", "thinking", "signature"):
            if text := getattr(delta, name):
                self._texts.setdefault(name, []).append(text)
        if delta.citation is not None:
            self.merge({"citations": [delta.citation]})

    def merge(self, fields: dict[str, Any]) -> None:
        """Take a delta of an unknown type: texts and lists are extended, others replaced."""
        for name, new in fields.items():
            known = self._block.get(name)
            if isinstance(new, str) and (known is None or isinstance(known, str)):
                self._texts.setdefault(name, []).append(new)
            elif isinstance(new, list) and isinstance(known, list):
                if name not in self._own_lists:
                    self._own_lists.add(name)
                    known = self._block[name] = list(known)
                known += new
            elif new is not None:
                self._own_lists.discard(name)
                self._block[name] = new

    def close(self, out: list[ModelEvent], /) -> None:
        """Commit the complete block."""
        block = dict(self._block)
        for name, pieces in self._texts.items():
            so_far = text_or_empty(block.get(name))
            block[name] = without_lone_surrogates(so_far + "".join(pieces))
        arguments = without_lone_surrogates("".join(self._input))
        if arguments and not arguments.isspace():
            block["input"] = _parse_arguments(arguments)
        out.append(CommitPart(Custom(self._kind, block), self.part_id))


def open_block(
    block: dict[str, Any],
    part_id: PartId,
    call_id: Callable[[Any], str],
    out: list[ModelEvent],
) -> Block | None:
    """Open a block.

    Args:
        block: The block as it begins, with its type. A whole response's blocks begin complete.
        part_id: The id of its part.
        call_id: Chooses a call's id in the response's parts, from the vendor's id.
        out: Gets the deltas of its part.

    Returns:
        The block; None where it is complete and its part is committed.
    """
    match block["type"]:
        case "text":
            return TextBlock(part_id, block, out)
        case "thinking":
            return ThinkingBlock(part_id, block, out)
        case "tool_use":
            return CallBlock(part_id, call_id(block.get("id")), block, out)
        case "redacted_thinking":
            metadata: MetadataMap = {REDACTED_KEY: text_or_empty(block.get("data"))}
            metadata |= _further_fields(block, "data")
            out.append(CommitPart(Reasoning(redacted=True, metadata=metadata)))
            return None
        case _:
            return OtherBlock(part_id, block, out)


def _further_fields(block: dict[str, Any], *known: str) -> MetadataMap:
    """The fields of a block that our part has no place for, to be sent back with it."""
    further = {key: value for key, value in block.items() if key not in ("type", *known)}
    return {BLOCK_KEY: further} if further else {}


def _parse_arguments(arguments: str) -> Any:
    """The arguments of a tool that the vendor runs; the text itself where it is cut off."""
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return arguments
