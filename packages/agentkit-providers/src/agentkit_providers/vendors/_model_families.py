"""Families of models that several vendors serve with Chat Completions, and how they differ.

The patterns are plain data, as in the rows of vendors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import JsonValue
from agentkit_providers._protocol_kit._tool_rules import CLAUDE_NAMES

Models = dict[str, dict[str, JsonValue]]
"""The type of `Endpoint.models`."""

MODELS_OF_OPENAI: Final[Models] = {
    "o[1-9]*": {"sampling": False, "parallel_tools": False},
    "o[3-9]*": {"max_stop_sequences": 0},
    "gpt-[5-9]*": {"sampling": False, "max_stop_sequences": 0},
    # With tools they think in Responses only (openai/openai-openapi#541, livekit/agents#7169).
    "gpt-5.[2-5]*": {"effort_with_tools": "unsaid"},
    "gpt-5.[6-9]*": {"effort_with_tools": "off", "thinks": True},
    "gpt-5.[1-9][0-9]*": {"effort_with_tools": "off", "thinks": True},
    "gpt-[6-9]*": {"effort_with_tools": "off", "thinks": True},
    # These cannot reason, and refuse requests that ask for it.
    "gpt-[34]*": {"thinking_format": "none"},
    "chatgpt-*": {"thinking_format": "none"},
    "gpt-5*-chat*": {
        "thinking_format": "none",
        "sampling": True,
        "max_stop_sequences": 4,
        "effort_with_tools": "sent",
    },
}
OPENAI: Final[Mapping[str, JsonValue]] = {"max_stop_sequences": 4}

_CLAUDE: Final[dict[str, JsonValue]] = {
    "forced_calls": "not_thinking",
    "property_names": CLAUDE_NAMES,
    "late_system": False,
    "continuation": "user_follows",
}
"""Anthropic's models behind gateways, which speak Messages to them."""
_BUDGET: Final[dict[str, JsonValue]] = {"thinking_opens_turn": True, "continuation": "sent"}
_UP_TO_35: Final[dict[str, JsonValue]] = {"continuation": "sent"}


def claude_models(
    all_models: str, prefix: str, more: Mapping[str, JsonValue] | None = None
) -> Models:
    """The patterns of Anthropic's models at a gateway.

    Args:
        all_models: The pattern of all of them.
        prefix: What stands before `claude` in their names; may hold wildcards.
        more: Further quirks that all of them have there; None for none.
    """
    return {
        all_models: {**_CLAUDE, **(more or {})},
        f"{prefix}claude-[123]*": _UP_TO_35,
        f"{prefix}claude-3[.-]7*": _BUDGET,
        **{
            f"{prefix}claude-{family}-4{version}": _BUDGET
            for family in ("opus", "sonnet", "haiku")
            for version in ("", ":*", "-2*", "@*", "[.-][0-5]", "[.-][0-5][!0-9]*")
        },
    }


KIMI: Final[dict[str, JsonValue]] = {"thinks": True, "sampling": False}
GPT_OSS: Final[dict[str, JsonValue]] = {"thinking_level_map": {"off": None, "minimal": None}}
