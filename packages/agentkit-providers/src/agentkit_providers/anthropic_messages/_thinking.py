"""Thinking levels, as each model takes them."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from agentkit_core import MetadataMap, ModelRequest, NamedTool, ThinkingLevel, ToolChoiceMode
from agentkit_providers._protocol_kit._thinking_levels import (
    TOKEN_BUDGETS,
    fitted_budget,
    supported_level,
)
from agentkit_providers.anthropic_messages._metadata_keys import THINKING_KEY
from agentkit_providers.anthropic_messages._models import Traits
from agentkit_providers.anthropic_messages._quirks import Quirks, ThinkingStyle

_LEAST_BUDGET: Final = 1024
"""The vendor refuses smaller ones."""
_EFFORTS: Final = {ThinkingLevel.MINIMAL: "low"}
"""Levels that have no word of their own."""


class Thinking(Struct, frozen=True):
    """What is said of thinking, and what follows from it.

    Attributes:
        max_tokens: The limit on the output, thinking included.
        level: The level that is sent; None where nothing is said of it.
    """

    max_tokens: int
    thinking: dict[str, Any] | None = None
    effort: str | None = None
    level: ThinkingLevel | None = None

    @property
    def is_on(self) -> bool:
        """Whether the model is asked to think."""
        return self.level not in (None, ThinkingLevel.OFF)

    def noted(self, asked: ThinkingLevel | None) -> MetadataMap:
        """What the answer's item is to know, where another level was asked for."""
        if asked is None or asked is self.level:
            return {}
        sent = None if self.level is None else self.level.value
        return {THINKING_KEY: {"asked": asked.value, "sent": sent}}


def thinking_of(request: ModelRequest, quirks: Quirks, traits: Traits) -> Thinking:
    """Say how much the model is to think.

    A call that is required and thinking exclude each other: the call wins where thinking can be
    turned off.
    """
    options = request.options
    most = quirks.max_output_tokens or traits.max_output_tokens
    plain = options.max_output_tokens or min(quirks.default_max_tokens, most)
    style = quirks.thinking_style or traits.thinking
    levels = {**traits.levels, **quirks.thinking_level_map}
    if options.thinking is None:
        return Thinking(plain)
    if style is ThinkingStyle.NONE:
        return Thinking(plain, level=ThinkingLevel.OFF)
    level = supported_level(options.thinking, levels)
    off = levels.get(ThinkingLevel.OFF, "disabled")
    if off is not None and _requires_a_call(request):
        level = ThinkingLevel.OFF
    if level is not ThinkingLevel.OFF and style is ThinkingStyle.BUDGET:
        budget = quirks.thinking_budgets.get(level) or TOKEN_BUDGETS[level]
        limit, budget = fitted_budget(
            budget,
            asked_tokens=options.max_output_tokens,
            most_tokens=plain if options.max_output_tokens is None else most,
        )
        if budget >= _LEAST_BUDGET:
            enabled = {"type": "enabled", "budget_tokens": budget, **_display(quirks)}
            return Thinking(limit, enabled, level=level)
        level = ThinkingLevel.OFF
    if level is ThinkingLevel.OFF:
        return Thinking(plain, {"type": off or "disabled"}, level=level)
    effort = levels.get(level) or _EFFORTS.get(level) or level.value
    return Thinking(plain, {"type": "adaptive", **_display(quirks)}, effort, level)


def _display(quirks: Quirks) -> dict[str, str]:
    return {} if quirks.thinking_display is None else {"display": quirks.thinking_display}


def _requires_a_call(request: ModelRequest) -> bool:
    choice = request.options.tool_choice
    return choice is ToolChoiceMode.REQUIRED or isinstance(choice, NamedTool)
