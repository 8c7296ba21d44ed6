"""The JSON of requests in Messages, with the vendor's names.

Fields are written in the order in which they are declared, so that equal messages are equal bytes.
At the end of a cached prefix, `cache_control` is added to the bytes of a block.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Base64Source(Struct, tag_field="type", tag="base64"):
    """Content as base64."""

    media_type: str
    data: str


class UrlSource(Struct, tag_field="type", tag="url"):
    """Content by its URL."""

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
"""A block of a user message or a tool result."""


class ThinkingBlock(Struct, tag_field="type", tag="thinking"):
    """Reasoning of the model, with its signature."""

    thinking: str
    signature: str


class RedactedThinkingBlock(Struct, tag_field="type", tag="redacted_thinking"):
    """Encrypted reasoning of the model."""

    data: str


class ToolUseBlock(Struct, tag_field="type", tag="tool_use"):
    """A tool call of the model."""

    id: str
    name: str
    input: dict[str, Any]


class ToolResultBlock(Struct, omit_defaults=True, tag_field="type", tag="tool_result"):
    """The result of a tool call."""

    tool_use_id: str
    content: str | list[ContentBlock]
    is_error: bool = False


AnyBlock = ContentBlock | ThinkingBlock | RedactedThinkingBlock | ToolUseBlock | ToolResultBlock
"""A block with a struct here; others go back as they came."""


class ToolParam(Struct, omit_defaults=True):
    """A tool that the request offers."""

    name: str
    description: str | None = None
    input_schema: Any = None
    strict: bool | None = None
