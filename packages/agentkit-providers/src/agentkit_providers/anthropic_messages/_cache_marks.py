"""Where cached prefixes end: the marks of a request, found among the blocks that are written.

A mark names an item of the request, and what is written of it may stand elsewhere: the items
before it were merged, hoisted or left out. So a mark is taken for what it means: the prefix
that ends with it. What `sendable` gives for that prefix is how far the mark goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from agentkit_core import ItemKind, ModelRequest, UnsupportedContent
from agentkit_core.cache import (
    CacheMark,
    CacheMode,
    CacheRequest,
    CacheRetention,
    ItemEnd,
    PartEnd,
    ToolsEnd,
)
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._cache_prefix import marked_prefix
from agentkit_providers.anthropic_messages._encode_items import (
    Place,
    Written,
    is_markable,
    with_field,
    written_item,
)
from agentkit_providers.anthropic_messages._metadata_keys import API
from agentkit_providers.anthropic_messages._quirks import Quirks

_MOST_MARKS: Final = 4
_MARK: Final = b'"cache_control":{"type":"ephemeral"}'
_MARK_1H: Final = b'"cache_control":{"type":"ephemeral","ttl":"1h"}'


class Spot(NamedTuple):
    """A block, by its item among those that are written and its place in that."""

    item: int
    block: int


class Marks(NamedTuple):
    """Where a request is marked."""

    field: bytes = b""
    """What is added to a block."""
    tools: bool = False
    """Whether the last tool is marked."""
    spots: frozenset[Spot] = frozenset()

    def marked(self, at: int, item: Written) -> bytes:
        """The blocks of an item with the marks that they have."""
        places = {spot.block for spot in self.spots if spot.item == at}
        if not places:
            return item.joined
        return b",".join(
            with_field(block, self.field) if place in places else block
            for place, block in enumerate(item.blocks)
        )


NO_MARKS: Final = Marks()


def marks_of(
    request: ModelRequest,
    quirks: Quirks,
    target: Target,
    written: Sequence[Written],
    *,
    has_tools: bool,
) -> Marks:
    """Find where the request is to be marked.

    Without marks of the caller's own these are the last tool, the end of the instructions and
    the end of the user's last message. Of more than four the first ones are dropped, for longer
    prefixes are worth more.

    Raises:
        UnsupportedContent: Caching is required and cannot be had as it is asked for.
    """
    cache = request.options.cache
    if cache is None or cache.mode is CacheMode.DISABLED:
        return NO_MARKS
    required = cache.mode is CacheMode.REQUIRED
    if not quirks.cache_control:
        if required:
            raise _refused("a cache request")
        return NO_MARKS
    extended = cache.retention is CacheRetention.EXTENDED
    if extended and required and not quirks.cache_1h:
        raise _refused("a cached prefix that is kept for long")
    field = _MARK_1H if extended and quirks.cache_1h else _MARK
    if cache.marks is None:
        return Marks(field, has_tools, frozenset(_planned(written)))
    return _asked(cache, cache.marks, field, request, target, written, has_tools=has_tools)


def _planned(written: Sequence[Written]) -> list[Spot]:
    spots: list[Spot] = []
    for place in (Place.SYSTEM, Place.USER):
        for at in range(len(written) - 1, -1, -1):
            if written[at].place is place and written[at].blocks:
                spots.append(Spot(at, len(written[at].blocks) - 1))
                break
    return spots


def _asked(
    cache: CacheRequest,
    marks: Sequence[CacheMark],
    field: bytes,
    request: ModelRequest,
    target: Target,
    written: Sequence[Written],
    *,
    has_tools: bool,
) -> Marks:
    required = cache.mode is CacheMode.REQUIRED
    tools = False
    spots = set[Spot]()
    for mark in marks:
        if isinstance(mark, ToolsEnd):
            found: Spot | None = None
            tools = tools or has_tools
        else:
            found = _spot_of(mark, request, target, written, exact=required)
            if found is not None:
                spots.add(found)
        if required and found is None and not (isinstance(mark, ToolsEnd) and has_tools):
            raise _refused(f"the cache mark {mark!r}")
    # The vendor reads tools first, then instructions, then messages.
    ordered = sorted(spots, key=lambda spot: (written[spot.item].place is not Place.SYSTEM, spot))
    if tools + len(ordered) > _MOST_MARKS:
        if required:
            raise _refused(f"{tools + len(ordered)} cache marks, for {_MOST_MARKS} are the most")
        ordered, tools = ordered[-_MOST_MARKS:], False
    return Marks(field, tools, frozenset(ordered))


def _spot_of(
    mark: ItemEnd | PartEnd,
    request: ModelRequest,
    target: Target,
    written: Sequence[Written],
    *,
    exact: bool,
) -> Spot | None:
    """The last block of the prefix that a mark ends; None where there is none to mark.

    Args:
        mark: The mark.
        request: The request whose items it counts.
        target: What these were made sendable for.
        written: What is written of them.
        exact: Whether the prefix may not be shorter than asked. Reasoning cannot be marked, so
            a mark on it goes to the block before.
    """
    made = marked_prefix(mark, request.items, target)
    if made is None:
        return None
    at = min(len(made), len(written)) - 1
    if at < 0:
        return None
    count = len(written[at].blocks)
    if isinstance(mark, PartEnd):
        whole = made[at].kind is ItemKind.TOOL
        count = min(count, mark.part + 1 if whole else len(written_item(made[at], None).blocks))
    return _markable(Spot(at, count - 1), written, exact=exact)


def _markable(spot: Spot, written: Sequence[Written], *, exact: bool) -> Spot | None:
    """The spot, or the next one before it that can be marked, on the same side of the request."""
    system = written[spot.item].place is Place.SYSTEM
    at, block = spot
    while True:
        if block < 0:
            at -= 1
            while at >= 0 and (written[at].place is Place.SYSTEM) is not system:
                at -= 1
            if at < 0:
                return None
            block = len(written[at].blocks) - 1
        elif is_markable(written[at].blocks[block]):
            return Spot(at, block)
        elif exact:
            return None
        else:
            block -= 1


def _refused(what: str) -> UnsupportedContent:
    return UnsupportedContent(
        what, target=API, advice="make caching best effort, or leave the marks to the projection"
    )
