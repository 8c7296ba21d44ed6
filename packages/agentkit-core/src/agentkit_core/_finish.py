"""Finish reasons: one small set for all providers, with their own words kept beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from agentkit_core._json import JsonValue
from agentkit_core._metadata import MetadataMap
from agentkit_core.values import StringEnum

NATIVE_REASONS_KEY: Final = "agentkit.provider_finish_reasons"
"""Where an assistant item keeps the provider's own words, a list of strings."""


class FinishReason(StringEnum):
    """Why a response, or a turn, ended."""

    COMPLETED = "completed"
    """The model had said what it wanted to say."""
    TOOL_CALL = "tool_call"
    """The model waits for the results of its calls."""
    MAX_TOKENS = "max_tokens"
    """A limit on the output or the context window cut it off."""
    PAUSED = "paused"
    """The provider wants the same request again, with what came so far, to go on."""
    BLOCKED = "blocked"
    """A filter, or the model itself, refused."""
    CANCELLED = "cancelled"
    """It was cancelled here."""
    ERROR = "error"
    """It failed; nothing that came can be taken as whole."""
    OTHER = "other"
    """The provider used a word that is not mapped; see the native reasons."""


def with_native_reasons(metadata: Mapping[str, JsonValue], words: Iterable[str]) -> MetadataMap:
    """Keep the provider's own words in an item's metadata.

    Args:
        metadata: The item's metadata; it is copied.
        words: What the provider sent, in order. Empty words are dropped, of equal ones the
            first stays. With none left the key is absent.
    """
    kept: list[JsonValue] = [word for word in dict.fromkeys(words) if word]
    rest = {key: one for key, one in metadata.items() if key != NATIVE_REASONS_KEY}
    return {**rest, NATIVE_REASONS_KEY: kept} if kept else rest


def native_reasons(
    metadata: Mapping[str, JsonValue], reason: FinishReason = FinishReason.COMPLETED
) -> tuple[str, ...]:
    """Read the provider's own words; the normalised one where none are kept."""
    kept = metadata.get(NATIVE_REASONS_KEY)
    if isinstance(kept, list):
        words = tuple(word for word in kept if isinstance(word, str) and word)
        if words:
            return words
    return (reason.value,)
