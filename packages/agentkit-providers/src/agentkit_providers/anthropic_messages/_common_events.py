"""The commonest events of a stream, as narrow shapes: a block gains text, reasoning, arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec

from agentkit_providers._protocol_kit._narrow_shapes import narrow_shape
from agentkit_providers.anthropic_messages._wire_events import Delta, Event

TEXT: Final = narrow_shape(Delta, piece="text", tag="text_delta")
THINKING: Final = narrow_shape(Delta, piece="thinking", tag="thinking_delta")
ARGUMENTS: Final = narrow_shape(Delta, piece="partial_json", tag="input_json_delta")

READ_GROWTH: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(
    narrow_shape(
        Event,
        required={
            "type": Literal["content_block_delta"],
            "index": int,
            "delta": TEXT | THINKING | ARGUMENTS,
        },
    )
).decode
"""Reads an `Event` by which a block gains a piece, and nothing else."""


def read_piece(payload: bytes) -> str:
    """Read the piece of such an event."""
    piece: str = READ_GROWTH(payload).delta.piece
    return piece
