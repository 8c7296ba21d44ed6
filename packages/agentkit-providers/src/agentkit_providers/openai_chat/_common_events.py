"""The commonest events of a stream, as narrow shapes: text, reasoning, arguments of one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec

from agentkit_core.provider import PartId
from agentkit_providers._protocol_kit._narrow_shapes import (
    NO_ENTRIES,
    NO_TEXT,
    narrow_shape,
    single,
)
from agentkit_providers.openai_chat._tool_slots import ToolSlot
from agentkit_providers.openai_chat._wire_events import (
    Choice,
    Chunk,
    Delta,
    FunctionDelta,
    ToolCallDelta,
)

Read = Callable[[bytes], Any]
"""Decodes a payload that has the expected shape; raises `msgspec.DecodeError` for others."""

_SAY_NOTHING: Final[Mapping[str, Any]] = {
    "content": NO_TEXT,
    "reasoning_content": NO_TEXT,
    "reasoning": NO_TEXT,
    "reasoning_text": NO_TEXT,
    "reasoning_details": NO_ENTRIES,
    "refusal": NO_TEXT,
    "tool_calls": NO_ENTRIES,
    "annotations": NO_ENTRIES,
}
"""Fields of a delta that many vendors send empty."""


def _reader(delta: Any) -> Read:
    """Reads a `Chunk` whose one choice, the first, gains what a narrow delta has."""
    choice = narrow_shape(Choice, required={"delta": delta}, allowed={"index": Literal[0, None]})
    return msgspec.json.Decoder(
        narrow_shape(
            Chunk, required={"choices": single(choice)}, allowed={"service_tier": str | None}
        )
    ).decode


def _delta_with(piece: str) -> Any:
    rest = {name: nothing for name, nothing in _SAY_NOTHING.items() if name != piece}
    return narrow_shape(Delta, piece=piece, allowed=rest)


_FUNCTION: Final = narrow_shape(FunctionDelta, piece="arguments", allowed={"name": NO_TEXT})
_FRAGMENT: Final = narrow_shape(
    ToolCallDelta, required={"index": int, "function": _FUNCTION}, allowed={"id": NO_TEXT}
)

READ_TEXT: Final = _reader(_delta_with("content"))
READ_REASONING: Final[Mapping[str, Read]] = {
    field: _reader(_delta_with(field)) for field in ("reasoning_content", "reasoning")
}
"""By the field that the reasoning is in."""
READ_ARGUMENTS: Final = _reader(
    narrow_shape(
        Delta,
        required={"tool_calls": single(_FRAGMENT)},
        allowed={name: kind for name, kind in _SAY_NOTHING.items() if name != "tool_calls"},
    )
)


class Growth(NamedTuple):
    """What the next deltas are likely to add to.

    Attributes:
        read: Decodes a chunk that adds to it and does nothing else.
        calls: The calls by their index, where arguments grow; None where text or reasoning does.
        pieces: The pieces of the text so far.
        part_id: The part of the text.
    """

    read: Read
    calls: Mapping[int, ToolSlot] | None
    pieces: list[str]
    part_id: PartId

    def read_piece(self, payload: bytes) -> str:
        """Read the text or the arguments of a chunk that adds to it; see `read`."""
        delta = self.read(payload).choices[0].delta
        piece: str = delta.piece if self.calls is None else delta.tool_calls[0].function.piece
        return piece
