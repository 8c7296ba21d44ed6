"""Where cached prefixes end, for models that take marks.

A caller's mark stands for the prefix of the request that ends with it; see `_cache_prefix`. Only
the content of messages and of call outputs can be marked; a mark on anything else moves to the last
such content before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from agentkit_core import ItemKind, ModelRequest
from agentkit_core.cache import CacheMark, CacheMode, CacheRequest, PartEnd, ToolsEnd
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._cache_prefix import marked_prefix
from agentkit_providers._protocol_kit._unsupported import unsupported_mark
from agentkit_providers.openai_responses._encode_items import user_items
from agentkit_providers.openai_responses._metadata_keys import API
from agentkit_providers.openai_responses._wire_request import (
    CacheBreakpoint,
    CallOutput,
    Content,
    ContentPart,
    InputItem,
    InputMessage,
    InputText,
)

_MOST_MARKS: Final = 4


class Spot(NamedTuple):
    """Where a mark stands.

    Attributes:
        group: The index of the group of input items that one item became.
        place: The index of the input item in its group.
        entry: The index of the entry in that input item's content.
    """

    group: int
    place: int
    entry: int


def mark_input(
    groups: Sequence[list[InputItem]], cache: CacheRequest, request: ModelRequest, target: Target
) -> list[InputItem]:
    """Mark the input.

    Args:
        groups: The input items that each sendable item became.
        cache: What the caller asks for. Where there are more than four marks the first are
            dropped, since longer prefixes save more.
        request: The request, whose items the marks count.
        target: What the request's items were made sendable for.

    Returns:
        All input items, with the marks.

    Raises:
        UnsupportedContent: Caching is required, and a mark cannot stand where the caller wants it.
    """
    required = cache.mode is CacheMode.REQUIRED
    spots = set[Spot]()
    for mark in cache.marks or ():
        spot = _spot_of(mark, groups, request, target, exact=required)
        if spot is not None:
            spots.add(spot)
        elif required:
            raise unsupported_mark(f"the cache mark {mark!r}", API)
    if required and len(spots) > _MOST_MARKS:
        raise unsupported_mark(f"{len(spots)} cache marks (at most {_MOST_MARKS})", API)
    marked: dict[tuple[int, int], set[int]] = {}
    for spot in sorted(spots)[-_MOST_MARKS:]:
        marked.setdefault((spot.group, spot.place), set()).add(spot.entry)
    return [
        _with_marks(item, marked.get((at, place)))
        for at, group in enumerate(groups)
        for place, item in enumerate(group)
    ]


def _spot_of(
    mark: CacheMark,
    groups: Sequence[list[InputItem]],
    request: ModelRequest,
    target: Target,
    *,
    exact: bool,
) -> Spot | None:
    """Find the last entry of the prefix that a mark ends; None where nothing can be marked.

    Args:
        mark: The mark.
        groups: The input items that each sendable item became.
        request: The request, whose items the mark counts.
        target: What the request's items were made sendable for.
        exact: Whether the prefix must not be shorter than the caller asks.
    """
    prefix = None if isinstance(mark, ToolsEnd) else marked_prefix(mark, request.items, target)
    if prefix is None:
        return None
    end = min(len(prefix), len(groups)) - 1
    for at in range(end, -1, -1):
        group = groups[at]
        if at == end and isinstance(mark, PartEnd):
            if prefix[at].kind is ItemKind.USER:
                spot = _end_of(at, list(user_items(prefix[at].parts)))
            else:
                is_whole = mark.part + 1 == len(request.items[mark.item].parts)
                is_tool = prefix[at].kind is ItemKind.TOOL
                spot = _end_of(at, group[: mark.part + 1] if is_tool else group * is_whole)
        else:
            spot = _end_of(at, group)
        if spot is not None:
            return spot
        if exact:
            return None
    return None


def _end_of(at: int, group: Sequence[InputItem]) -> Spot | None:
    for place in range(len(group) - 1, -1, -1):
        match group[place]:
            case InputMessage(content=content) | CallOutput(output=content) if content:
                return Spot(at, place, 0 if isinstance(content, str) else len(content) - 1)
            case _:
                pass
    return None


def _with_marks(item: InputItem, marked: set[int] | None) -> InputItem:
    if marked is None:
        return item
    match item:
        case InputMessage(content=content):
            return replace(item, content=_with_breakpoints(content, marked))
        case CallOutput(output=content):
            return replace(item, output=_with_breakpoints(content, marked))
        case _:
            return item


def _with_breakpoints(content: Content, marked: set[int]) -> Content:
    entries: list[ContentPart] = [InputText(content)] if isinstance(content, str) else content
    return [
        replace(entry, prompt_cache_breakpoint=CacheBreakpoint()) if at in marked else entry
        for at, entry in enumerate(entries)
    ]
