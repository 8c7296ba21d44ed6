"""Counts the steps of a regular expression, so that tests of backtracking need no clock.

The patterns are those of `re`, parsed by `re` itself, and matched here by the same rules: greedy,
lazy and possessive repeats, each tried and given up one after another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

Then = Callable[[int], bool]
"""Goes on with the rest of a pattern at a position; returns whether it matches."""

MOST_STEPS = 10_000
"""Where counting ends: some patterns double their steps with each character."""

_parser: Any = re._parser  # type: ignore[attr-defined]
_compiler: Any = re._compiler  # type: ignore[attr-defined]


def steps(pattern: re.Pattern[Any], text: str, *, is_searched: bool) -> int:
    """Count the steps that a pattern takes over a text.

    Args:
        pattern: The pattern, of texts or of bytes.
        text: The text.
        is_searched: Whether all matches are searched for, as `sub` does. Otherwise only the one at
            the beginning.

    Returns:
        The steps; `MOST_STEPS`, or a few more, if there are more.
    """
    matcher = _Matcher(pattern, text if isinstance(pattern.pattern, str) else text.encode())
    at = 0
    with suppress(_TooManySteps):
        while at <= len(text):
            end = matcher.end_of_match(at)
            if not is_searched:
                break
            at = max(end, at + 1)
    return matcher.steps


def can_grow(pattern: re.Pattern[Any]) -> bool:
    """Whether anything in a pattern is repeated without limit."""
    return "MAXREPEAT" in repr(_parser.parse(pattern.pattern, pattern.flags))


class _TooManySteps(Exception):
    pass


class _Matcher:
    def __init__(self, pattern: re.Pattern[Any], text: str | bytes) -> None:
        self.steps = 0
        self._tree = _parser.parse(pattern.pattern, pattern.flags)
        self._text = text
        self._compiled: dict[int, Any] = {}
        self._keep: list[Any] = []  # what ids in `_compiled` belong to

    def end_of_match(self, at: int) -> int:
        """Where the match that begins at a position ends; -1 if there is none."""
        return self._end_of(list(self._tree), at)

    def _end_of(self, nodes: Sequence[Any], at: int) -> int:
        ends: list[int] = []

        def take(end: int) -> bool:
            ends.append(end)
            return True

        return ends[0] if self._match(nodes, 0, at, take) else -1

    def _match(self, nodes: Sequence[Any], index: int, at: int, then: Then) -> bool:
        if index == len(nodes):
            return then(at)
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise _TooManySteps
        node = nodes[index]
        kind, argument = str(node[0]), node[1]

        def go_on(end: int) -> bool:
            return self._match(nodes, index + 1, end, then)

        match kind:
            case "SUBPATTERN":
                return self._match(list(argument[-1]), 0, at, go_on)
            case "BRANCH":
                return any(self._match(list(each), 0, at, go_on) for each in argument[1])
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repeat(kind, argument, at, go_on)
            case _:
                found = self._one(node).match(self._text, at)
                return found is not None and go_on(found.end())

    def _repeat(self, kind: str, argument: Any, at: int, then: Then) -> bool:
        low, high, body = int(argument[0]), int(argument[1]), list(argument[2])
        if len(body) == 1 and str(body[0][0]) in ("IN", "LITERAL", "NOT_LITERAL", "ANY"):
            most, end = min(high, len(self._text) - at), at
            one = self._one(body[0])
            while end - at < most and one.match(self._text, end):
                end += 1
                self.steps += 1
            ends = range(at + low, end + 1)
            if kind == "POSSESSIVE_REPEAT":
                ends = ends[-1:]
            return any(map(then, ends if kind == "MIN_REPEAT" else reversed(ends)))
        if kind == "POSSESSIVE_REPEAT":
            count = 0
            while count < high:
                end = self._end_of(body, at)
                if end <= at:
                    break
                at, count = end, count + 1
            return count >= low and then(at)
        return self._repeat_group(kind, (low, high, body), 0, at, then)

    def _repeat_group(
        self, kind: str, group: tuple[int, int, list[Any]], count: int, at: int, then: Then
    ) -> bool:
        low, high, body = group

        def once_more(end: int) -> bool:
            return end > at and self._repeat_group(kind, group, count + 1, end, then)

        if kind == "MIN_REPEAT" and count >= low and then(at):
            return True
        if count < high and self._match(body, 0, at, once_more):
            return True
        return kind != "MIN_REPEAT" and count >= low and then(at)

    def _one(self, node: Any) -> Any:
        known = self._compiled.get(id(node))
        if known is None:
            self._keep.append(node)
            tree = _parser.SubPattern(self._tree.state, [node])
            known = self._compiled[id(node)] = _compiler.compile(tree)
        return known
