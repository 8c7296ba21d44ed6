"""Small readings that protocols share: addresses of images, base64, halves of characters."""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Any, Final

from agentkit_core import InlineBytes, Media, MetadataMap, Modality, Uri
from agentkit_core.json import without_lone_surrogates

_HIGH_HALVES: Final = ("\ud800", "\udbff")


def image_of(url: str) -> Media:
    """An image by its address; a `data:` address is unpacked."""
    head, comma, data = url.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        content = bytes_of(data)
        if content:
            mime_type = head.removeprefix("data:").removesuffix(";base64")
            return Media(Modality.IMAGE, mime_type, InlineBytes(content))
    return Media(Modality.IMAGE, "", Uri(url))


def bytes_of(base64: str) -> bytes:
    """Decode base64; empty where it is none."""
    try:
        return b64decode(base64)
    except (binascii.Error, ValueError):
        return b""


def joined_texts(value: Any) -> str:
    """The text of an entry: itself, or of the entries in it."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    texts = (one.get("text") if isinstance(one, dict) else one for one in value)
    return "".join(text for text in texts if isinstance(text, str))


def mended(text: str) -> tuple[str, str]:
    """Join surrogate halves and replace lone ones; a half in last place may yet be joined.

    Returns:
        The text, and the half that is held back.
    """
    half = ""
    if text and _HIGH_HALVES[0] <= text[-1] <= _HIGH_HALVES[1]:
        text, half = text[:-1], text[-1]
    return without_lone_surrogates(text), half


def extend(metadata: MetadataMap, key: str, more: list[Any]) -> None:
    """Add to a list in metadata, which is left as it was for those who have it."""
    known = metadata.get(key)
    metadata[key] = [*known, *more] if isinstance(known, list) else list(more)
