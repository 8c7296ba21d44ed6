"""Prompt caching: what a provider should cache of a request, and where cached prefixes end.

`ModelOptions(cache=CacheRequest())` turns caching on, and the projection decides where prefixes
end. Applications that know better set `marks`.
"""

from __future__ import annotations

from agentkit_core.settings import Settings
from agentkit_core.values import Record, StringEnum


class CacheMode(StringEnum):
    """Whether caching is off, optional or required."""

    DISABLED = "disabled"
    """Send nothing that turns caching on."""
    BEST_EFFORT = "best_effort"
    """Ignore what the provider does not support."""
    REQUIRED = "required"
    """Raise `UnsupportedContent` if the provider does not support the request."""


class CacheRetention(StringEnum):
    """How long the provider should keep a cached prefix."""

    DEFAULT = "default"
    SHORT = "short"
    EXTENDED = "extended"


class ToolsEnd(Record, frozen=True, tag="tools_end", tag_field="type"):
    """A cache mark after the tool definitions."""


class ItemEnd(Settings, frozen=True, tag="item_end", tag_field="type"):
    """A cache mark after an item of the request.

    Attributes:
        item: The index of the item in `ModelRequest.items`.
    """

    item: int


class PartEnd(Settings, frozen=True, tag="part_end", tag_field="type"):
    """A cache mark after one part of an item.

    Attributes:
        item: The index of the item in `ModelRequest.items`.
        part: The index of the part in that item's parts.
    """

    item: int
    part: int


CacheMark = ToolsEnd | ItemEnd | PartEnd
"""Where a cached prefix may end."""


class CacheRequest(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """Asks the provider to cache prefixes of the request.

    Attributes:
        mode: Whether caching is off, optional or required.
        marks: Where cached prefixes end; None leaves that to the projection.
        retention: How long the provider should keep a cached prefix.
        key: Requests with the same key share a cache, where the provider supports keys; None for
            no key.
    """

    mode: CacheMode = CacheMode.BEST_EFFORT
    marks: tuple[CacheMark, ...] | None = None
    retention: CacheRetention = CacheRetention.DEFAULT
    key: str | None = None
