"""Media and documents as entries of a message's content.

What the protocol cannot hold becomes a text that says so, since every history must be sendable.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from agentkit_core import File, InlineBytes, InlineText, Media, Modality, Uri
from agentkit_providers._protocol_kit._data_urls import content_url
from agentkit_providers.openai_chat._metadata_keys import API, DETAIL_KEY
from agentkit_providers.openai_chat._wire_request import (
    AudioPart,
    ContentPart,
    FileContent,
    FilePart,
    ImagePart,
    ImageUrl,
    InputAudio,
    TextPart,
    VideoPart,
    VideoUrl,
)

_AUDIO_FORMATS: Final = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav", "vnd.wave": "wav"}
_DEFAULT_TYPES: Final = {Modality.IMAGE: "image/png", Modality.VIDEO: "video/mp4"}
_FILE_ID: Final = "file-"
"""The prefix of OpenAI's ids of uploaded documents."""


def media_part(media: Media) -> ContentPart:
    """Write an image, audio or a video.

    Raises:
        UnsupportedContent: The content is the id of an artifact that the caller did not resolve.
    """
    mime_type = media.mime_type or _DEFAULT_TYPES.get(media.modality, "")
    match media.modality:
        case Modality.IMAGE:
            detail = media.metadata.get(DETAIL_KEY)
            return ImagePart(ImageUrl(content_url(media.data, mime_type, API), detail))
        case Modality.VIDEO:
            return VideoPart(VideoUrl(content_url(media.data, mime_type, API)))
        case Modality.AUDIO:
            return _audio_part(media, mime_type)
        case Modality.BINARY:
            return TextPart("(binary data omitted: this protocol has no place for it)")


def file_part(file: File) -> ContentPart:
    """Write a document: text as text, an image as an image, anything else as a file.

    Raises:
        UnsupportedContent: The content is the id of an artifact that the caller did not resolve.
    """
    data, mime_type = file.data, file.mime_type or "application/pdf"
    if isinstance(data, InlineText):
        return TextPart(f"[File {file.name}]\n{data.text}" if file.name else data.text)
    if mime_type.startswith("image/"):
        return ImagePart(ImageUrl(content_url(data, mime_type, API)))
    if isinstance(data, Uri) and data.uri.startswith(_FILE_ID):
        return FilePart(FileContent(file_id=data.uri))
    return FilePart(FileContent(file.name or "document", content_url(data, mime_type, API)))


def _audio_part(media: Media, mime_type: str) -> ContentPart:
    content = media.data
    if isinstance(content, Uri) and content.uri.startswith("data:"):
        head, _, base64 = content.uri.partition(",")
        mime_type = head.removeprefix("data:").removesuffix(";base64")
    elif isinstance(content, InlineBytes):
        base64 = b64encode(content.data).decode()
    else:
        return TextPart("(audio omitted: this protocol takes audio by value only)")
    kind = mime_type.partition("/")[2].partition(";")[0]
    return AudioPart(InputAudio(base64, _AUDIO_FORMATS.get(kind, kind or "wav")))
