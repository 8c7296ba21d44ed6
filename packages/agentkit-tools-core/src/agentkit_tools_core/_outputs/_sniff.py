"""Recognizes bytes by how they begin: images, audio and PDF become parts of the right type."""

from __future__ import annotations

from typing import Final

from agentkit_core import File, InlineBytes, Media, Modality, Part

_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", Modality.IMAGE, "image/png"),
    (b"\xff\xd8\xff", Modality.IMAGE, "image/jpeg"),
    (b"GIF87a", Modality.IMAGE, "image/gif"),
    (b"GIF89a", Modality.IMAGE, "image/gif"),
    (b"ID3", Modality.AUDIO, "audio/mpeg"),
    (b"OggS", Modality.AUDIO, "audio/ogg"),
    (b"fLaC", Modality.AUDIO, "audio/flac"),
)


def part_of_bytes(data: bytes) -> Part:
    """Return bytes as a part: an image, audio or PDF if they begin like one, else binary media."""
    inline = InlineBytes(data)
    if data.startswith(b"%PDF-"):
        return File(data=inline, mime_type="application/pdf")
    if data.startswith(b"RIFF"):
        match data[8:12]:
            case b"WEBP":
                return Media(modality=Modality.IMAGE, mime_type="image/webp", data=inline)
            case b"WAVE":
                return Media(modality=Modality.AUDIO, mime_type="audio/wav", data=inline)
            case _:
                pass
    for signature, modality, mime_type in _SIGNATURES:
        if data.startswith(signature):
            return Media(modality=modality, mime_type=mime_type, data=inline)
    return Media(modality=Modality.BINARY, mime_type="application/octet-stream", data=inline)
