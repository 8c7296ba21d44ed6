"""What encoding the options of a request gives, the same for all protocols."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from agentkit_core import JsonValue, MetadataMap, ThinkingLevel
from agentkit_providers._protocol_kit._encoded_request import RequestBody


class EncodedOptions(Struct, frozen=True):
    """Everything of a request's body but its messages.

    Attributes:
        body: The fields in the order in which they are written. An option that the caller did not
            give has no field; fields that the caller adds come last.
        metadata: What was decided and the response's item should record: a thinking level that was
            clamped, options that were dropped. Empty where everything is sent as asked.
    """

    body: dict[str, Any]
    metadata: MetadataMap


class EncodedThinking(Struct, frozen=True):
    """What a request says about thinking.

    Attributes:
        fields: Fields of the body; empty where the request says nothing about thinking.
        level: The level that is sent; None where none is.
        note: For the response's item where another level is sent than was asked for:
            `{"asked": …, "sent": …}`. None otherwise.
    """

    fields: dict[str, Any]
    level: ThinkingLevel | None = None
    note: JsonValue = None

    @property
    def is_on(self) -> bool:
        """Whether the model is asked to think."""
        return self.level not in (None, ThinkingLevel.OFF)


def level_note(asked: ThinkingLevel | None, sent: ThinkingLevel | None) -> JsonValue:
    """Note that another thinking level is sent than was asked for; None where it is the same.

    Args:
        asked: The level that the caller asked for; None for none.
        sent: The level that the request asks the model for; None where it says nothing.
    """
    if asked is None or asked is sent:
        return None
    return {"asked": asked.value, "sent": None if sent is None else sent.value}


def with_list(body: bytes, name: bytes, entries: list[bytes]) -> RequestBody:
    """Add a list at the end of a JSON object; nothing is copied.

    Args:
        body: The object, which has at least one field.
        name: The name of the new field.
        entries: What is in the list, each as JSON; it is changed. May be empty.
    """
    start = b'%b,"%b":[' % (body[:-1], name)
    if not entries:
        return RequestBody((start + b"]}",))
    entries[0] = start + entries[0]
    entries[-1] += b"]}"
    return RequestBody(entries, b",")
