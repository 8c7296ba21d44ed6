"""What a cache mark means: the prefix of a request that ends with it.

A mark names an item of the request, and what is written of it may stand elsewhere: items before it
were merged, hoisted or left out. What `sendable` gives for the prefix is how far the mark goes.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agentkit_core import Item, ItemKind
from agentkit_core.cache import ItemEnd, PartEnd
from agentkit_core.provider import Target, sendable


def marked_prefix(
    mark: ItemEnd | PartEnd, items: Sequence[Item], target: Target
) -> list[Item] | None:
    """What is sent of the items up to a mark, the last cut where it stands.

    Args:
        mark: The mark.
        items: The items that it counts, of the request.
        target: What they are made sendable for.

    Returns:
        The items, without results that only the prefix's end makes be made up; None where there
        is no such place.
    """
    if not 0 <= mark.item < len(items):
        return None
    last = items[mark.item]
    results = None
    if isinstance(mark, PartEnd):
        if not 0 <= mark.part < len(last.parts):
            return None
        last = replace(last, parts=last.parts[: mark.part + 1])
        results = len(last.parts)
    made = list(sendable([*items[: mark.item], last], target))
    if made and made[-1].kind is ItemKind.TOOL:
        if last.kind is not ItemKind.TOOL:
            made.pop()  # of calls that have their results later
        elif results is not None:
            made[-1] = replace(made[-1], parts=made[-1].parts[:results])
    return made
