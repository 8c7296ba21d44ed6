"""What content is, by its bytes: callers, tools and servers name types that are not true.

Vendors look at the bytes and refuse a request in which an image is of another type than it says
(anthropics/claude-code#35234, vybestack/llxprt-code#2130).
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Final
from urllib.parse import unquote_to_bytes

from agentkit_core import DataRef, InlineBytes, InlineText, Uri

COMMON_IMAGE_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""The types of images that nearly all vendors read."""
PDF: Final = "application/pdf"

_STARTS: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"%PDF-", PDF),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
)
_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_BRANDS: Final = {
    b"avif": "image/avif", b"avis": "image/avif", b"heic": "image/heic", b"heix": "image/heic",
    b"mif1": "image/heif", b"msf1": "image/heif", b"qt  ": "video/quicktime",
    b"M4A ": "audio/mp4",
}  # fmt: skip


def type_of(content: bytes) -> str | None:
    """Read the type of content from its first bytes; None where they do not show one."""
    for start, kind in _STARTS:
        if content.startswith(start):
            # Two letters are a weak sign: a bitmap also says its size.
            if kind == "image/bmp" and len(content) < 26:
                continue
            return kind
    if content[:4] == b"RIFF":
        return _RIFF.get(content[8:12])
    if content[4:8] == b"ftyp":
        return _BRANDS.get(content[8:12], "video/mp4")
    if len(content) > 1 and content[0] == 0xFF and content[1] & 0xE6 == 0xE2:
        return "audio/mpeg"  # a frame of layer III
    return None


def content_of(data: DataRef) -> bytes | None:
    """The bytes of inline content and of a `data:` URL; None where the content is elsewhere.

    A `data:` URL whose base64 cannot be decoded has no bytes: the result is empty.
    """
    match data:
        case InlineBytes(data=content):
            return content
        case InlineText(text=text):
            return text.encode("utf-8", "replace")
        case Uri(uri=uri) if uri[:5].lower() == "data:":
            head, comma, body = uri.partition(",")
            if not comma:
                return b""
            if not head.lower().endswith(";base64"):
                return unquote_to_bytes(body)
            try:
                return b64decode(unquote_to_bytes(body), validate=False)
            except (binascii.Error, ValueError):
                return b""
        case _:
            return None


def plain_type(mime_type: str | None) -> str:
    """A MIME type without its parameters, in lower case and with its usual name."""
    name = (mime_type or "").partition(";")[0].strip().lower()
    return {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}.get(
        name, name
    )


def as_text(content: bytes, mime_type: str | None) -> str | None:
    """Read a document's bytes as text; None where they are not text.

    Args:
        content: The bytes.
        mime_type: What the caller says of them. It decides only for text in other encodings than
            UTF-8.
    """
    if type_of(content) is not None:
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return content.decode("utf-16", "replace")
        return content.decode("latin-1") if plain_type(mime_type).startswith("text/") else None
    return None if "\x00" in text else text
