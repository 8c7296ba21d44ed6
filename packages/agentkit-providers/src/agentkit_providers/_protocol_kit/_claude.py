"""Anthropic's models behind the protocols of others: what they take is a fact of the model."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_NAME: Final = re.compile(
    r"claude-(?:[a-z]+-)?(?P<major>\d{1,2})(?!\d)(?:[-.](?P<minor>\d{1,2})(?!\d))?"
)
_NEWEST: Final = (99, 0)
_FIRST_WITH_BUDGET: Final = (3, 7)
_FIRST_WITH_EFFORT: Final = (4, 6)


@lru_cache(maxsize=256)
def claude_version(model: str) -> tuple[int, int] | None:
    """Read the version of one of Anthropic's models from its name; None for other models.

    A name without a version is that of the newest model.
    """
    name = model.lower()
    if "claude" not in name:
        return None
    match = _NAME.search(name)
    return _NEWEST if match is None else (int(match["major"]), int(match["minor"] or 0))


def goes_on_from_words(model: str) -> bool:
    """Whether a model goes on from the assistant's words; true for those of other makers."""
    version = claude_version(model)
    return version is None or version < _FIRST_WITH_EFFORT


def has_thinking_budget(model: str) -> bool:
    """Whether it is one of Anthropic's models that think by a budget of tokens."""
    version = claude_version(model)
    return version is not None and _FIRST_WITH_BUDGET <= version < _FIRST_WITH_EFFORT
