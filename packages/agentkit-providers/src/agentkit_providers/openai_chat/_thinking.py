"""Thinking levels, as each vendor takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentkit_core import ThinkingLevel
from agentkit_providers.openai_chat._quirks import Quirks, ThinkingFormat

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


def thinking_fields(level: ThinkingLevel, quirks: Quirks) -> dict[str, Any]:
    """The fields of a request that ask for a level which the model has; often none."""
    on = level is not ThinkingLevel.OFF
    word = quirks.thinking_level_map.get(level) or (level.value if on else None)
    effort: dict[str, Any] = {}
    if word is not None and quirks.supports_reasoning_effort:
        effort = {"reasoning_effort": word}
    switch = "enabled" if on else "disabled"
    match quirks.thinking_format:
        case ThinkingFormat.NONE:
            return {}
        case ThinkingFormat.OPENAI:
            return effort
        case ThinkingFormat.OPENROUTER:
            return {"reasoning": {"effort": word or "none"}}
        case ThinkingFormat.DEEPSEEK:
            return {"thinking": {"type": switch}, **effort}
        case ThinkingFormat.ZAI:
            return {"thinking": {"type": switch, "clear_thinking": False}, **effort}
        case ThinkingFormat.TOGETHER:
            return {"reasoning": {"enabled": on}, **effort}
        case ThinkingFormat.QWEN:
            return {"enable_thinking": on}
        case ThinkingFormat.QWEN_TEMPLATE:
            return {"chat_template_kwargs": {"enable_thinking": on, "preserve_thinking": True}}
        case ThinkingFormat.BASETEN:
            return {"chat_template_args": {"enable_thinking": on}}
