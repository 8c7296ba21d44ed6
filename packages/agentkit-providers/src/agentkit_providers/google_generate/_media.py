"""Media and documents as parts: by value where they are at hand, else by address.

What the protocol cannot hold becomes a text that says so, for a history must stay sendable.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from agentkit_core import (
    DataRef,
    File,
    Handle,
    InlineBytes,
    InlineText,
    Media,
    Modality,
    UnsupportedContent,
    Uri,
)
from agentkit_core.json import without_lone_surrogates
from agentkit_providers.google_generate._metadata_keys import API
from agentkit_providers.google_generate._wire_request import Blob, FileData, Part

_UNNAMED: Final = {
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
    """What a MIME type is to the senses; None for documents."""
    return _MODALITIES.get(mime_type.partition("/")[0])


def media_part(media: Media) -> Part:
    """Write an image, sound or video.

    Raises:
        UnsupportedContent: It is a handle, which someone should have resolved.
    """
    return data_part(media.data, media.mime_type, unnamed=_UNNAMED[media.modality])


def file_part(file: File) -> Part:
    """Write a document: text as text, others as what they are.

    Raises:
        UnsupportedContent: It is a handle, which someone should have resolved.
    """
    data = file.data
    if isinstance(data, InlineText):
        return Part(text=f"[File {file.name}]\n{data.text}" if file.name else data.text)
    return data_part(data, file.mime_type or "", unnamed="application/pdf")


def data_part(data: DataRef, mime_type: str, *, unnamed: str) -> Part:
    """Write content by value or by address.

    Args:
        data: The content.
        mime_type: Its type; may be empty.
        unnamed: The type that content by value is taken for where nobody said; of an address
            the vendor knows it.

    Raises:
        UnsupportedContent: It is a handle, which someone should have resolved.
    """
    match data:
        case InlineBytes(data=content):
            return Part(inline_data=Blob(b64encode(content).decode(), mime_type or unnamed))
        case InlineText(text=text):
            content = without_lone_surrogates(text).encode()
            return Part(inline_data=Blob(b64encode(content).decode(), mime_type or "text/plain"))
        case Uri(uri=uri):
            head, comma, base64 = uri.partition(",")
            if comma and head.startswith("data:") and head.endswith(";base64"):
                named = head.removeprefix("data:").removesuffix(";base64")
                return Part(inline_data=Blob(base64, named or mime_type or unnamed))
            return Part(file_data=FileData(uri, mime_type or None))
        case Handle(artifact_id=artifact_id):
            raise UnsupportedContent(
                f"the artifact {artifact_id!r}",
                target=API,
                advice="put its bytes or its address in its place first",
            )
