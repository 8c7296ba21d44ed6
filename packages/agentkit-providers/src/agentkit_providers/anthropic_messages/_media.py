"""Media and documents as blocks.

What the protocol cannot hold becomes a text that says so, since every history must be sendable.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from agentkit_core import DataRef, File, InlineBytes, InlineText, Media, Modality, Uri
from agentkit_core.json import without_lone_surrogates
from agentkit_providers._protocol_kit._data_urls import content_url
from agentkit_providers.anthropic_messages._metadata_keys import API
from agentkit_providers.anthropic_messages._wire_request import (
    Base64Source,
    ContentBlock,
    DocumentBlock,
    FileSource,
    ImageBlock,
    TextBlock,
    TextSource,
    UrlSource,
)

_IMAGE_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_FILE_ID: Final = "file_"
"""The prefix of the vendor's ids of uploaded files."""
_TEXT_TYPES: Final = ("text/", "application/json", "application/xml", "application/yaml")


def media_block(media: Media) -> ContentBlock:
    """Write an image.

    Raises:
        UnsupportedContent: The content is the id of an artifact that the caller did not resolve.
    """
    if media.modality is not Modality.IMAGE:
        return TextBlock(f"({media.modality.value} omitted: this protocol has no place for it)")
    return _image(media.data, media.mime_type)


def file_block(file: File) -> ContentBlock:
    """Write a document: text and PDF as a document, an image as an image.

    Raises:
        UnsupportedContent: The content is the id of an artifact that the caller did not resolve.
    """
    mime_type = (file.mime_type or "").partition(";")[0].strip().lower()
    if mime_type.startswith("image/"):
        return _image(file.data, mime_type)
    title = without_lone_surrogates(file.name) if file.name else None
    source = _source(file.data, mime_type or "application/pdf")
    if isinstance(source, Base64Source) and source.media_type != "application/pdf":
        return TextBlock(f"(file {title or ''} omitted: {source.media_type} is not read)")
    if isinstance(source, TextSource) and not source.data.strip():
        return TextBlock(f"(file {title or ''} is empty)")
    return DocumentBlock(source, title)


def is_uploaded(part: Media | File) -> bool:
    """Whether the content is an uploaded file, named by the vendor's id."""
    return isinstance(part.data, Uri) and part.data.uri.startswith(_FILE_ID)


def _image(data: DataRef, mime_type: str) -> ContentBlock:
    source = _source(data, mime_type or "image/png")
    if isinstance(source, Base64Source) and source.media_type not in _IMAGE_TYPES:
        return TextBlock(f"(image omitted: {source.media_type} is not read)")
    if isinstance(source, TextSource):
        return TextBlock("(image omitted: its data is text)")
    return ImageBlock(source)


def _source(data: DataRef, mime_type: str) -> Base64Source | UrlSource | FileSource | TextSource:
    match data:
        case InlineText(text=text):
            return TextSource(without_lone_surrogates(text))
        case InlineBytes(data=content) if mime_type.startswith(_TEXT_TYPES):
            return TextSource(content.decode("utf-8", "replace"))
        case InlineBytes(data=content):
            return Base64Source(_standard_type(mime_type), b64encode(content).decode())
        case _:
            url = content_url(data, mime_type, API)
    if url.startswith(_FILE_ID):
        return FileSource(url)
    head, comma, base64 = url.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        named = head.removeprefix("data:").partition(";")[0]
        return Base64Source(_standard_type(named or mime_type), base64)
    return UrlSource(url)


def _standard_type(mime_type: str) -> str:
    return "image/jpeg" if mime_type == "image/jpg" else mime_type
