"""Parts and output items while they grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentkit_core import MetadataMap, Part, Reasoning, Text, ToolCall
from agentkit_core.provider import AppendText, ModelEvent, PartId, complete_call
from agentkit_providers._protocol_kit._lenient_values import mended

INPUT_OPENS: Final = '{"input":"'
"""How the arguments of a custom tool's call begin here; its input is free text on the wire."""
INPUT_ENDS: Final = '"}'


class Growth:
    """One part while it grows."""

    __slots__ = ("annotations", "half", "part", "part_id", "pieces")

    def __init__(self, part_id: PartId, part: Part) -> None:
        self.part_id = part_id
        self.part = part
        self.pieces: list[str] = []
        self.half = ""
        """Half of a surrogate pair that ended the last piece."""
        self.annotations: list[Any] = []

    @property
    def text(self) -> str:
        """What came so far."""
        return "".join(self.pieces)

    def grow(self, text: str, out: list[ModelEvent], *, careful: bool) -> None:
        """Take more text.

        Args:
            text: The text.
            out: Gets the delta.
            careful: Whether it may hold lone surrogates.
        """
        if careful:
            text, self.half = mended(self.half + text)
        if text:
            self.pieces.append(text)
            out.append(AppendText(self.part_id, text))

    def grow_to(self, text: str, out: list[ModelEvent]) -> None:
        """Take the whole text: its rest, if what was streamed is its beginning."""
        so_far, self.half = self.text, ""
        if len(text) > len(so_far) and text.startswith(so_far):
            self.pieces.append(text[len(so_far) :])
            out.append(AppendText(self.part_id, text[len(so_far) :]))

    def closed(self, beside: MetadataMap, out: list[ModelEvent]) -> Part:
        """The part as far as it was streamed, where nothing whole came of it.

        Args:
            beside: Metadata for a text.
            out: Gets what was held back.
        """
        if self.half:
            self.half = ""
            self.pieces.append("\ufffd")
            out.append(AppendText(self.part_id, "\ufffd"))
        part, text = self.part, self.text
        match part:
            case Text():
                return Text(text, metadata={**beside, **part.metadata})
            case Reasoning():
                return Reasoning(text or None, redacted=not text)
            case ToolCall():
                if text.startswith(INPUT_OPENS) and not text.endswith(INPUT_ENDS):
                    text += INPUT_ENDS
                return complete_call(part, text)
            case _:
                return part


class OutputItem:
    """One output item while it grows."""

    __slots__ = ("done", "growths", "index", "number", "raw", "type", "waiting")

    def __init__(self, index: int, number: int, kind: str) -> None:
        self.index = index
        self.number = number
        """Its place in the answer; servers count theirs with gaps."""
        self.type = kind
        self.raw: Mapping[str, Any] = {}
        """As it came last; not whole until it is done."""
        self.growths: dict[int, Growth] = {}
        """Its parts that have begun, by their place in its content."""
        self.waiting: list[str] = []
        """Arguments of a call that has not begun, since its name is not known."""
        self.done = False
