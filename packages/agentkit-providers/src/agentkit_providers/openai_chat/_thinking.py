"""Thinking levels: each vendor has fields and words of its own."""

from __future__ import annotations

from typing import Any

from agentkit_core import ModelRequest, ThinkingLevel
from agentkit_providers._protocol_kit._encoded_options import EncodedThinking, level_note
from agentkit_providers._protocol_kit._thinking_levels import supported_level
from agentkit_providers.openai_chat._quirks import EffortWithTools, Quirks, ThinkingFormat


def encode_thinking(request: ModelRequest, quirks: Quirks) -> EncodedThinking:
    """Write how much the model should think; see `EncodedThinking`."""
    asked = request.options.thinking
    if asked is None or quirks.thinking_format is ThinkingFormat.NONE:
        return EncodedThinking({}, note=level_note(asked, None))
    level = fitted_level(asked, quirks)
    fields = _fields(level, quirks)
    is_said = bool(fields) or level is ThinkingLevel.OFF
    return EncodedThinking(fields, level, level_note(asked, level if is_said else None))


def fitted_level(asked: ThinkingLevel, quirks: Quirks) -> ThinkingLevel:
    """The level that the model has in place of the one that is asked for."""
    if quirks.thinking_format is ThinkingFormat.NONE:
        return ThinkingLevel.OFF
    return supported_level(asked, quirks.thinking_level_map)


def _fields(level: ThinkingLevel, quirks: Quirks) -> dict[str, Any]:
    """The fields that ask for a level which the model has; often none."""
    on = level is not ThinkingLevel.OFF
    word = quirks.thinking_level_map.get(level) or (level.value if on else None)
    if not on and quirks.effort_with_tools is EffortWithTools.OFF:
        word = "none"  # such a model would think by itself
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
