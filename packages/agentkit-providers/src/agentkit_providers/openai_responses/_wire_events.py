"""The JSON of responses in Responses, with the vendors' names.

A stream has events of some fifty types. One struct has the fields of all types that are read, so
that an event is decoded once, without reading its type first. A whole response is the object in the
last event of a stream. Items are untyped: they are kept as they came, and their fields depend on
their type.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct, field


class Response(Struct, gc=False):
    """The response itself, as far as it is known.

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
    """A whole response, or an error instead of it."""

    detail: Any = None
    message: Any = None


class Event(Struct, gc=False):
    """One event of a stream.

    Attributes:
        type: What the event is; some servers send no names of events.
        output_index: The index of the item; its id may change from event to event.
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
"""Types of the events that end a response, and the status that each stands for."""

BEGINNINGS: Final = frozenset({"response.created", "response.in_progress", "response.queued"})
"""Types of the events that hold the response as it begins."""

UNFINISHED: Final = frozenset({"queued", "in_progress"})
"""Statuses of a response that is still growing."""
