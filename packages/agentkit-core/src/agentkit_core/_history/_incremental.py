"""Applies `sendable` to a growing history, in time proportional to the new items.

The result of `sendable` for a longer history begins with the result for a shorter one, as long as
no call was open in between, so the results for earlier items are reused. If a history was
rewritten, or a result arrives late, everything is computed again. The outcome always equals that
of `sendable`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from operator import is_

from agentkit_core._history._sendable import Converter, merge_roles
from agentkit_core._history._target import Target
from agentkit_core._ids import ToolCallId
from agentkit_core._item import TOOL, Item, has_calls


class SendableHistory:
    """The sendable items of one conversation, updated from request to request.

    Args:
        target: What the model accepts.
    """

    __slots__ = (
        "__weakref__",
        "_calls",
        "_converter",
        "_final",
        "_group_at",
        "_merged",
        "items",
        "target",
    )

    def __init__(self, target: Target) -> None:
        self.target = target
        self.items: Sequence[Item] = ()
        """What `sendable` returns for the history of the last `update`. Do not change it: it may be
        a list that the next `update` extends."""
        self._restart()

    def _restart(self) -> None:
        self._final: list[Item] = []  # items of the history whose result does not change any more
        self._calls: set[ToolCallId] = set()  # the calls in these items
        self._converter = Converter(self.target)  # has converted these items
        self._merged: list[Item] = []  # their result after merging, without the last group
        self._group_at = 0  # where the last group begins in the result before merging

    def update(self, items: Sequence[Item]) -> int:
        """Take the current history and update `self.items`.

        Args:
            items: The whole history, oldest first. Items of the last update are recognized by
                identity.

        Returns:
            How many of `self.items`, from the first, are certainly the same objects as before.
        """
        final_count = len(self._final)
        tail = items[final_count:]
        if (
            len(items) < final_count
            or not all(map(is_, self._final, items))
            or _refers_back(tail, self._calls)
        ):
            self._restart()
            tail = items
        unmerged = self.target.consecutive_roles
        same_count = len(self._converter.items if unmerged else self._merged)
        closed_count = len(tail) - _count_open(tail)
        if closed_count < len(tail) and _refers_back(
            tail[closed_count:], _calls_of(tail[:closed_count])
        ):
            closed_count = 0
        if closed_count and not self._converter.has_front:
            trial = self._converter.copy()
            without_calls = trial.take(tail[:closed_count])
            if trial.has_front:
                self._converter = trial
            else:
                closed_count = 0  # a later system item may yet move before these
        else:
            without_calls = self._converter.take(tail[:closed_count])
        self._final += tail[:closed_count]
        self._calls |= _calls_of(tail[without_calls:closed_count])
        self._keep_merged()
        converter = self._converter
        if closed_count < len(tail):
            converter = converter.copy()
            converter.take(tail[closed_count:])
        if unmerged:
            self.items = converter.items
        else:
            last_group = merge_roles(converter.items[self._group_at :], self.target)
            self.items = [*self._merged, *last_group]
        return same_count

    def _keep_merged(self) -> None:
        """Merge what was converted and does not change any more."""
        if self.target.consecutive_roles:
            return
        converted = self._converter.items
        last = len(converted) - 1
        while last > self._group_at and _are_merged(converted[last - 1], converted[last]):
            last -= 1
        if last > self._group_at:
            self._merged += merge_roles(converted[self._group_at : last], self.target)
            self._group_at = last


def _calls_of(items: Sequence[Item]) -> set[ToolCallId]:
    return {call.id for item in items if has_calls(item) for call in item.tool_calls}


def _refers_back(items: Sequence[Item], calls: Collection[ToolCallId]) -> bool:
    """Whether a result in these items belongs to a call before them."""
    if not calls:
        return False
    waiting = Counter[ToolCallId]()
    for item in items:
        if item.kind is not TOOL:
            if has_calls(item):
                waiting.update(call.id for call in item.tool_calls)
            continue
        for result in item.tool_results:
            if waiting[result.call_id] > 0:
                waiting[result.call_id] -= 1
            elif result.call_id in calls:
                return True
    return False


def _are_merged(item: Item, following: Item) -> bool:
    """Whether two neighbours become one item."""
    return item.kind is following.kind and item.kind is not TOOL


def _count_open(items: Sequence[Item]) -> int:
    """Count the items from the last item with calls on, if a call has no result; otherwise 0."""
    with_result = set[ToolCallId]()
    for count, item in enumerate(reversed(items), 1):
        if item.kind is TOOL:
            with_result.update(result.call_id for result in item.tool_results)
            continue
        return count if any(call.id not in with_result for call in item.tool_calls) else 0
    return 0
