"""Thinking levels against what a model has; shared by the protocols, which know the words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import ThinkingLevel

_LEVELS: Final = tuple(ThinkingLevel)
_EXTRA_LEVELS: Final = frozenset({ThinkingLevel.XHIGH, ThinkingLevel.MAX})


def supported_level(
    asked: ThinkingLevel, level_map: Mapping[ThinkingLevel, str | None]
) -> ThinkingLevel:
    """The level that a model has for the one that is asked for.

    The next higher one that it has, else the next lower one, else off. Levels up to `high` are
    had unless the map says None; those above only if the map names them.
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
"""How many tokens a level may think where a protocol takes a budget instead of a word."""

LEAST_ANSWER: Final = 1024
"""How many tokens a budget leaves for the answer."""


def fitted_budget(budget: int, *, asked_tokens: int | None, most_tokens: int) -> tuple[int, int]:
    """Fit a budget for thinking into the limit on the output.

    Args:
        budget: The tokens that the level stands for.
        asked_tokens: The limit that was asked for the answer itself; None means none.
        most_tokens: The most that the model may put out, thinking included.

    Returns:
        The limit on the output, which is the answer's and the budget together where the model
        allows it; and the budget, cut so that the answer has at least `LEAST_ANSWER` tokens, or
        what was asked for it where that is less.
    """
    limit = most_tokens if asked_tokens is None else min(asked_tokens + budget, most_tokens)
    least = LEAST_ANSWER if asked_tokens is None else min(asked_tokens, LEAST_ANSWER)
    if limit - budget < least:
        budget = min(budget, max(0, limit - LEAST_ANSWER))
    return limit, budget
