"""What comes over the wire of Responses: the vendors' names, and nothing else.

A stream is events of some fifty types; what all that are read need has a place in one struct, so
that an event is decoded once, without looking at its type first. A whole answer is the object that
stands in the last event of a stream. Items are left untyped: they are kept as they came, and which
fields they have depends on their type.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct, field


class Response(Struct, gc=False):
    """The answer itself, as far as it is known.

    Attributes:
        output: Its items; some send none although they streamed them.
        content_filters: Azure: what its filters found.
    """

    id: Any = None
    model: Any = None
    status: Any = None
    output: Any = None
    usage: Any = None
    error: Any = None
    incomplete_details: Any = None
    service_tier: Any = None
    moderation: Any = None
    content_filters: Any = None


class Whole(Response, gc=False):
    """A whole answer, or an error in its place."""

    detail: Any = None
    message: Any = None


class Event(Struct, gc=False):
    """One event of a stream.

    Attributes:
        type: Some servers send no names of events, so this alone says what it is.
        output_index: Which item; ids may change from event to event.
    """

    type: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    delta: Any = None
    item: Any = None
    text: Any = None
    refusal: Any = None
    arguments: Any = None
    input: Any = None
    annotation: Any = None
    response: Response | None = None
    error: Any = field(default=None)
    message: Any = None
    detail: Any = None


EVENT: Final = msgspec.json.Decoder(Event | None)
WHOLE: Final = msgspec.json.Decoder(Whole | None)

TEXT_DELTA: Final = "response.output_text.delta"
"""The type of nearly all events."""

STATUS_OF: Final = {
    "response.completed": "completed",
    "response.done": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
"""Types of the events that end an answer, and its status where it names none itself."""

UNFINISHED: Final = frozenset({"queued", "in_progress"})
"""Statuses of an answer that is not there yet."""
