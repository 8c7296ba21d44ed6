"""Pairing: every tool call with its one result, in the item right after it.

Any history can be paired, however it was damaged: results that come late are moved to
their call, missing ones are made up, surplus ones dropped. A result belongs to the nearest
earlier call of its id that is still open, since servers do use the same ids in every turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from agentkit_core._ids import ToolCallId
from agentkit_core._item import Item, ItemKind, has_calls, with_parts
from agentkit_core._part import TextOutput, ToolCall, ToolFailure, ToolResult

INTERRUPTED_TEXT: Final = "No result: the call was interrupted and may not have been executed."
"""What a model is told of a call whose result nobody has."""


def interrupted_result(call: ToolCall) -> ToolResult:
    """Make the result of a call that was left without one."""
    return ToolResult(
        call.id,
        TextOutput(INTERRUPTED_TEXT),
        is_error=True,
        failure=ToolFailure.INTERRUPTED,
        started=False,
    )


def paired(
    items: Sequence[Item],
    *,
    orphan: Callable[[ToolResult], Item | None] | None = None,
    without: Callable[[Item], bool] | None = None,
) -> list[Item]:
    """Pair all calls and results.

    Args:
        items: Any history.
        orphan: What stands in place of a result without a call; None leaves it out.
        without: Which items to leave out, together with the results of their calls.

    Returns:
        The items, with one tool item after each item that calls, its results in call order. In an
        item that was interrupted, calls without a result are left out: they are what was cut
        off (it may have no parts then). Items in order are the same objects.
    """
    answers = _Answers(items)
    made: list[Item] = []
    for at, item in enumerate(items):
        if without is not None and without(item):
            continue
        if item.kind is ItemKind.TOOL:
            if orphan is not None:
                orphans = map(orphan, answers.orphans.get(at, ()))
                made.extend(one for one in orphans if one is not None)
            continue
        if not has_calls(item):
            made.append(item)
            continue
        calls = item.tool_calls
        results = [answers.by_call.get((at, place)) for place in range(len(calls))]
        if item.interrupted and not all(results):
            item = _without_unanswered(item, results)
            calls = item.tool_calls
            results = [found for found in results if found is not None]
        made.append(item)
        if calls:
            made.append(_tool_item(items, at, calls, results))
    return made


def _without_unanswered(item: Item, results: Iterable[ToolResult | None]) -> Item:
    answers = iter(results)
    kept = [one for one in item.parts if type(one) is not ToolCall or next(answers) is not None]
    return with_parts(item, kept)


def _tool_item(
    items: Sequence[Item], at: int, calls: Sequence[ToolCall], results: Sequence[ToolResult | None]
) -> Item:
    parts = tuple(
        interrupted_result(call) if found is None else found
        for call, found in zip(calls, results, strict=True)
    )
    following = items[at + 1] if at + 1 < len(items) else None
    if following is None or following.kind is not ItemKind.TOOL:
        return Item(ItemKind.TOOL, parts)
    return with_parts(following, parts)


_Waiting = list[tuple[int, deque[int]]]
"""The open calls of one id: positions of items, and the places among their calls."""


class _Answers:
    """Which result answers which call, and which answer none, by position."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.by_call: dict[tuple[int, int], ToolResult] = {}
        """Position of the item, place among its calls; to the result."""
        self.orphans: dict[int, list[ToolResult]] = {}
        """Position of the tool item, to its results without a call."""
        open_calls: dict[ToolCallId, _Waiting] = {}
        for at, item in enumerate(items):
            if has_calls(item):
                for place, call in enumerate(item.tool_calls):
                    waiting = open_calls.setdefault(call.id, [])
                    if not waiting or waiting[-1][0] != at:
                        waiting.append((at, deque()))
                    waiting[-1][1].append(place)
            elif item.kind is ItemKind.TOOL:
                for result in item.tool_results:
                    calls = open_calls.get(result.call_id)
                    if calls is None:
                        self.orphans.setdefault(at, []).append(result)
                    elif calls:
                        self.by_call[_next(calls)] = result
                    # else the call has its result already: one too many


def _next(waiting: _Waiting) -> tuple[int, int]:
    """Take the first open call of the latest item that has one."""
    at, places = waiting[-1]
    place = places.popleft()
    if not places:
        waiting.pop()
    return at, place
