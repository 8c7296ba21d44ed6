"""Pairing: it puts the result of each tool call in the item right after the call.

Any history can be paired: late results are moved to their calls, missing results are created, and
surplus results are removed. A result belongs to the nearest earlier call with its id that is still
open, because some servers use the same ids in every turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from agentkit_core._failure import ToolFailure
from agentkit_core._ids import ToolCallId
from agentkit_core._item import TOOL, Item, has_calls, with_parts
from agentkit_core._part import TextOutput, ToolCall, ToolResult

INTERRUPTED_TEXT: Final = "No result: the call was interrupted and may not have been executed."
"""The text that the model gets as the result of a call without a result."""


def interrupted_result(call: ToolCall) -> ToolResult:
    """Create an error result for a call that has no result."""
    return ToolResult(
        call.id,
        TextOutput(INTERRUPTED_TEXT),
        is_error=True,
        failure=ToolFailure.INTERRUPTED,
        started=False,
    )


def pair_results(
    items: Sequence[Item],
    *,
    orphan: Callable[[ToolResult], Item | None] | None = None,
    without: Callable[[Item], bool] | None = None,
) -> list[Item]:
    """Pair all calls and results of a history.

    Args:
        items: Any history.
        orphan: Returns the item that replaces a result without a call; None removes the result.
        without: Says which items to remove, together with the results of their calls.

    Returns:
        The items, with one tool item after each item with calls; its results are in call order.
        From an interrupted item, calls without a result are removed, because they are incomplete;
        the item may then have no parts. Items that need no change are the same objects.
    """
    results_of = _ResultsOfCalls(items)
    paired_items: list[Item] = []
    for at, item in enumerate(items):
        if without is not None and without(item):
            continue
        if item.kind is TOOL:
            if orphan is not None:
                replacements = map(orphan, results_of.orphans.get(at, ()))
                paired_items.extend(new for new in replacements if new is not None)
            continue
        if not has_calls(item):
            paired_items.append(item)
            continue
        calls = item.tool_calls
        results = [results_of.by_call.get((at, place)) for place in range(len(calls))]
        if item.interrupted and not all(results):
            item = _without_unanswered(item, results)
            calls = item.tool_calls
            results = [result for result in results if result is not None]
        paired_items.append(item)
        if calls:
            paired_items.append(_tool_item(items, at, calls, results))
    return paired_items


def _without_unanswered(item: Item, results: Iterable[ToolResult | None]) -> Item:
    remaining = iter(results)
    parts = [
        part for part in item.parts if type(part) is not ToolCall or next(remaining) is not None
    ]
    return with_parts(item, parts)


def _tool_item(
    items: Sequence[Item], at: int, calls: Sequence[ToolCall], results: Sequence[ToolResult | None]
) -> Item:
    parts = tuple(
        interrupted_result(call) if result is None else result
        for call, result in zip(calls, results, strict=True)
    )
    following = items[at + 1] if at + 1 < len(items) else None
    if following is None or following.kind is not TOOL:
        return Item(TOOL, parts)
    return with_parts(following, parts)


_Waiting = list[tuple[int, deque[int]]]
"""The open calls with one id: the position of each item, and the places among its calls."""


class _ResultsOfCalls:
    """Which result belongs to which call, and which results have no call."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.by_call: dict[tuple[int, int], ToolResult] = {}
        """From the position of an item and the place among its calls to the result."""
        self.orphans: dict[int, list[ToolResult]] = {}
        """From the position of a tool item to its results without a call."""
        open_calls: dict[ToolCallId, _Waiting] = {}
        for at, item in enumerate(items):
            if has_calls(item):
                for place, call in enumerate(item.tool_calls):
                    waiting = open_calls.setdefault(call.id, [])
                    if not waiting or waiting[-1][0] != at:
                        waiting.append((at, deque()))
                    waiting[-1][1].append(place)
            elif item.kind is TOOL:
                for result in item.tool_results:
                    calls = open_calls.get(result.call_id)
                    if calls is None:
                        self.orphans.setdefault(at, []).append(result)
                    elif calls:
                        self.by_call[_next(calls)] = result
                    # else all calls with this id have their result: this one is surplus


def _next(waiting: _Waiting) -> tuple[int, int]:
    """Take the first open call of the latest item that has one, and return its position."""
    at, places = waiting[-1]
    place = places.popleft()
    if not places:
        waiting.pop()
    return at, place
