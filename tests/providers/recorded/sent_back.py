"""What vendors want back with the next request: signatures and encrypted content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from agentkit_core import Item, ModelResponse, TextOutput, ThinkingLevel, ToolResult
from agentkit_core.provider import Projection
from providers.recorded.exchanges import Exchange, request_of

_NAMES: Final = (
    "signature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "encrypted_index",
    "encrypted_stdout",
)
"""The vendors' names of values that they want back unchanged."""
_TYPES_WITH_DATA: Final = ("redacted_thinking", "reasoning.encrypted")
"""Types of objects whose `data` is such a value."""

NOT_SENT_BACK: Final = {
    "anth-anthropic-in-flight-native-tool-call-history-is-accepted-13caef": "results of a search "
    "that an earlier response called; without it, the vendor refuses them",
    "chat-snowflake-thinking-1fbb38": "Snowflake has no row, and not every server takes "
    "`reasoning_details`",
    "resp-openai-streaming-grammar-incomplete-max-output-tokens-85c510": "reasoning that was cut "
    "off; without what follows it, the vendor refuses it",
    "resp-openai-truncated-turn-cross-surface-truncation-parity-4b46aa": "as before",
    "resp-openai-truncated-turn-responses-streaming-reasoning-budget-b024bd": "as before",
}
"""Recorded responses of which something does not go back, and why."""


def missing_in_next_request(
    exchange: Exchange, projection: Projection, response: ModelResponse
) -> list[str]:
    """What the vendor wants back of its response, and the next request does not have."""
    item = response.item
    results = [ToolResult(call.id, TextOutput("done")) for call in item.tool_calls]
    following = Item.tool(*results) if results else Item.user("go on")
    asked = request_of(exchange)
    options = asked.options
    if exchange["protocol"] == "anthropic-messages":  # it takes thoughts only while it thinks
        options = replace(options, thinking=ThinkingLevel.HIGH)
    request = replace(asked, items=(Item.user("hi"), item, following), options=options)
    sent = set(_texts(msgspec.json.decode(projection.encode(request).body)))
    # Streams cut what they send: there, what the decoder keeps must do.
    wanted = _wanted(exchange.get("response") or msgspec.to_builtins(item))
    return [value for value in wanted if value not in sent]


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _texts(inner)
        case list():
            for inner in value:
                yield from _texts(inner)


def _wanted(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, inner in value.items():
                secret = name in _NAMES or name.endswith((".signature", ".redacted_data"))
                typed = name == "data" and value.get("type") in _TYPES_WITH_DATA
                if isinstance(inner, str) and inner and (secret or typed):
                    yield inner
                else:
                    yield from _wanted(inner)
        case list() | tuple():
            for inner in value:
                yield from _wanted(inner)
