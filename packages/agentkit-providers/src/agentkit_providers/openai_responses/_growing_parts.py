"""Parts and output items while they grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentkit_core import MetadataMap, Part, Reasoning, Text, ToolCall
from agentkit_core.provider import AppendText, ModelEvent, PartId, complete_call
from agentkit_providers._protocol_kit._lenient_values import REPLACEMENT, join_surrogates

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
