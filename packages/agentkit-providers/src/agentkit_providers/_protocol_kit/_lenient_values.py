"""Values that vendors send in several forms: image URLs, base64, texts in lists, surrogates."""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Any, Final

from agentkit_core import InlineBytes, Media, MetadataMap, Modality, Uri
from agentkit_core.json import without_lone_surrogates

REPLACEMENT: Final = "\ufffd"
"""What a half of a surrogate pair becomes when its other half never comes."""
_HIGH_SURROGATES: Final = ("\ud800", "\udbff")


def image_from_url(url: str) -> Media:
    """Make an image from its URL; the content of a `data:` URL is decoded."""
    head, comma, data = url.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        content = decode_base64(data)
        if content:
            mime_type = head.removeprefix("data:").removesuffix(";base64")
            return Media(Modality.IMAGE, mime_type, InlineBytes(content))
    return Media(Modality.IMAGE, "", Uri(url))


def decode_base64(text: str) -> bytes:
    """Decode base64; empty where the text is not base64."""
    try:
        return b64decode(text)
    except (binascii.Error, ValueError):
        return b""


def joined_texts(value: Any) -> str:
    """Join the texts of a value: a text itself, or a list of texts and of objects with a `text`.

    Returns:
        The text; empty for any other value.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    texts = (entry.get("text") if isinstance(entry, dict) else entry for entry in value)
    return "".join(text for text in texts if isinstance(text, str))


def text_or_empty(value: Any) -> str:
    """A value that should be a text; empty where it is not one."""
    return value if isinstance(value, str) else ""


def list_or_empty(value: Any) -> list[Any]:
    """A value that should be a list; empty where it is not one."""
    return value if isinstance(value, list) else []


def join_surrogates(text: str) -> tuple[str, str]:
    """Join the halves of surrogate pairs, and replace halves that stand alone.

    Args:
        text: May hold halves. The last character may be the first half of a pair whose second half
            comes with the next piece of the text.

    Returns:
        The text without halves, and the half that waits for the next piece, which may be empty.
    """
    waiting = ""
    if text and _HIGH_SURROGATES[0] <= text[-1] <= _HIGH_SURROGATES[1]:
        text, waiting = text[:-1], text[-1]
    return without_lone_surrogates(text), waiting


def append_to_list(metadata: MetadataMap, key: str, entries: list[Any]) -> None:
    """Add entries to a list in metadata that no event holds yet."""
    known = metadata.setdefault(key, [])
    if isinstance(known, list):
        known += entries
