"""The commonest events of a stream, as narrow shapes: one text, or one piece of reasoning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec

from agentkit_providers._protocol_kit._narrow_shapes import NO_TEXT, narrow_shape, single
from agentkit_providers.google_generate._wire_events import Candidate, Chunk, Content, Part

_PART: Final = narrow_shape(
    Part, piece="text", allowed={"thought": bool | None, "thought_signature": NO_TEXT}
)
_CONTENT: Final = narrow_shape(Content, required={"parts": single(_PART)})
_CANDIDATE: Final = narrow_shape(
    Candidate, required={"content": _CONTENT}, allowed={"index": Literal[0, None]}
)

READ_GROWTH: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(
    narrow_shape(
        Chunk,
        required={"candidates": single(_CANDIDATE)},
        allowed={"usage_metadata": msgspec.Raw},
    )
).decode
"""Reads a `Chunk` whose one candidate gains one text, and nothing else but a usage report."""
