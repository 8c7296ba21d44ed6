"""Media on a page: content of the record as `data:` URLs, everything else as text.

Nothing is ever loaded. What an image is, is read from its first bytes, and only kinds that cannot
contain scripts are shown; an SVG image is shown as its source. A link to another place is a link
that a person may follow, and only for http and https.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

from agentkit_core import (
    Custom,
    DataRef,
    File,
    Handle,
    InlineBytes,
    InlineText,
    Media,
    Reasoning,
    Uri,
)
from agentkit_reporting._page._markup import NOTHING, Markup, element, joined
from agentkit_reporting._page._values import text_block

_MOST_BYTES: Final = 16 * 2**20
"""Larger content is described, since a page is read into memory as a whole."""
_IMAGES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_PLAYABLE: Final = {
    "audio/aac": "audio",
    "audio/flac": "audio",
    "audio/mp3": "audio",
    "audio/mp4": "audio",
    "audio/mpeg": "audio",
    "audio/ogg": "audio",
    "audio/wav": "audio",
    "audio/webm": "audio",
    "audio/x-wav": "audio",
    "video/mp4": "video",
    "video/ogg": "video",
    "video/webm": "video",
}
_UNITS: Final = ("bytes", "KB", "MB", "GB")


def media_block(part: Media | File | Reasoning | Custom) -> Markup:
    """Show the content of a part, or say where it is; empty if the part has none."""
    data = part.data
    if data is None:
        return NOTHING
    mime_type, label = _describe(part)
    if isinstance(data, Uri) and data.uri[:5].lower() == "data:":
        mime_type, data = _read_data_url(data.uri, mime_type)
    match data:
        case InlineText(text=text):
            return _labelled(f"{label}, {len(text):,} characters", text_block(text, code=True))
        case InlineBytes(data=content):
            return _content_block(content, mime_type, label)
        case Uri(uri=uri):
            return _labelled(label, element("p", link(uri), class_="where"))
        case Handle(artifact_id=artifact_id):
            where = element("p", "Stored as ", element("code", artifact_id), class_="where")
            return _labelled(label, where)


def link(uri: str) -> Markup:
    """Return a link that tells its target nothing about the page; text for other schemes."""
    try:
        scheme, host = urlsplit(uri).scheme, urlsplit(uri).netloc
    except ValueError:
        scheme, host = "", ""
    if scheme in {"http", "https"} and host and uri.isprintable():
        return element("a", uri, href=uri, rel="noreferrer noopener nofollow", target="_blank")
    return element("code", uri)


def size_in_words(size: int) -> str:
    """Say how large content is: `512 bytes`, `1.2 MB`."""
    number = float(size)
    for unit in _UNITS[:-1]:
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} {_UNITS[-1]}"


def _describe(part: Media | File | Reasoning | Custom) -> tuple[str, str]:
    """Return the MIME type, and what the content is, for people."""
    match part:
        case Media(modality=modality, mime_type=mime_type):
            return mime_type, _in_words(modality.value.capitalize(), mime_type)
        case File(name=name, mime_type=mime_type):
            return mime_type or "", _in_words("File", name, mime_type)
        case Reasoning():
            return "", "Reasoning as data"
        case Custom(kind=kind):
            return "", f"Data of {kind}"


def _in_words(*words: str | None) -> str:
    return ", ".join(filter(None, words))


def _content_block(content: bytes, mime_type: str, label: str) -> Markup:
    about = f"{label}, {size_in_words(len(content))}"
    image = _image_type(content)
    playable = _PLAYABLE.get(mime_type.partition(";")[0].strip().lower())
    if len(content) > _MOST_BYTES or not (image or playable) or not content:
        return _labelled(about, NOTHING)
    kind = image or mime_type.partition(";")[0].strip().lower()
    url = f"data:{kind};base64,{b64encode(content).decode()}"
    if image:
        shown = element("img", src=url, alt=about, loading="lazy", decoding="async")
    else:
        shown = element(
            playable or "audio", src=url, controls=True, preload="none", aria_label=about
        )
    return _labelled(about, shown)


def _labelled(label: str, content: Markup) -> Markup:
    caption = element("figcaption", label, dir="auto")
    return element("figure", joined([content, caption]), class_="media")


def _image_type(content: bytes) -> str | None:
    """Return the MIME type of an image without scripts; None for anything else."""
    for start, mime_type in _IMAGES:
        if content.startswith(start):
            return mime_type
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if content[4:12] in {b"ftypavif", b"ftypavis"}:
        return "image/avif"
    return None


def _read_data_url(uri: str, mime_type: str) -> tuple[str, DataRef]:
    """Return the MIME type and the content of a `data:` URL; the URL itself if it is broken."""
    head, comma, body = uri[5:].partition(",")
    if not comma:
        return mime_type, Uri(_shortened(uri))
    kind, *parameters = head.split(";")
    encoded = bool(parameters) and parameters[-1].strip().lower() == "base64"
    try:
        plain = unquote_to_bytes(body)
        content = b64decode(plain, validate=True) if encoded else plain
    except (binascii.Error, ValueError):
        return mime_type, Uri(_shortened(uri))
    mime_type = kind.strip().lower() or mime_type
    if _image_type(content) is None and _is_text(mime_type):
        return mime_type, InlineText(content.decode(errors="replace"))
    return mime_type, InlineBytes(content)


def _is_text(mime_type: str) -> bool:
    return mime_type.startswith("text/") or mime_type.endswith(("xml", "json", "javascript"))


def _shortened(uri: str) -> str:
    return uri if len(uri) <= 200 else f"{uri[:200]}…"
