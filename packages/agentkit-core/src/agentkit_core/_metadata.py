"""Metadata: data that an owner attaches to an item, a part or a usage; others do not read it.

A key is `<owner>.<name>`: the owner of `openai_chat.reasoning_details` is `openai_chat`. The owner
`agentkit` is reserved for this library, and keys of that owner are removed from metadata that comes
from tools and providers. The library does not base decisions on metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core._json import JsonValue

MetadataMap = dict[str, JsonValue]
"""Namespaced keys to JSON values; do not change it in place."""

RESERVED_OWNER: Final = "agentkit"
"""The owner whose keys tools and providers must not set."""


def metadata_owner(key: str) -> str:
    """Return the owner of a key: the text before its first dot, or all of it without a dot."""
    return key.partition(".")[0]


def foreign_metadata(metadata: Mapping[str, JsonValue]) -> MetadataMap:
    """Copy metadata of a tool or a provider, without the keys of the reserved owner."""
    return {key: value for key, value in metadata.items() if metadata_owner(key) != RESERVED_OWNER}
