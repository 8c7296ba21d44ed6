"""What all events have in common."""

from __future__ import annotations

from agentkit_core.values import Record


class EventRecord(Record, frozen=True, omit_defaults=True, tag_field="type"):
    """An event: frozen, and tagged with its type in JSON."""
