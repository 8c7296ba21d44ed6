"""Thinking levels, as the vendor takes them: a level or a budget, by the model's family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import JsonValue, ModelOptions, ThinkingLevel
from agentkit_providers._thinking_levels import fitted_budget, supported_level
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
        return None, _decided(asked, None)
    level, value = _value(asked, scale, quirks)
    include = True if level is not ThinkingLevel.OFF else None
    if isinstance(value, str):
        sent: str | None = value
        if level is ThinkingLevel.OFF:
            sent = level.value if scale.stops else value
        config = ThinkingConfig(include, thinking_level=value)
        return config, None if sent == asked.value else _decided(asked, sent)
    budget = value
    if options.max_output_tokens is not None and budget > 0:
        limit = options.max_output_tokens
        _, budget = fitted_budget(budget, asked_tokens=None, most_tokens=limit)
        if not scale.stops:
            budget = max(budget, _LEAST_BUDGET)
    config = ThinkingConfig(include, thinking_budget=budget)
    if level is ThinkingLevel.OFF and not scale.stops:
        return config, {**_decided(asked, "minimal"), "budget_tokens": budget}
    if budget != value:
        return config, {**_decided(asked, level.value), "budget_tokens": budget}
    if budget < 0:
        return config, _decided(asked, "dynamic")
    return config, None if level is asked else _decided(asked, level.value)


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


def _decided(asked: ThinkingLevel, sent: str | None) -> dict[str, JsonValue]:
    return {"asked": asked.value, "sent": sent}
