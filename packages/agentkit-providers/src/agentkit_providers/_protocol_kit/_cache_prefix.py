"""Cache marks: the prefix of a request that a mark ends.

A mark names an item of the request, but items before it may be merged, moved to the top or left out
when the request is written. So a mark stands for the prefix that ends with it: what `sendable`
gives for that prefix shows how far the mark reaches in what is written.
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
    """Make the prefix that a mark ends sendable.

    Args:
        mark: The mark.
        items: The request's items, which the mark counts.
        target: What can be sent.

    Returns:
        The sendable items of the prefix; the last one is cut at the mark. Results that are invented
        only because the prefix ends before the real ones are left out. None where the mark names
        an item or a part that does not exist.
    """
    if not 0 <= mark.item < len(items):
        return None
    last = items[mark.item]
    result_count = None
    if isinstance(mark, PartEnd):
        if not 0 <= mark.part < len(last.parts):
            return None
        last = replace(last, parts=last.parts[: mark.part + 1])
        result_count = len(last.parts)
    prefix = list(sendable([*items[: mark.item], last], target))
    if prefix and prefix[-1].kind is ItemKind.TOOL:
        if last.kind is not ItemKind.TOOL:
            prefix.pop()  # results of calls whose real results come later
        elif result_count is not None:
            prefix[-1] = replace(prefix[-1], parts=prefix[-1].parts[:result_count])
    return prefix
