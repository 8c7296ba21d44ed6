"""Where cached prefixes end, for models that can be told.

A mark names an item of the request, and what is written of it may stand elsewhere. So a mark is
taken for what it means: the prefix that ends with it. What `sendable` gives for that prefix is how
far the mark goes. Only what somebody says or a tool gave can be marked; a mark on anything else
goes to the next such content before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from agentkit_core import ItemKind, ModelRequest, UnsupportedContent
from agentkit_core.cache import CacheMark, CacheMode, CacheRequest, PartEnd, ToolsEnd
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._cache_prefix import marked_prefix
from agentkit_providers.openai_responses._encode_items import said
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
    """Where a mark goes: a group of input items, an item of it, a piece of its content."""

    at: int
    place: int
    piece: int


def marked(
    written: Sequence[list[InputItem]], cache: CacheRequest, request: ModelRequest, target: Target
) -> list[InputItem]:
    """Mark the input.

    Args:
        written: What is written of each item that `sendable` gave.
        cache: What is asked for; of more than four marks the first are dropped, for longer
            prefixes are worth more.
        request: The request whose items the marks count.
        target: What these were made sendable for.

    Raises:
        UnsupportedContent: Caching is required and cannot be had as it is asked for.
    """
    required = cache.mode is CacheMode.REQUIRED
    spots = set[Spot]()
    for mark in cache.marks or ():
        spot = _spot_of(mark, written, request, target, exact=required)
        if spot is not None:
            spots.add(spot)
        elif required:
            raise _refused(f"the cache mark {mark!r}")
    if required and len(spots) > _MOST_MARKS:
        raise _refused(f"{len(spots)} cache marks, for {_MOST_MARKS} are the most")
    pieces: dict[tuple[int, int], set[int]] = {}
    for spot in sorted(spots)[-_MOST_MARKS:]:
        pieces.setdefault(spot[:2], set()).add(spot.piece)
    return [
        _with_marks(one, pieces.get((at, place)))
        for at, group in enumerate(written)
        for place, one in enumerate(group)
    ]


def _spot_of(
    mark: CacheMark,
    written: Sequence[list[InputItem]],
    request: ModelRequest,
    target: Target,
    *,
    exact: bool,
) -> Spot | None:
    """The last piece of the prefix that a mark ends; None where there is none to mark.

    Args:
        mark: The mark.
        written: What is written of each item that can be sent.
        request: The request whose items the mark counts.
        target: What these were made sendable for.
        exact: Whether the prefix may not be shorter than asked.
    """
    made = None if isinstance(mark, ToolsEnd) else marked_prefix(mark, request.items, target)
    if made is None:
        return None
    end = min(len(made), len(written)) - 1
    for at in range(end, -1, -1):
        group = written[at]
        if at == end and isinstance(mark, PartEnd):
            if made[at].kind is ItemKind.USER:
                spot = _end_of(at, list(said(made[at].parts)))
            else:
                whole = mark.part + 1 == len(request.items[mark.item].parts)
                answered = made[at].kind is ItemKind.TOOL
                spot = _end_of(at, group[: mark.part + 1] if answered else group * whole)
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


def _with_marks(item: InputItem, pieces: set[int] | None) -> InputItem:
    if pieces is None:
        return item
    match item:
        case InputMessage(content=content):
            return replace(item, content=_pointed(content, pieces))
        case CallOutput(output=content):
            return replace(item, output=_pointed(content, pieces))
        case _:
            return item


def _pointed(content: Content, pieces: set[int]) -> Content:
    entries: list[ContentPart] = [InputText(content)] if isinstance(content, str) else content
    return [
        replace(one, prompt_cache_breakpoint=CacheBreakpoint()) if at in pieces else one
        for at, one in enumerate(entries)
    ]


def _refused(what: str) -> UnsupportedContent:
    return UnsupportedContent(
        what, target=API, advice="make caching best effort, or leave the marks to the projection"
    )
