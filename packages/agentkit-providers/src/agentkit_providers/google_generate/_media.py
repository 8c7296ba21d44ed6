"""Media and documents as parts: as data where the data is there, else as a URL."""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from agentkit_core import DataRef, File, Handle, InlineBytes, InlineText, Media, Modality, Uri
from agentkit_core.json import without_lone_surrogates
from agentkit_providers._protocol_kit._unsupported import unresolved_artifact
from agentkit_providers.google_generate._metadata_keys import API
from agentkit_providers.google_generate._wire_request import Blob, FileData, Part

_DEFAULT_TYPES: Final = {
    Modality.IMAGE: "image/png",
    Modality.VIDEO: "video/mp4",
    Modality.AUDIO: "audio/wav",
    Modality.BINARY: "application/octet-stream",
}
_MODALITIES: Final = {
    "image": Modality.IMAGE,
    "audio": Modality.AUDIO,
    "video": Modality.VIDEO,
}


def modality_of(mime_type: str) -> Modality | None:
    """The modality of a MIME type; None for documents."""
    return _MODALITIES.get(mime_type.partition("/")[0])


def media_part(media: Media) -> Part:
    """Write an image, audio or a video.

    Raises:
        UnsupportedContent: The content is the id of an artifact that the caller did not resolve.
    """
    return data_part(media.data, media.mime_type, default_type=_DEFAULT_TYPES[media.modality])


def file_part(file: File) -> Part:
    """Write a document: text as text, anything else as data of its type.

    Raises:
        UnsupportedContent: The content is the id of an artifact that the caller did not resolve.
    """
    data = file.data
    if isinstance(data, InlineText):
        if file.name:
            return Part(text=f"[File {file.name}]\n{data.text}")
        return Part(text=data.text or "(file is empty)")  # the vendor refuses an empty text
    return data_part(data, file.mime_type or "", default_type="application/pdf")


def data_part(data: DataRef, mime_type: str, *, default_type: str) -> Part:
    """Write content as data or as a URL.

    Args:
        data: The content.
        mime_type: Its type; may be empty.
        default_type: The type of data without one. Of a URL the vendor finds the type itself.

    Raises:
        UnsupportedContent: The content is the id of an artifact that the caller did not resolve.
    """
    match data:
        case InlineBytes(data=content):
            return Part(inline_data=Blob(b64encode(content).decode(), mime_type or default_type))
        case InlineText(text=text):
            content = without_lone_surrogates(text).encode()
            return Part(inline_data=Blob(b64encode(content).decode(), mime_type or "text/plain"))
        case Uri(uri=uri):
            head, comma, base64 = uri.partition(",")
            if comma and head.startswith("data:") and head.endswith(";base64"):
                named = head.removeprefix("data:").removesuffix(";base64")
                return Part(inline_data=Blob(base64, named or mime_type or default_type))
            return Part(file_data=FileData(uri, mime_type or None))
        case Handle(artifact_id=artifact_id):
            raise unresolved_artifact(artifact_id, API)
