"""A part as the text that a vendor is sent."""

from __future__ import annotations

from agentkit_core import Part, Structured, Text


def plain_text(part: Part) -> str:
    """A part as text, a structured one as JSON; empty where it is none."""
    match part:
        case Text() | Structured():
            return part.text
        case _:
            return ""
