"""Parts and tool outputs as plain text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agentkit_core import Item, ItemKind, Part, Structured, Text

# Python 3.11 takes as long for `ItemKind.USER` as for a small function. What is done with each item
# of a history uses these names.
SYSTEM: Final = ItemKind.SYSTEM
USER: Final = ItemKind.USER
ASSISTANT: Final = ItemKind.ASSISTANT
TOOL: Final = ItemKind.TOOL


def only_text(item: Item) -> str | None:
    """Return the text of an item that is one text and nothing else, as most items are.

    Such an item is the same for every vendor, so its JSON can be written at once.

    Returns:
        The text; None where it is empty, and for all other items.
    """
    parts = item.parts
    if len(parts) != 1 or item.metadata:
        return None
    part = parts[0]
    if type(part) is not Text or part.metadata:
        return None
    return part.text or None


def plain_text(part: Part) -> str:
    """Write a part as text, a structured part as JSON; empty for parts that are not text."""
    match part:
        case Text() | Structured():
            return part.text
        case _:
            return ""


def joined_text(parts: Iterable[Part], separator: str = "\n") -> str:
    """Join the texts of parts, without those that are empty."""
    return separator.join(text for part in parts if (text := plain_text(part)))
