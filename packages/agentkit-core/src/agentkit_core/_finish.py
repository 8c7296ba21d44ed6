"""Finish reasons: one small set for all providers, which keeps the provider's own words too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from agentkit_core._json import JsonValue
from agentkit_core._metadata import MetadataMap
from agentkit_core.values import StringEnum

NATIVE_REASONS_KEY: Final = "agentkit.provider_finish_reasons"
"""Metadata key for the provider's own finish reasons, a list of strings."""


class FinishReason(StringEnum):
    """Why a response, or a turn, ended."""

    COMPLETED = "completed"
    """The model finished normally."""
    TOOL_CALL = "tool_call"
    """The model waits for the results of its tool calls."""
    MAX_TOKENS = "max_tokens"
    """The response reached the output limit or the end of the context window."""
    PAUSED = "paused"
    """The provider paused; sending the request again, with this response added, continues it."""
    BLOCKED = "blocked"
    """A content filter or the model itself refused to answer."""
    CANCELLED = "cancelled"
    """The caller cancelled it."""
    ERROR = "error"
    """It failed; what arrived may be incomplete."""
    OTHER = "other"
    """The provider gave a reason that is not known here; see `native_reasons`."""


def with_native_reasons(metadata: Mapping[str, JsonValue], words: Iterable[str]) -> MetadataMap:
    """Return an item's metadata with the provider's own finish reasons.

    Args:
        metadata: The item's metadata; it is copied.
        words: What the provider sent, in order. Empty and repeated words are dropped. Without any
            word the metadata do not have the key.
    """
    reasons: list[JsonValue] = [word for word in dict.fromkeys(words) if word]
    others = {key: value for key, value in metadata.items() if key != NATIVE_REASONS_KEY}
    return {**others, NATIVE_REASONS_KEY: reasons} if reasons else others


def native_reasons(
    metadata: Mapping[str, JsonValue], reason: FinishReason = FinishReason.COMPLETED
) -> tuple[str, ...]:
    """Return the provider's own finish reasons from an item's metadata, in order.

    Args:
        metadata: The item's metadata.
        reason: What to return, as the only entry, if the metadata have none.
    """
    stored = metadata.get(NATIVE_REASONS_KEY)
    if isinstance(stored, list):
        words = tuple(word for word in stored if isinstance(word, str) and word)
        if words:
            return words
    return (reason.value,)
