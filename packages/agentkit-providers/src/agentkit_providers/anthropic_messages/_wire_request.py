"""What goes over the wire of Messages: the vendor's names, and nothing else.

The order of the fields is the order in which they are written, so that equal messages are
equal bytes. Where a cached prefix ends, `cache_control` is added to the bytes of a block.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Base64Source(Struct, tag_field="type", tag="base64"):
    """Content as base64."""

    media_type: str
    data: str


class UrlSource(Struct, tag_field="type", tag="url"):
    """Content by its address."""

    url: str


class FileSource(Struct, tag_field="type", tag="file"):
    """Content by the vendor's id of an uploaded file."""

    file_id: str


class TextSource(Struct, tag_field="type", tag="text"):
    """Content as plain text."""

    data: str
    media_type: str = "text/plain"


class TextBlock(Struct, omit_defaults=True, tag_field="type", tag="text"):
    """Text; that of the model may have citations."""

    text: str
    citations: Any = None


class ImageBlock(Struct, tag_field="type", tag="image"):
    """An image."""

    source: Base64Source | UrlSource | FileSource


class DocumentBlock(Struct, omit_defaults=True, tag_field="type", tag="document"):
    """A document."""

    source: Base64Source | UrlSource | FileSource | TextSource
    title: str | None = None


ContentBlock = TextBlock | ImageBlock | DocumentBlock
"""A block of what a user says or a tool gives."""


class ThinkingBlock(Struct, tag_field="type", tag="thinking"):
    """What the model thought, with the signature that proves it."""

    thinking: str
    signature: str


class RedactedThinkingBlock(Struct, tag_field="type", tag="redacted_thinking"):
    """What the model thought, encrypted."""

    data: str


class ToolUseBlock(Struct, tag_field="type", tag="tool_use"):
    """A call that the model made."""

    id: str
    name: str
    input: dict[str, Any]


class ToolResultBlock(Struct, omit_defaults=True, tag_field="type", tag="tool_result"):
    """What a tool gave."""

    tool_use_id: str
    content: str | list[ContentBlock]
    is_error: bool = False


AnyBlock = ContentBlock | ThinkingBlock | RedactedThinkingBlock | ToolUseBlock | ToolResultBlock
"""A block that has a type here; others are written as they were read."""


class ToolParam(Struct, omit_defaults=True):
    """A tool as it is offered."""

    name: str
    description: str | None = None
    input_schema: Any = None
    strict: bool | None = None
