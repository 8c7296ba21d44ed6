"""Call ids that a target accepts; an id that is accepted and unique is not changed.

A new id depends only on the history before it, so that a longer history begins with the same ids
as a shorter one. Providers cache by prefix.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from agentkit_core._history._target import IdRule
from agentkit_core._ids import ToolCallId
from agentkit_core._item import TOOL, Item, has_calls, with_parts
from agentkit_core._part import Part, ToolCall, ToolResult

ANY_ID: Final = IdRule(characters=None, max_length=None)
"""Accepts every id that is not empty."""


class CallIds:
    """Replaces the call ids of one history that a target does not accept, item by item.

    Args:
        rule: Which ids are accepted.
        names: Which tool names are accepted; None accepts all.
    """

    __slots__ = ("_names", "_repeats", "_rule", "_used")

    def __init__(self, rule: IdRule, *, names: IdRule | None = None) -> None:
        self._rule = rule
        self._names = names
        self._used: set[str] = set()
        self._repeats: dict[str, int] = {}
        """How often each id was repeated; some servers use the same ids in every turn."""

    def copy(self) -> CallIds:
        """Return an independent copy with the same state."""
        duplicate = CallIds(self._rule, names=self._names)
        duplicate._used, duplicate._repeats = self._used.copy(), self._repeats.copy()
        return duplicate

    def rename(self, item: Item, before: Item | None) -> Item:
        """Return an item with accepted ids (and tool names) of its calls or results.

        Args:
            item: The next item of a history in which all calls and results are paired.
            before: What this method returned for the item before; None for the first. The results
                of a tool item get the ids of its calls. After an item without calls they keep
                their ids, as far as these are accepted.
        """
        if has_calls(item):
            return with_parts(item, [self._call(part) for part in item.parts])
        if item.kind is not TOOL:
            return item
        results = item.tool_results
        if before is not None and has_calls(before):
            ids = [call.id for call in before.tool_calls]
        else:
            ids = [self._accept(result.call_id) for result in results]
        return with_parts(item, list(map(_with_call_id, results, ids)))

    def _call(self, part: Part) -> Part:
        if type(part) is not ToolCall:
            return part
        call_id, name = self._next(part.id), part.name
        if self._names is not None and not self._names.accepts(name):
            name = self._names.fit(name or "unknown_tool")
        if call_id == part.id and name == part.name:
            return part
        return replace(part, id=call_id, name=name)

    def _accept(self, call_id: ToolCallId) -> ToolCallId:
        accepted = self._rule.accepts(call_id)
        return call_id if accepted else ToolCallId(self._rule.fit(call_id))

    def _next(self, call_id: ToolCallId) -> ToolCallId:
        new_id = self._accept(call_id)
        while new_id in self._used:
            repeats = self._repeats[call_id] = self._repeats.get(call_id, 0) + 1
            new_id = ToolCallId(self._rule.fit(f"{call_id}#{repeats}", hashed=True))
        self._used.add(new_id)
        return new_id


def _with_call_id(result: ToolResult, call_id: ToolCallId) -> ToolResult:
    return result if result.call_id == call_id else replace(result, call_id=call_id)
