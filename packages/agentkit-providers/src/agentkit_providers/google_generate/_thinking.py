"""Thinking levels, as the vendor takes them: a level or a budget, by the model's family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import JsonValue, ModelOptions, ThinkingLevel
from agentkit_providers._protocol_kit._thinking_levels import fitted_budget, supported_level
from agentkit_providers.google_generate._models import ThinkingScale, thinking_scale
from agentkit_providers.google_generate._quirks import Quirks
from agentkit_providers.google_generate._wire_request import ThinkingConfig

_ON: Final = tuple(level for level in ThinkingLevel if level is not ThinkingLevel.OFF)
_LEAST_BUDGET: Final = 128
"""The least that models take which always think."""


def thinking_config(
    options: ModelOptions, model: str, quirks: Quirks
) -> tuple[ThinkingConfig | None, JsonValue]:
    """Say how much to think.

    The limit on the output holds for thoughts too, so a budget is cut where it would leave less
    than `_thinking_levels.LEAST_ANSWER` tokens for the answer.

    Returns:
        The field of the request, None to say nothing; and what was decided where that is not
        what was asked, else None.
    """
    asked = options.thinking
    if asked is None:
        return None, None
    scale = thinking_scale(model) if _thinks(quirks) else None
    if scale is None:
        return None, None if asked is ThinkingLevel.OFF else {"asked": asked.value, "sent": None}
    level, value = _value(asked, scale, quirks)
    had = _had(level, value, scale, quirks)
    decided: JsonValue = None if had == asked.value else {"asked": asked.value, "sent": had}
    shown = True if level is not ThinkingLevel.OFF else None
    if isinstance(value, str):
        return ThinkingConfig(shown, thinking_level=value), decided
    budget = value
    if options.max_output_tokens is not None and budget > 0:
        limit = options.max_output_tokens
        _, budget = fitted_budget(budget, asked_tokens=None, most_tokens=limit)
        if not scale.stops:
            budget = max(budget, _LEAST_BUDGET)
    if budget != value:
        decided = {"asked": asked.value, "sent": had, "budget_tokens": budget}
    return ThinkingConfig(shown, thinking_budget=budget), decided


def _thinks(quirks: Quirks) -> bool:
    known = quirks.thinking_level_map
    return any(known.get(level, "") is not None for level in _ON)


def _value(
    asked: ThinkingLevel, scale: ThinkingScale, quirks: Quirks
) -> tuple[ThinkingLevel, str | int]:
    """The level that is had for the one that is asked, and what is sent for it."""
    known: Mapping[ThinkingLevel, str | None] = {
        **{level: str(tokens) for level, tokens in quirks.thinking_budgets.items()},
        **quirks.thinking_level_map,
    }
    level = supported_level(asked, known)
    word, tokens = quirks.thinking_level_map.get(level), quirks.thinking_budgets.get(level)
    if word is not None:
        return level, word
    if tokens is not None:
        return level, tokens
    if level is ThinkingLevel.OFF:
        return level, scale.off
    return level, scale.levels[level]


def _had(level: ThinkingLevel, value: str | int, scale: ThinkingScale, quirks: Quirks) -> str:
    """The level that a value stands for, which may be another one than it is sent for."""
    if quirks.thinking_level_map.get(level) is not None or level in quirks.thinking_budgets:
        return level.value
    if level is ThinkingLevel.OFF and scale.stops:
        return level.value
    if isinstance(value, str):
        return value
    if level is ThinkingLevel.OFF:
        return ThinkingLevel.MINIMAL.value
    return "dynamic" if value < 0 else level.value
