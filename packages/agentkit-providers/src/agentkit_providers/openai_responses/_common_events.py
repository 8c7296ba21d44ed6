"""The commonest events of a stream, as narrow shapes: an item gains text, reasoning, arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from agentkit_providers._protocol_kit._narrow_shapes import narrow_shape
from agentkit_providers.openai_responses._wire_events import TEXT_DELTA, Event

_OF_ITEM: Final[Mapping[str, Any]] = {"output_index": int}
_ANY_PLACE: Final[Mapping[str, Any]] = {"content_index": int | None}

TEXT: Final = narrow_shape(
    Event, piece="delta", required={"output_index": int, "content_index": int}, tag=TEXT_DELTA
)
ARGUMENTS: Final = narrow_shape(
    Event,
    piece="delta",
    required=_OF_ITEM,
    allowed=_ANY_PLACE,
    tag="response.function_call_arguments.delta",
)
_SUMMARY: Final = narrow_shape(
    Event,
    piece="delta",
    required=_OF_ITEM,
    allowed=_ANY_PLACE,
    tag="response.reasoning_summary_text.delta",
)
_REASONING: Final = narrow_shape(
    Event,
    piece="delta",
    required=_OF_ITEM,
    allowed=_ANY_PLACE,
    tag="response.reasoning_text.delta",
)

READ_GROWTH: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(
    TEXT | ARGUMENTS | _SUMMARY | _REASONING
).decode
"""Reads an `Event` by which an item gains a piece, and nothing else."""

ITEM_OF: Final[Mapping[type, str]] = {
    ARGUMENTS: "function_call",
    _SUMMARY: "reasoning",
    _REASONING: "reasoning",
}
"""The type of the items that gain it, for events whose item has one part only."""
