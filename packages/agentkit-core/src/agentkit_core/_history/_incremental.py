"""A growing history made sendable again and again, at the cost of what is new.

What `sendable` gives for a longer history begins with what it gave for the shorter one, as
long as no call was open between them. So a conversation that goes on keeps what it was given
and does the rest. Anything else (a history that was rewritten, a result that comes late) is
done from the start; the result is that of `sendable` in every case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from operator import is_

from agentkit_core._history._sendable import Sending, merged
from agentkit_core._history._target import Target
from agentkit_core._ids import ToolCallId
from agentkit_core._item import Item, ItemKind


class SendableHistory:
    """What a target can be sent of one conversation, kept from request to request.

    Args:
        target: What can be sent.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.items: Sequence[Item] = ()
        """What `sendable` gives for the history of the last `update`. It may be a list that
        grows with the next one; not to be changed."""
        self._restart()

    def _restart(self) -> None:
        self._settled: list[Item] = []  # of the history: items whose outcome stays as it is
        self._calls: set[ToolCallId] = set()  # made by settled items
        self._sending = Sending(self.target)  # has taken the settled items
        self._merged: list[Item] = []  # what they give, merged, but for the last group
        self._group_at = 0  # where that group begins in what they give

    def update(self, items: Sequence[Item]) -> int:
        """Take the history as it stands now.

        Args:
            items: All of it, oldest first. Items that were there before are known by identity.

        Returns:
            How many of `self.items`, from the first, are surely the same objects as before.
        """
        known = len(self._settled)
        tail = items[known:]
        if (
            len(items) < known
            or not all(map(is_, self._settled, items))
            or _reaches_back(tail, self._calls)
        ):
            self._restart()
            tail = items
        whole = self.target.consecutive_roles
        same = len(self._sending.made if whole else self._merged)
        settled = len(tail) - _open_at_end(tail)
        if settled < len(tail) and _reaches_back(tail[settled:], _calls_of(tail[:settled])):
            settled = 0
        self._settle(tail[:settled])
        sending = self._sending
        if settled < len(tail):
            sending = sending.copy()
            sending.take(tail[settled:])
        if whole:
            self.items = sending.made
        else:
            self.items = [*self._merged, *merged(sending.made[self._group_at :], self.target)]
        return same

    def _settle(self, items: Sequence[Item]) -> None:
        self._settled += items
        self._calls |= _calls_of(items)
        self._sending.take(items)
        if self.target.consecutive_roles:
            return
        made = self._sending.made
        last = len(made) - 1
        while last > self._group_at and _joins(made[last - 1], made[last]):
            last -= 1
        if last > self._group_at:
            self._merged += merged(made[self._group_at : last], self.target)
            self._group_at = last


def _calls_of(items: Sequence[Item]) -> set[ToolCallId]:
    return {call.id for item in items for call in item.tool_calls}


def _reaches_back(items: Sequence[Item], calls: Collection[ToolCallId]) -> bool:
    """Whether a result among items comes late, or once more, for one of the calls before them."""
    if not calls:
        return False
    waiting = Counter[ToolCallId]()
    for item in items:
        waiting.update(call.id for call in item.tool_calls)
        for result in item.tool_results:
            if waiting[result.call_id] > 0:
                waiting[result.call_id] -= 1
            elif result.call_id in calls:
                return True
    return False


def _joins(item: Item, following: Item) -> bool:
    """Whether two neighbours are merged."""
    return item.kind is following.kind and item.kind is not ItemKind.TOOL


def _open_at_end(items: Sequence[Item]) -> int:
    """How many items at the end still change: the last calls, while not all have results."""
    answered = set[ToolCallId]()
    for count, item in enumerate(reversed(items), 1):
        if item.kind is ItemKind.TOOL:
            answered.update(result.call_id for result in item.tool_results)
            continue
        return count if any(call.id not in answered for call in item.tool_calls) else 0
    return 0
