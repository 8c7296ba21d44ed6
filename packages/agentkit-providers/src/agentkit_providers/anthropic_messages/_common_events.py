"""The commonest events of a stream, as narrow shapes: a block gains text, reasoning, arguments."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from agentkit_providers._protocol_kit._narrow_shapes import narrow_shape
from agentkit_providers.anthropic_messages._wire_events import Delta, Event

TEXT: Final = narrow_shape(Delta, piece="text", tag="text_delta")
THINKING: Final = narrow_shape(Delta, piece="thinking", tag="thinking_delta")
ARGUMENTS: Final = narrow_shape(Delta, piece="partial_json", tag="input_json_delta")

GROWTH: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(
    narrow_shape(
        Event,
        required={
            "type": Literal["content_block_delta"],
            "index": int,
            "delta": TEXT | THINKING | ARGUMENTS,
        },
    )
)
"""Reads an `Event` by which a block gains a piece, and nothing else."""
