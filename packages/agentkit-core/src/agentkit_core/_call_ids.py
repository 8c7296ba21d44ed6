"""Call ids that a target accepts: deterministic, one for one, good ids left alone.

Ids are given in the order of the history and depend only on what came before, so that a
longer history begins with the same ids as a shorter one (providers cache by prefix).
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from agentkit_core._ids import ToolCallId
from agentkit_core._item import Item, ItemKind, with_parts
from agentkit_core._part import Part, ToolCall, ToolResult
from agentkit_core._target import IdRule

ANY_ID: Final = IdRule(characters=None, max_length=None)
"""Accepts every id but the empty one."""

_HASH_LENGTH: Final = 8


class CallIds:
    """Gives the calls of one history their ids, item by item.

    Args:
        rule: Which ids are accepted.
    """

    def __init__(self, rule: IdRule) -> None:
        self._rule = rule
        self._used: set[str] = set()

    def renamed(self, item: Item, before: Item | None) -> Item:
        """Give the calls of an item, or the results of a tool item, their ids.

        Args:
            item: The next item of a history in which all calls and results are paired.
            before: What this method returned for the item before; the results of a tool item
                take their ids from its calls, one by one.
        """
        if item.kind is ItemKind.ASSISTANT:
            return with_parts(item, [self._call(part) for part in item.parts])
        if item.kind is ItemKind.TOOL and before is not None:
            pairs = zip(item.tool_results, before.tool_calls, strict=True)
            return with_parts(item, [_answering(result, call.id) for result, call in pairs])
        return item

    def _call(self, part: Part) -> Part:
        if type(part) is not ToolCall:
            return part
        given = self._next(part.id)
        return part if given == part.id else replace(part, id=ToolCallId(given))

    def _next(self, call_id: str) -> str:
        given = call_id if self._rule.accepts(call_id) else fitted(call_id, self._rule)
        again = 0
        while not given or given in self._used:
            again += 1
            given = fitted(f"{call_id}#{again}", self._rule, hashed=True)
        self._used.add(given)
        return given


def fitted(name: str, rule: IdRule, *, hashed: bool = False) -> str:
    """Make an id that a rule accepts from one that it may refuse.

    Args:
        name: The id as it is; empty gives `call`.
        rule: What is accepted.
        hashed: Whether to add a hash of `name`, so that names that differ anywhere give
            different ids; it is added anyway where something is cut off.
    """
    clean = name or "call"
    if rule.characters is not None:
        clean = _others(rule.characters).sub(_substitute(rule.characters), clean)
    if rule.exact_length is not None:
        if len(clean) == rule.exact_length and not hashed:
            return clean
        return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[: rule.exact_length]
    if not hashed and (rule.max_length is None or len(clean) <= rule.max_length):
        return clean
    tail = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]
    separator = "_" if rule.accepts("_") or rule.characters is None else ""
    room = len(clean) if rule.max_length is None else rule.max_length - len(separator + tail)
    return clean[:room] + separator + tail


@lru_cache(maxsize=64)
def _others(characters: str) -> re.Pattern[str]:
    return re.compile(f"[^{characters}]")


@lru_cache(maxsize=64)
def _substitute(characters: str) -> str:
    """What a refused character becomes: an underscore where that is accepted, else nothing."""
    return "_" if re.fullmatch(f"[{characters}]", "_") else ""


def _answering(result: ToolResult, call_id: ToolCallId) -> ToolResult:
    return result if result.call_id == call_id else replace(result, call_id=call_id)
