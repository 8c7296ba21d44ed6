"""Parts and output items while they grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentkit_core import MetadataMap, Part, Reasoning, Text, ToolCall
from agentkit_core.provider import AppendText, ModelEvent, PartId, complete_call
from agentkit_providers._protocol_kit._lenient_values import REPLACEMENT, join_surrogates
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
        so_far, self.surrogate = self.text, ""
        if len(text) > len(so_far) and text.startswith(so_far):
            self.pieces.append(text[len(so_far) :])
            out.append(AppendText(self.part_id, text[len(so_far) :]))

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
    """

    __slots__ = ("done", "index", "number", "parts", "raw", "type", "waiting")

    def __init__(self, index: int, number: int, kind: str) -> None:
        self.index = index
        self.number = number
        self.type = kind
        self.raw: Mapping[str, Any] = {}
        """The item as it came last; complete once it is done."""
        self.parts: dict[int, GrowingPart] = {}
        """The parts that have begun, by their place in the item's content."""
        self.waiting: list[str] = []
        """Arguments of a call that has not begun because its name is not known yet."""
        self.done = False
        """Whether the complete item has come."""


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


def with_secret(item: OutputItem, items: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """A reasoning item with the encrypted content that the last event has for it, if any."""
    by_index = items[item.index] if 0 <= item.index < len(items) else {}
    same = next((raw for raw in items if raw.get("id") == item.raw["id"]), by_index)
    secret = same.get("encrypted_content") if same.get("type") == "reasoning" else None
    return {**item.raw, "encrypted_content": secret} if secret else item.raw


def refusal_mark(part: Part) -> MetadataMap:
    """The metadata that marks a refusal; empty for other parts."""
    return {REFUSAL_KEY: True} if REFUSAL_KEY in part.metadata else {}
