"""Media and documents as entries of a message's content.

What the protocol cannot hold becomes a text that says so, since every history must be sendable.
"""

from __future__ import annotations

from typing import Final

from agentkit_core import File, InlineText, Media, Modality, Uri
from agentkit_providers._protocol_kit._data_urls import content_url
from agentkit_providers.openai_responses._metadata_keys import API, DETAIL_KEY
from agentkit_providers.openai_responses._wire_request import (
    ContentPart,
    InputFile,
    InputImage,
    InputText,
)

_FILE_ID: Final = "file-"
"""The prefix of OpenAI's ids of uploaded content."""


def media_part(media: Media) -> ContentPart:
    """Write an image.

    Raises:
        UnsupportedContent: The content is the id of an artifact that the caller did not resolve.
    """
    if media.modality is not Modality.IMAGE:
        return InputText(f"({media.modality.value} omitted: this protocol has no place for it)")
    detail, data = media.metadata.get(DETAIL_KEY) or "auto", media.data
    if isinstance(data, Uri) and data.uri.startswith(_FILE_ID):
        return InputImage(detail, file_id=data.uri)
    return InputImage(detail, content_url(data, media.mime_type or "image/png", API))


def file_part(file: File) -> ContentPart:
    """Write a document: text as text, an image as an image, anything else as a file.

    Raises:
        UnsupportedContent: The content is the id of an artifact that the caller did not resolve.
    """
    data, mime_type = file.data, file.mime_type or "application/pdf"
    if isinstance(data, InlineText):
        return InputText(f"[File {file.name}]\n{data.text}" if file.name else data.text)
    if isinstance(data, Uri) and data.uri.startswith(_FILE_ID):
        return InputFile(file_id=data.uri)
    url = content_url(data, mime_type, API)
    if mime_type.startswith("image/"):
        return InputImage("auto", url)
    if not url.startswith("data:"):
        return InputFile(file_url=url)
    return InputFile(file.name or "document", url)
