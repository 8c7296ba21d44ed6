"""Metadata: what owners keep beside an item, a part or a usage, unread by anyone else.

A key is `<owner>.<name>`: the owner of `openai_chat.reasoning_details` is `openai_chat`.
The owner `agentkit` is reserved: nothing in the project relies on metadata for what it
decides, and values of tools or providers under that owner are stripped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core._json import JsonValue

MetadataMap = dict[str, JsonValue]
"""Namespaced keys to JSON values; treat it as frozen."""

RESERVED_OWNER: Final = "agentkit"
"""The owner whose keys foreign values must not set."""


def metadata_owner(key: str) -> str:
    """Say who owns a key: the text before its first dot (all of it, without a dot)."""
    return key.partition(".")[0]


def foreign_metadata(metadata: Mapping[str, JsonValue]) -> MetadataMap:
    """Copy metadata that came from a tool or a provider, without the reserved owner's keys."""
    return {key: one for key, one in metadata.items() if metadata_owner(key) != RESERVED_OWNER}
