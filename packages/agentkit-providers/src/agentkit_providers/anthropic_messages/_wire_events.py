"""The JSON of responses in Messages, with the vendor's names.

A stream is a `message_start`, blocks that start, grow and stop, a `message_delta` with the stop
reason, and a `message_stop`; `ping` and unknown types stand between. A whole response is the
message with its blocks. Blocks are untyped, since most types of blocks are kept as they are. Fields
that are not used are not declared: skipping one costs a tenth of decoding it.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct


class Delta(Struct, gc=False):
    """What an event adds to a block; in a `message_delta`, what it adds to the message."""

    type: str | None = None
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    signature: str | None = None
    citation: Any = None
    stop_reason: str | None = None
    stop_sequence: Any = None
    stop_details: Any = None
    container: Any = None


class Event(Struct, gc=False):
    """One event of a stream.

    Attributes:
        message: In a `message_start`: a `Message` without content.
    """

    type: str | None = None
    index: int | None = None
    delta: Delta | None = None
    content_block: Any = None
    message: Any = None
    usage: Any = None
    error: Any = None
    context_management: Any = None


class Message(Struct, gc=False):
    """A message, whole or as it begins."""

    id: Any = None
    model: Any = None
    content: Any = None
    stop_reason: str | None = None
    stop_sequence: Any = None
    stop_details: Any = None
    container: Any = None
    context_management: Any = None
    usage: Any = None
    type: Any = None
    error: Any = None


EVENT: Final = msgspec.json.Decoder(Event | None)
MESSAGE: Final = msgspec.json.Decoder(Message | None)

BLOCK_DELTAS: Final = frozenset(
    {"text_delta", "input_json_delta", "thinking_delta", "signature_delta", "citations_delta"}
)
"""Types of deltas of which `Delta` has all fields; others are read again with all fields."""

BLOCK_OF_DELTA: Final = {
    "text_delta": "text",
    "citations_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
}
"""The type of the block that a delta belongs to, for blocks that never started."""
