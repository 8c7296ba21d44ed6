"""Where cached prefixes end: the marks of a request, found among the blocks of its items.

A caller's mark stands for the prefix of the request that ends with it; see `_cache_prefix`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from agentkit_core import ItemKind, ModelRequest
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
from agentkit_providers._protocol_kit._unsupported import unsupported_mark
from agentkit_providers.anthropic_messages._encode_items import (
    EncodedBlocks,
    Place,
    encode_item,
    is_markable,
    is_marked,
    with_field,
)
from agentkit_providers.anthropic_messages._metadata_keys import API
from agentkit_providers.anthropic_messages._quirks import Quirks

_MOST_MARKS: Final = 4
_MARK: Final = b'"cache_control":{"type":"ephemeral"}'
_MARK_1H: Final = b'"cache_control":{"type":"ephemeral","ttl":"1h"}'


class Spot(NamedTuple):
    """Where a mark stands.

    Attributes:
        item: The index of the encoded item.
        block: The index of the block in that item.
    """

    item: int
    block: int


class Marks(NamedTuple):
    """The marks of a request.

    Attributes:
        field: The JSON field that marks a block or a tool; empty where nothing is marked.
        tools: Whether the last tool that is loaded at once is marked.
        spots: Where blocks are marked.
    """

    field: bytes = b""
    tools: bool = False
    spots: frozenset[Spot] = frozenset()

    def apply(self, at: int, item: EncodedBlocks) -> bytes:
        """Join the blocks of the item at an index, with its marks."""
        places = {spot.block for spot in self.spots if spot.item == at}
        if not places:
            return item.data
        return b",".join(
            with_field(block, self.field) if place in places and not is_marked(block) else block
            for place, block in enumerate(item.blocks)
        )


NO_MARKS: Final = Marks()


def find_marks(
    request: ModelRequest,
    quirks: Quirks,
    target: Target,
    encoded: Sequence[EncodedBlocks],
    *,
    has_tools: bool,
    instructions: Sequence[int],
    own_marks: int = 0,
) -> Marks:
    """Find where a request is marked.

    Where the caller names no marks, the last tool that is loaded at once, the end of the
    instructions, the end of what the request before has sent, and the end of the user's last
    message are marked: a read looks back 20 blocks only, and a round of calls may be wider
    (redpanda-data/ai-sdk-go#205). Where there are more than four marks, those that the caller has
    put into blocks and tools included, the first are dropped, since longer prefixes save more.

    Args:
        request: The request.
        quirks: How the vendor differs from Anthropic.
        target: What the request's items were made sendable for.
        encoded: The sendable items as blocks.
        has_tools: Whether the request offers a tool that can be marked.
        instructions: The indices of the instructions among `encoded`, in ascending order.
        own_marks: How many marks the caller has put into blocks, tools and fields.

    Raises:
        UnsupportedContent: Caching is required, and the vendor cannot do what the caller wants.
    """
    cache = request.options.cache
    if cache is None or cache.mode is CacheMode.DISABLED:
        return NO_MARKS
    required = cache.mode is CacheMode.REQUIRED
    if not quirks.cache_control:
        if required:
            raise unsupported_mark("a request for caching", API)
        return NO_MARKS
    extended = cache.retention is CacheRetention.EXTENDED
    if extended and required and not quirks.cache_1h:
        raise unsupported_mark("a cached prefix with extended retention", API)
    field = _MARK_1H if extended and quirks.cache_1h else _MARK
    most = max(0, _MOST_MARKS - own_marks)
    if cache.marks is not None:
        return _marks_of(
            cache, cache.marks, field, request, target, encoded, has_tools=has_tools, most=most
        )
    spots = _default_spots(encoded, instructions)
    if required and not (spots or has_tools or own_marks):
        raise unsupported_mark("a cached prefix of what cannot be cached", API)
    tools = has_tools and len(spots) < most
    return Marks(field, tools, frozenset(spots[-most:] if most else ()))


def _default_spots(encoded: Sequence[EncodedBlocks], instructions: Sequence[int]) -> list[Spot]:
    spots: list[Spot] = []
    for at in reversed(instructions):
        if encoded[at].blocks:
            spot = _markable(Spot(at, len(encoded[at].blocks) - 1), encoded, exact=False)
            spots += [] if spot is None else [spot]
            break
    for at in range(len(encoded) - 1, -1, -1):
        if encoded[at].place is Place.USER and encoded[at].blocks:
            spot = _markable(Spot(at, len(encoded[at].blocks) - 1), encoded, exact=False)
            if spot is not None:
                spots += [*_end_of_last_request(at, encoded), spot]
            break
    return list(dict.fromkeys(spots))


def _end_of_last_request(end: int, encoded: Sequence[EncodedBlocks]) -> list[Spot]:
    """Find where the request before had its last mark: before the model's last answer."""
    at = end
    while at >= 0 and encoded[at].place is not Place.ASSISTANT:
        at -= 1
    while at >= 0 and (encoded[at].place is Place.ASSISTANT or not encoded[at].blocks):
        at -= 1
    if at < 0 or encoded[at].place is not Place.USER:
        return []
    spot = _markable(Spot(at, len(encoded[at].blocks) - 1), encoded, exact=False)
    return [] if spot is None else [spot]


def _marks_of(
    cache: CacheRequest,
    marks: Sequence[CacheMark],
    field: bytes,
    request: ModelRequest,
    target: Target,
    encoded: Sequence[EncodedBlocks],
    *,
    has_tools: bool,
    most: int,
) -> Marks:
    required = cache.mode is CacheMode.REQUIRED
    tools = False
    spots = set[Spot]()
    for mark in marks:
        if isinstance(mark, ToolsEnd):
            spot: Spot | None = None
            tools = tools or has_tools
        else:
            spot = _spot_of(mark, request, target, encoded, exact=required)
            if spot is not None:
                spots.add(spot)
        if required and spot is None and not (isinstance(mark, ToolsEnd) and has_tools):
            raise unsupported_mark(f"the cache mark {mark!r}", API)
    # The vendor reads tools first, then instructions, then messages.
    ordered = sorted(spots, key=lambda spot: (encoded[spot.item].place is not Place.SYSTEM, spot))
    count = tools + len(ordered)
    if count > most:
        if required:
            raise unsupported_mark(f"{count} cache marks (at most {most})", API)
        ordered, tools = ordered[-most:] if most else [], False
    return Marks(field, tools, frozenset(ordered))


def _spot_of(
    mark: ItemEnd | PartEnd,
    request: ModelRequest,
    target: Target,
    encoded: Sequence[EncodedBlocks],
    *,
    exact: bool,
) -> Spot | None:
    """Find the last block of the prefix that a mark ends; None where nothing can be marked.

    Args:
        mark: The mark.
        request: The request, whose items the mark counts.
        target: What the request's items were made sendable for.
        encoded: The sendable items as blocks.
        exact: Whether the prefix must not be shorter than the caller asks. Reasoning cannot be
            marked, so a mark on it moves to the block before.
    """
    prefix = marked_prefix(mark, request.items, target)
    if prefix is None:
        return None
    at = min(len(prefix), len(encoded)) - 1
    if at < 0:
        return None
    count = len(encoded[at].blocks)
    if isinstance(mark, PartEnd):
        is_tool = prefix[at].kind is ItemKind.TOOL
        in_prefix = mark.part + 1 if is_tool else len(encode_item(prefix[: at + 1], at).blocks)
        count = min(count, in_prefix)
    return _markable(Spot(at, count - 1), encoded, exact=exact)


def _markable(spot: Spot, encoded: Sequence[EncodedBlocks], *, exact: bool) -> Spot | None:
    """Find the last block up to a spot that can be marked, within instructions or messages."""
    system = encoded[spot.item].place is Place.SYSTEM
    at, block = spot
    while True:
        if block < 0:
            at -= 1
            while at >= 0 and (encoded[at].place is Place.SYSTEM) is not system:
                at -= 1
            if at < 0:
                return None
            block = len(encoded[at].blocks) - 1
        elif is_markable(encoded[at].blocks[block]):
            return Spot(at, block)
        elif exact:
            return None
        else:
            block -= 1
