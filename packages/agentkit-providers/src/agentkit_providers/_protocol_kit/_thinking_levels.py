"""Thinking levels fitted to what a model has. Each protocol knows the words for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import ThinkingLevel

_LEVELS: Final = tuple(ThinkingLevel)
_EXTRA_LEVELS: Final = frozenset({ThinkingLevel.XHIGH, ThinkingLevel.MAX})


def supported_level(
    asked: ThinkingLevel, level_map: Mapping[ThinkingLevel, str | None]
) -> ThinkingLevel:
    """Find the level that a model has in place of the one that is asked for.

    That is the same level or the next higher one that the model has, else the next lower one, else
    off.

    Args:
        asked: The level that the caller asks for.
        level_map: Words for levels; None for a level that the model does not have. A model has the
            levels up to `high` unless the map says None, and those above only if the map has them.
    """
    place = _LEVELS.index(asked)
    for level in (*_LEVELS[place:], *reversed(_LEVELS[:place])):
        if level in level_map:
            if level_map[level] is not None:
                return level
        elif level not in _EXTRA_LEVELS:
            return level
    return ThinkingLevel.OFF


TOKEN_BUDGETS: Final[Mapping[ThinkingLevel, int]] = {
    ThinkingLevel.MINIMAL: 1024,
    ThinkingLevel.LOW: 2048,
    ThinkingLevel.MEDIUM: 8192,
    ThinkingLevel.HIGH: 16384,
    ThinkingLevel.XHIGH: 16384,
    ThinkingLevel.MAX: 16384,
}
"""How many tokens a level may use for thinking, where a protocol takes a budget."""

LEAST_ANSWER: Final = 1024
"""How many tokens a budget leaves for the response."""


def fitted_budget(budget: int, *, asked_tokens: int | None, most_tokens: int) -> tuple[int, int]:
    """Fit a budget for thinking into the limit on the output.

    Args:
        budget: The tokens of the level.
        asked_tokens: The caller's limit on the response itself; None for no limit.
        most_tokens: The most that the model can put out, thinking included.

    Returns:
        Two numbers. The limit on the output: the caller's limit and the budget together, or
        `most_tokens` where that is less. And the budget, cut so that the response has at least
        `LEAST_ANSWER` tokens, or the caller's limit where that is less.
    """
    limit = most_tokens if asked_tokens is None else min(asked_tokens + budget, most_tokens)
    least = LEAST_ANSWER if asked_tokens is None else min(asked_tokens, LEAST_ANSWER)
    if limit - budget < least:
        budget = min(budget, max(0, limit - LEAST_ANSWER))
    return limit, budget
