"""Thinking levels: a level or a budget of tokens, by the model's family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import JsonValue, ModelRequest, ThinkingLevel
from agentkit_providers._protocol_kit._encoded_options import EncodedThinking
from agentkit_providers._protocol_kit._thinking_levels import fitted_budget, supported_level
from agentkit_providers.google_generate._models import ThinkingScale, thinking_scale
from agentkit_providers.google_generate._quirks import Quirks
from agentkit_providers.google_generate._wire_request import ThinkingConfig

_LEVELS_ON: Final = tuple(level for level in ThinkingLevel if level is not ThinkingLevel.OFF)
_MIN_BUDGET: Final = 128
"""The smallest budget of models that always think."""


def encode_thinking(request: ModelRequest, quirks: Quirks) -> EncodedThinking:
    """Write how much the model should think; see `EncodedThinking`.

    The limit on the output includes thoughts, so a budget is cut where it would leave less than
    `_thinking_levels.LEAST_ANSWER` tokens for the response; the note then has `budget_tokens` too.

    Returns:
        The field `thinkingConfig` of the generation config, or none.
    """
    asked = request.options.thinking
    if asked is None:
        return EncodedThinking({})
    scale = thinking_scale(request.model) if _can_think(quirks) else None
    if scale is None:
        is_off = asked is ThinkingLevel.OFF
        return EncodedThinking({}, note=None if is_off else {"asked": asked.value, "sent": None})
    level, value = _level_and_value(asked, scale, quirks)
    effective = _effective_level(level, value, scale, quirks)
    note: JsonValue = None
    if effective != asked.value:
        note = {"asked": asked.value, "sent": effective}
    include_thoughts = True if level is not ThinkingLevel.OFF else None
    if isinstance(value, str):
        config = ThinkingConfig(include_thoughts, thinking_level=value)
        return EncodedThinking({"thinkingConfig": config}, level, note)
    budget = value
    limit = request.options.max_output_tokens
    if limit is not None and budget > 0:
        _, budget = fitted_budget(budget, asked_tokens=None, most_tokens=limit)
        if not scale.can_be_off:
            budget = max(budget, _MIN_BUDGET)
    if budget != value:
        note = {"asked": asked.value, "sent": effective, "budget_tokens": budget}
    config = ThinkingConfig(include_thoughts, thinking_budget=budget)
    return EncodedThinking({"thinkingConfig": config}, level, note)


def _can_think(quirks: Quirks) -> bool:
    words = quirks.thinking_level_map
    return any(words.get(level, "") is not None for level in _LEVELS_ON)


def _level_and_value(
    asked: ThinkingLevel, scale: ThinkingScale, quirks: Quirks
) -> tuple[ThinkingLevel, str | int]:
    """The level that the model has for the one that is asked for, and what is sent for it."""
    level_map: Mapping[ThinkingLevel, str | None] = {
        **{level: str(tokens) for level, tokens in quirks.thinking_budgets.items()},
        **quirks.thinking_level_map,
    }
    level = supported_level(asked, level_map)
    word, tokens = quirks.thinking_level_map.get(level), quirks.thinking_budgets.get(level)
    if word is not None:
        return level, word
    if tokens is not None:
        return level, tokens
    if level is ThinkingLevel.OFF:
        return level, scale.off
    return level, scale.levels[level]


def _effective_level(
    level: ThinkingLevel, value: str | int, scale: ThinkingScale, quirks: Quirks
) -> str:
    """The level at which the model thinks when sent a value, which may differ from `level`."""
    if quirks.thinking_level_map.get(level) is not None or level in quirks.thinking_budgets:
        return level.value
    if level is ThinkingLevel.OFF and scale.can_be_off:
        return level.value
    if isinstance(value, str):
        return value
    if level is ThinkingLevel.OFF:
        return ThinkingLevel.MINIMAL.value
    return "dynamic" if value < 0 else level.value
