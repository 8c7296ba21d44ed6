"""Thinking levels as reasoning effort, and what comes back of the reasoning."""

from __future__ import annotations

from typing import Any

from agentkit_core import ModelRequest, ThinkingLevel
from agentkit_providers._protocol_kit._encoded_options import EncodedThinking
from agentkit_providers._protocol_kit._thinking_levels import supported_level
from agentkit_providers.openai_responses._quirks import Quirks


def encode_thinking(request: ModelRequest, quirks: Quirks) -> EncodedThinking:
    """Write how much the model should think; see `EncodedThinking`.

    Of a model that cannot reason, nothing is asked.
    """
    asked = request.options.thinking
    can_reason = _can_reason(quirks)
    fields: dict[str, Any] = {}
    if can_reason and quirks.encrypted_reasoning:
        fields["include"] = ["reasoning.encrypted_content"]
    if asked is None:
        return EncodedThinking(fields)
    level, word = ThinkingLevel.OFF, None
    if can_reason and quirks.supports_reasoning_effort:
        level, word = _effort(asked, quirks)
    if word is not None:
        fields["reasoning"] = {"effort": word}
        if level is not ThinkingLevel.OFF and quirks.reasoning_summary is not None:
            fields["reasoning"]["summary"] = quirks.reasoning_summary
    if level is asked and not (can_reason and word is None):
        return EncodedThinking(fields, level)
    sent = level if word is not None or not can_reason else None
    return EncodedThinking(fields, sent, {"asked": asked.value, "sent": sent and sent.value})


def _can_reason(quirks: Quirks) -> bool:
    return supported_level(ThinkingLevel.HIGH, quirks.thinking_level_map) is not ThinkingLevel.OFF


def _effort(asked: ThinkingLevel, quirks: Quirks) -> tuple[ThinkingLevel, str | None]:
    """The level that the model has for the one that is asked for, and the vendor's word for it."""
    words = quirks.thinking_level_map
    if asked is ThinkingLevel.OFF:
        return asked, words.get(asked, "none")
    level = supported_level(asked, words)
    return level, words.get(level) or level.value
