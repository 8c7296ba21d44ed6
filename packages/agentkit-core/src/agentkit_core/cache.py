"""Prompt caching: what a request asks the provider to keep, and where cached prefixes end.

`ModelOptions(cache=CacheRequest())` asks for caching; projections then plan the marks
themselves. Applications that know better set `marks`.
"""

from __future__ import annotations

from agentkit_core.values import Record, StringEnum


class CacheMode(StringEnum):
    """How serious a cache request is."""

    DISABLED = "disabled"
    """Send nothing that would cache."""
    BEST_EFFORT = "best_effort"
    """Drop what the provider cannot express."""
    REQUIRED = "required"
    """Refuse the request where the provider cannot express it."""


class CacheRetention(StringEnum):
    """How long the provider should keep a cached prefix."""

    DEFAULT = "default"
    SHORT = "short"
    EXTENDED = "extended"


class ToolsEnd(Record, frozen=True, tag="tools_end", tag_field="type"):
    """A cache mark after the tool definitions."""


class ItemEnd(Record, frozen=True, tag="item_end", tag_field="type"):
    """A cache mark after an item of the request.

    Attributes:
        item: Position in `ModelRequest.items`.
    """

    item: int


class PartEnd(Record, frozen=True, tag="part_end", tag_field="type"):
    """A cache mark after one part of an item.

    Attributes:
        item: Position in `ModelRequest.items`.
        part: Position in that item's parts.
    """

    item: int
    part: int


CacheMark = ToolsEnd | ItemEnd | PartEnd
"""Where a cached prefix may end."""


class CacheRequest(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Asks for prompt caching.

    Attributes:
        marks: Where prefixes end; None leaves the plan to the projection.
        key: Requests with the same key should find each other's cache.
    """

    mode: CacheMode = CacheMode.BEST_EFFORT
    marks: tuple[CacheMark, ...] | None = None
    retention: CacheRetention = CacheRetention.DEFAULT
    key: str | None = None
