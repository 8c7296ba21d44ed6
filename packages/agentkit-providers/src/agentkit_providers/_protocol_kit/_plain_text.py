"""Parts and tool outputs as plain text."""

from __future__ import annotations

from collections.abc import Iterable

from agentkit_core import Part, Structured, Text


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
