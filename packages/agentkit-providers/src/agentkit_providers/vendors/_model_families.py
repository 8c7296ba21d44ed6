"""Families of models that several vendors serve with Chat Completions, and how they differ.

The patterns are plain data, as in the rows of vendors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import JsonValue

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

KIMI: Final[dict[str, JsonValue]] = {"thinks": True, "sampling": False}
GPT_OSS: Final[dict[str, JsonValue]] = {"thinking_level_map": {"off": None, "minimal": None}}
