"""Bytes are recognized by how they begin."""

import pytest

from agentkit_core import File, InlineBytes, Media, Modality
from agentkit_tools_core._outputs._sniff import part_of_bytes


@pytest.mark.parametrize(
    ("data", "modality", "mime_type"),
    [
        (b"\x89PNG\r\n\x1a\n..", Modality.IMAGE, "image/png"),
        (b"\xff\xd8\xff..", Modality.IMAGE, "image/jpeg"),
        (b"GIF87a..", Modality.IMAGE, "image/gif"),
        (b"GIF89a..", Modality.IMAGE, "image/gif"),
        (b"RIFF....WEBP", Modality.IMAGE, "image/webp"),
        (b"RIFF....WAVE", Modality.AUDIO, "audio/wav"),
        (b"ID3..", Modality.AUDIO, "audio/mpeg"),
        (b"OggS..", Modality.AUDIO, "audio/ogg"),
        (b"fLaC..", Modality.AUDIO, "audio/flac"),
        (b"RIFF....AVI ", Modality.BINARY, "application/octet-stream"),
        (b"\x89PNG", Modality.BINARY, "application/octet-stream"),
        (b"", Modality.BINARY, "application/octet-stream"),
    ],
)
def test_s08_bytes_become_media_of_their_type(
    data: bytes, modality: Modality, mime_type: str
) -> None:
    assert part_of_bytes(data) == Media(modality, mime_type, InlineBytes(data))


def test_s08_a_pdf_becomes_a_file() -> None:
    data = b"%PDF-1.7 \xff"

    assert part_of_bytes(data) == File(InlineBytes(data), "application/pdf")
