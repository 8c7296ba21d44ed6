"""Instructions that fitting a request adds to it: after the caller's first instructions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec.structs import replace

from agentkit_core import Item, ItemKind, ModelRequest
from agentkit_core.cache import CacheMark, ItemEnd, PartEnd

_FRONT = (ItemKind.SYSTEM, ItemKind.DEVELOPER, ItemKind.CONTEXT)


def with_instructions(request: ModelRequest, texts: Iterable[str]) -> ModelRequest:
    """Add a system item after the instructions at the front; cache marks count on.

    Equal texts give the same item, so that what was written of a conversation is kept.
    """
    items = request.items
    extended, place = items_with_instructions(items, texts), _front_count(items)
    options, cache = request.options, request.options.cache
    if cache is not None and cache.marks:
        marks = tuple(_moved(mark, place) for mark in cache.marks)
        options = replace(options, cache=replace(cache, marks=marks))
    return replace(request, items=extended, options=options)


def items_with_instructions(items: Sequence[Item], texts: Iterable[str]) -> Sequence[Item]:
    """Do the same with items alone; the same items where there are no texts."""
    text = "\n\n".join(texts)
    if not text:
        return items
    place = _front_count(items)
    return [*items[:place], _instruction(text), *items[place:]]


def _front_count(items: Sequence[Item]) -> int:
    for place, item in enumerate(items):
        if item.kind not in _FRONT:
            return place
    return len(items)


@lru_cache(maxsize=64)
def _instruction(text: str) -> Item:
    return Item.system(text)


def _moved(mark: CacheMark, place: int) -> CacheMark:
    if isinstance(mark, ItemEnd | PartEnd) and mark.item >= place:
        return replace(mark, item=mark.item + 1)
    return mark
