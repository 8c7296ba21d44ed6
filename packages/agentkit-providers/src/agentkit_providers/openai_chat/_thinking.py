"""Thinking levels: each vendor has fields and words of its own."""

from __future__ import annotations

from typing import Any

from agentkit_core import ModelRequest, ThinkingLevel
from agentkit_providers._protocol_kit._encoded_options import EncodedThinking, level_note
from agentkit_providers._protocol_kit._thinking_levels import supported_level
from agentkit_providers.openai_chat._quirks import Quirks, ThinkingFormat


def encode_thinking(request: ModelRequest, quirks: Quirks) -> EncodedThinking:
    """Write how much the model should think; see `EncodedThinking`."""
    asked = request.options.thinking
    if asked is None or quirks.thinking_format is ThinkingFormat.NONE:
        return EncodedThinking({}, note=level_note(asked, None))
    level = supported_level(asked, quirks.thinking_level_map)
    return EncodedThinking(_fields(level, quirks), level, level_note(asked, level))


def _fields(level: ThinkingLevel, quirks: Quirks) -> dict[str, Any]:
    """The fields that ask for a level which the model has; often none."""
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
