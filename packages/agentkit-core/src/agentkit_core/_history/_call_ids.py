"""Call ids that a target accepts: deterministic, one for one, good ids left alone.

Ids are given in the order of the history and depend only on what came before, so that a
longer history begins with the same ids as a shorter one (providers cache by prefix).
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
"""Accepts every id but the empty one."""

_HASH_LENGTH: Final = 8


class CallIds:
    """Gives the calls of one history ids that are accepted, item by item.

    Args:
        rule: Which ids are accepted.
        names: Which names of tools are accepted; None accepts all.
    """

    def __init__(self, rule: IdRule, *, names: IdRule | None = None) -> None:
        self._rule = rule
        self._names = names
        self._used: set[str] = set()
        self._repeats: dict[str, int] = {}
        """How often an id has come again; some servers use the same ones in every turn."""

    def copy(self) -> CallIds:
        """Make one that goes on from here by itself."""
        twin = CallIds(self._rule, names=self._names)
        twin._used, twin._repeats = self._used.copy(), self._repeats.copy()
        return twin

    def renamed(self, item: Item, before: Item | None) -> Item:
        """Give the calls of an item, or the results of a tool item, their ids (and names).

        Args:
            item: The next item of a history in which all calls and results are paired.
            before: What this method returned for the item before; the results of a tool item
                take their ids from its calls, one by one. After an item without calls they
                keep theirs, as far as they are accepted.
        """
        if has_calls(item):
            return with_parts(item, [self._call(part) for part in item.parts])
        if item.kind is not ItemKind.TOOL:
            return item
        results = item.tool_results
        if before is not None and has_calls(before):
            ids = [call.id for call in before.tool_calls]
        else:
            ids = [self._accepted(result.call_id) for result in results]
        return with_parts(item, list(map(_answering, results, ids)))

    def _call(self, part: Part) -> Part:
        if type(part) is not ToolCall:
            return part
        given, name = self._next(part.id), part.name
        if self._names is not None and not self._names.accepts(name):
            name = fitted(name or "unknown_tool", self._names)
        if given == part.id and name == part.name:
            return part
        return replace(part, id=given, name=name)

    def _accepted(self, call_id: ToolCallId) -> ToolCallId:
        fits = self._rule.accepts(call_id)
        return call_id if fits else ToolCallId(fitted(call_id, self._rule))

    def _next(self, call_id: ToolCallId) -> ToolCallId:
        given = self._accepted(call_id)
        while given in self._used:
            again = self._repeats[call_id] = self._repeats.get(call_id, 0) + 1
            given = ToolCallId(fitted(f"{call_id}#{again}", self._rule, hashed=True))
        self._used.add(given)
        return given


def fitted(name: str, rule: IdRule, *, hashed: bool = False) -> str:
    """Make an id that a rule accepts from one that it may refuse.

    Args:
        name: The id as it is; empty gives `call`.
        rule: What is accepted; at least the characters of hexadecimal numbers.
        hashed: Whether to add a hash of `name`, so that names that differ anywhere give
            different ids; it is added anyway where something is cut off.
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
    # Imported late: it loads OpenSSL, and most ids are good as they are.
    from hashlib import sha256

    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=64)
def _others(characters: str) -> re.Pattern[str]:
    return re.compile(f"[^{characters}]")


@lru_cache(maxsize=64)
def _substitute(characters: str) -> str:
    """What a refused character becomes: an underscore where that is accepted, else nothing."""
    return "_" if re.fullmatch(f"[{characters}]", "_") else ""


def _answering(result: ToolResult, call_id: ToolCallId) -> ToolResult:
    return result if result.call_id == call_id else replace(result, call_id=call_id)
