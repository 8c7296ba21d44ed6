"""Thinking levels: a budget of tokens or an effort, by the model."""

from __future__ import annotations

from typing import Any, Final

from agentkit_core import ModelRequest, ThinkingLevel
from agentkit_providers._protocol_kit._encoded_options import EncodedThinking, level_note
from agentkit_providers._protocol_kit._thinking_levels import (
    TOKEN_BUDGETS,
    fitted_budget,
    supported_level,
)
from agentkit_providers._protocol_kit._unsupported import requires_call
from agentkit_providers.anthropic_messages._models import traits_of
from agentkit_providers.anthropic_messages._quirks import Quirks, ThinkingStyle

_MIN_BUDGET: Final = 1024
"""The vendor refuses smaller budgets."""
_EFFORTS: Final = {ThinkingLevel.MINIMAL: "low"}
"""Levels that have no word of their own."""


class MessagesThinking(EncodedThinking, frozen=True, kw_only=True):
    """What a request says about thinking.

    Attributes:
        fields: The field `thinking`; empty where the request says nothing about thinking.
        level: The level that is sent; None where none is.
        note: For the response's item where another level is sent than was asked for:
            `{"asked": …, "sent": …}`. None otherwise.
        max_tokens: The limit on the output, thinking included.
        effort: The word for `output_config.effort`; None for models that take a budget.
    """

    max_tokens: int
    effort: str | None = None


def encode_thinking(request: ModelRequest, quirks: Quirks) -> MessagesThinking:
    """Write how much the model should think; see `MessagesThinking`.

    A required tool call and thinking exclude each other. The call wins where thinking can be turned
    off.
    """
    options, traits = request.options, traits_of(request.model)
    asked = options.thinking
    most = quirks.max_output_tokens or traits.max_output_tokens
    limit = options.max_output_tokens or min(quirks.default_max_tokens, most)
    style = quirks.thinking_style or traits.thinking
    levels = {**traits.levels, **quirks.thinking_level_map}

    def sending(
        level: ThinkingLevel, fields: dict[str, Any], limit: int = limit, effort: str | None = None
    ) -> MessagesThinking:
        note = level_note(asked, level)
        return MessagesThinking(fields, level, note, max_tokens=limit, effort=effort)

    if asked is None:
        return MessagesThinking({}, max_tokens=limit)
    if style is ThinkingStyle.NONE:
        return sending(ThinkingLevel.OFF, {})
    level = supported_level(asked, levels)
    off = levels.get(ThinkingLevel.OFF, "disabled")
    if off is not None and requires_call(options.tool_choice):
        level = ThinkingLevel.OFF
    if level is not ThinkingLevel.OFF and style is ThinkingStyle.BUDGET:
        larger_limit, budget = fitted_budget(
            quirks.thinking_budgets.get(level) or TOKEN_BUDGETS[level],
            asked_tokens=options.max_output_tokens,
            most_tokens=limit if options.max_output_tokens is None else most,
        )
        if budget >= _MIN_BUDGET:
            enabled = {"type": "enabled", "budget_tokens": budget, **_display(quirks)}
            return sending(level, {"thinking": enabled}, larger_limit)
        level = ThinkingLevel.OFF
    if level is ThinkingLevel.OFF:
        return sending(level, {"thinking": {"type": off or "disabled"}})
    effort = levels.get(level) or _EFFORTS.get(level) or level.value
    return sending(level, {"thinking": {"type": "adaptive", **_display(quirks)}}, effort=effort)


def _display(quirks: Quirks) -> dict[str, str]:
    return {} if quirks.thinking_display is None else {"display": quirks.thinking_display}
