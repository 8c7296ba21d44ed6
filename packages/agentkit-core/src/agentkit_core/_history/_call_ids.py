"""Call ids that a target accepts; an id that is accepted and unique is not changed.

A new id depends only on the history before it, so that a longer history begins with the same ids
as a shorter one. Providers cache by prefix.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from agentkit_core._history._target import IdRule
from agentkit_core._ids import ToolCallId
from agentkit_core._item import Item, ItemKind, has_calls, with_parts
from agentkit_core._json import without_lone_surrogates
from agentkit_core._part import Part, ToolCall, ToolResult

ANY_ID: Final = IdRule(characters=None, max_length=None)
"""Accepts every id that is not empty."""

_HASH_LENGTH: Final = 8


class CallIds:
    """Replaces the call ids of one history that a target does not accept, item by item.

    Args:
        rule: Which ids are accepted.
        names: Which tool names are accepted; None accepts all.
    """

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
        if item.kind is not ItemKind.TOOL:
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
            name = fit(name or "unknown_tool", self._names)
        if call_id == part.id and name == part.name:
            return part
        return replace(part, id=call_id, name=name)

    def _accept(self, call_id: ToolCallId) -> ToolCallId:
        accepted = self._rule.accepts(call_id)
        return call_id if accepted else ToolCallId(fit(call_id, self._rule))

    def _next(self, call_id: ToolCallId) -> ToolCallId:
        new_id = self._accept(call_id)
        while new_id in self._used:
            repeats = self._repeats[call_id] = self._repeats.get(call_id, 0) + 1
            new_id = ToolCallId(fit(f"{call_id}#{repeats}", self._rule, hashed=True))
        self._used.add(new_id)
        return new_id


def fit(name: str, rule: IdRule, *, hashed: bool = False) -> str:
    """Return an id that a rule accepts, made from any id.

    Args:
        name: The original id; empty gives `call`.
        rule: What is accepted; at least the hexadecimal digits.
        hashed: Whether to append a hash of `name`, so that different names give different ids. It
            is always appended where the name is shortened.
    """
    clean = without_lone_surrogates(name) or "call"
    if rule.characters is not None:
        clean = _others(rule.characters).sub(_substitute(rule.characters), clean)
    if rule.exact_length is not None:
        if len(clean) == rule.exact_length and not hashed:
            return clean
        return _hash(name)[: rule.exact_length]
    if clean and not hashed and (rule.max_length is None or len(clean) <= rule.max_length):
        return clean
    tail = "_" * rule.accepts("_") + _hash(name)[:_HASH_LENGTH]
    if rule.max_length is None:
        return clean + tail
    if rule.max_length <= len(tail):
        return _hash(name)[: rule.max_length]
    return clean[: rule.max_length - len(tail)] + tail


def _hash(name: str) -> str:
    # Imported late, because it loads OpenSSL, and most ids need no change.
    from hashlib import sha256

    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=64)
def _others(characters: str) -> re.Pattern[str]:
    return re.compile(f"[^{characters}]")


@lru_cache(maxsize=64)
def _substitute(characters: str) -> str:
    """The replacement of a rejected character: an underscore if that is accepted, else nothing."""
    return "_" if re.fullmatch(f"[{characters}]", "_") else ""


def _with_call_id(result: ToolResult, call_id: ToolCallId) -> ToolResult:
    return result if result.call_id == call_id else replace(result, call_id=call_id)
