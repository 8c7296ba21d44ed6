"""Parts and output items while they grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentkit_core import MetadataMap, Part, Reasoning, Text, ToolCall
from agentkit_core.provider import AppendText, ModelEvent, PartId, complete_call
from agentkit_providers._protocol_kit._lenient_values import (
    REPLACEMENT,
    join_surrogates,
    text_or_empty,
)
from agentkit_providers.openai_responses._metadata_keys import REFUSAL_KEY

CUSTOM_INPUT_START: Final = '{"input":"'
"""How the arguments of a custom tool's call begin; on the wire their input is free text."""
CUSTOM_INPUT_END: Final = '"}'


class GrowingPart:
    """One part while it grows.

    Args:
        part_id: The part's id.
        part: The part as it began.
    """

    __slots__ = ("annotations", "part", "part_id", "pieces", "surrogate")

    def __init__(self, part_id: PartId, part: Part) -> None:
        self.part_id = part_id
        self.part = part
        self.pieces: list[str] = []
        self.surrogate = ""
        """The first half of a surrogate pair at the end of the last piece."""
        self.annotations: list[Any] = []

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.pieces)

    def grow(self, text: str, out: list[ModelEvent], *, has_surrogates: bool) -> None:
        """Append text.

        Args:
            text: The text.
            out: Gets the delta.
            has_surrogates: Whether the text may hold lone surrogates.
        """
        if has_surrogates:
            text, self.surrogate = join_surrogates(self.surrogate + text)
        if text:
            self.pieces.append(text)
            out.append(AppendText(self.part_id, text))

    def grow_to(self, text: str, out: list[ModelEvent]) -> None:
        """Append what is missing of the complete text, if it begins with the text so far."""
        self.surrogate = ""
        # A server may say so many times, so the work is in proportion to the text that it sends.
        if len(self.pieces) > len(text):
            return
        size = sum(map(len, self.pieces))
        if size < len(text) and text.startswith(so_far := self.text):
            self.pieces[:] = [so_far, text[size:]] if so_far else [text]
            out.append(AppendText(self.part_id, text[size:]))

    def close(self, text_metadata: MetadataMap, out: list[ModelEvent]) -> Part:
        """Complete a part of which only what was streamed is known.

        Args:
            text_metadata: Metadata for the part, if it is a text.
            out: Gets a delta for a character that was cut in half.

        Returns:
            The part to commit.
        """
        if self.surrogate:
            self.surrogate = ""
            self.pieces.append(REPLACEMENT)
            out.append(AppendText(self.part_id, REPLACEMENT))
        part, text = self.part, self.text
        match part:
            case Text():
                return Text(text, metadata={**text_metadata, **part.metadata})
            case Reasoning():
                return Reasoning(text or None, redacted=not text)
            case ToolCall():
                if text.startswith(CUSTOM_INPUT_START) and not text.endswith(CUSTOM_INPUT_END):
                    text += CUSTOM_INPUT_END
                return complete_call(part, text)
            case _:
                return part


class OutputItem:
    """One output item while it grows.

    Args:
        index: The server's index of the item, which may leave gaps.
        number: The item's place in the response, without gaps.
        kind: The item's type.
        reasoning_before: The number of the last reasoning item before it; None where there is none.
    """

    __slots__ = ("done", "index", "number", "parts", "raw", "reasoning_before", "type", "waiting")

    def __init__(self, index: int, number: int, kind: str, reasoning_before: int | None) -> None:
        self.index = index
        self.number = number
        self.type = kind
        self.reasoning_before = reasoning_before
        self.raw: Mapping[str, Any] = {}
        """The item as it came last; complete once it is done."""
        self.parts: dict[int, GrowingPart] = {}
        """The parts that have begun, by their place in the item's content."""
        self.waiting: list[str] = []
        """Arguments of a call that has not begun because its name is not known yet."""
        self.done = False
        """Whether the complete item has come."""


class OutputItems:
    """The output items of one response, found by their index and type in constant time."""

    def __init__(self) -> None:
        self.all: list[OutputItem] = []
        """All items, in the order in which they began."""
        self.latest: dict[int, OutputItem] = {}
        """The latest item of each index."""
        self.announced = False
        """Whether the server says which items there are."""
        self._last_index = 0
        self._last_reasoning: int | None = None
        self._done_count = 0  # so many items from the first are done
        self._by_type: dict[tuple[int, str], OutputItem] = {}  # the latest of each

    @property
    def next_index(self) -> int:
        """The index of an item that begins without one."""
        return self._last_index + 1 if self.all else 0

    @property
    def unfinished_index(self) -> int:
        """The index of the first item that is not done; a new index where all are."""
        while self._done_count < len(self.all) and self.all[self._done_count].done:
            self._done_count += 1
        if self._done_count == len(self.all):
            return len(self.all)
        return self.all[self._done_count].index

    def open(self, index: int | None, kind: str) -> OutputItem:
        """The open item of a type at an index; a new one where the server did not announce it.

        Servers that count wrongly let two items grow at one index, of which each has its own type.
        """
        at = self._last_index if index is None else index
        item = self._by_type.get((at, kind))
        if item is None or item.done:
            item = OutputItem(at, len(self.all), kind, self._last_reasoning)
            self._by_type[at, kind] = self.latest[at] = item
            self.all.append(item)
            self._last_index = at
            if kind == "reasoning":
                self._last_reasoning = item.number
        return item

    def expects(self, index: int | None, kind: str) -> bool:
        """Whether a delta can belong to an item of this type.

        Once the server has announced an item, deltas for an index where none began belong to
        nothing, nor do those for an item that is done. A server that announces none is believed.
        """
        at = self._last_index if index is None else index
        if at not in self.latest:
            return not self.announced
        item = self._by_type.get((at, kind))
        return item is None or not item.done


def streamed_as(item: OutputItem, at: int, part: Text) -> int:
    """Find under which key a text of a complete item was streamed; some servers count from 1."""
    open_parts, mark = item.parts, refusal_mark(part)
    if at in open_parts and refusal_mark(open_parts[at].part) == mark:
        return at
    for key, growing in open_parts.items():
        if part.text.startswith(growing.text) and refusal_mark(growing.part) == mark:
            return key
    return max((*open_parts, at - 1)) + 1


def lacks_secret(raw: Mapping[str, Any]) -> bool:
    """Whether a reasoning item has an id, but neither encrypted nor readable content."""
    return bool(raw.get("id")) and not (raw.get("encrypted_content") or raw.get("content"))


def with_secrets(
    items: Sequence[OutputItem], last: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Reasoning items, with the encrypted content that the last event has for them, if any.

    Args:
        items: The items, which have ids.
        last: The items of the last event.
    """
    by_id: dict[str, Mapping[str, Any]] = {}
    for raw in last if items else ():
        by_id.setdefault(text_or_empty(raw.get("id")), raw)
    known: list[Mapping[str, Any]] = []
    for item in items:
        by_index = last[item.index] if 0 <= item.index < len(last) else {}
        same = by_id.get(text_or_empty(item.raw["id"]) or " ", by_index)
        secret = same.get("encrypted_content") if same.get("type") == "reasoning" else None
        known.append({**item.raw, "encrypted_content": secret} if secret else item.raw)
    return known


def refusal_mark(part: Part) -> MetadataMap:
    """The metadata that marks a refusal; empty for other parts."""
    return {REFUSAL_KEY: True} if REFUSAL_KEY in part.metadata else {}
