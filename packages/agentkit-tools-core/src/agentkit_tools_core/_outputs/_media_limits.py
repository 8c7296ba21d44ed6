"""Limits of media in outputs: what is too large to be sent gives way to a text that says so.

Providers refuse a request whose media are too large, and with it every later request of the
conversation. Sizes are in bytes as they are sent: base64, a third more than the bytes themselves.
"""

from __future__ import annotations

from collections.abc import Callable

from agentkit_core import (
    File,
    FilesOutput,
    InlineBytes,
    Media,
    Modality,
    Part,
    PartsOutput,
    Text,
    ToolOutput,
    Uri,
)

Oversized = Callable[[Media | File, int, int], Text]
"""Makes the text in place of a part, given the part, its size and the limit that it exceeds."""


def sent_size(part: Media | File) -> int:
    """Count the bytes of a part that are sent in base64; 0 for text, addresses and ids."""
    match part.data:
        case InlineBytes(data=data):
            return (len(data) + 2) // 3 * 4
        case Uri(uri=uri) if uri[:5].lower() == "data:":
            return len(uri)
        case _:
            return 0


def describe_media(part: Media | File) -> str:
    """Describe a part in a few words: its name, its MIME type or what it is."""
    kind = part.mime_type or (part.modality.value if isinstance(part, Media) else "file")
    return f"{part.name!r} ({kind})" if isinstance(part, File) and part.name else kind


def limit_media(
    output: ToolOutput, image_bytes: int | None, media_bytes: int | None, oversized: Oversized
) -> ToolOutput:
    """Return an output whose media are within the limits; the same object if they are already.

    Args:
        output: The output of a tool.
        image_bytes: How large each image may be; None means no limit of its own.
        media_bytes: How large all media may be together. Those that come first are kept, as many
            as there is room for. None means no limit.
        oversized: Makes the text in place of each part that is too large.
    """
    match output:
        case PartsOutput(parts=parts):
            pass
        case FilesOutput(files=files):
            parts = files
        case _:
            return output
    kept: list[Part] = []
    total = 0
    is_changed = False
    for part in parts:
        size = sent_size(part) if isinstance(part, Media | File) else 0
        if size and isinstance(part, Media | File):
            limit = image_bytes if _is_image(part) else None
            if limit is None or size <= limit:
                limit = None if media_bytes is None else media_bytes - total
            if limit is not None and size > limit:
                kept.append(oversized(part, size, max(limit, 0)))
                is_changed = True
                continue
            total += size
        kept.append(part)
    return PartsOutput(tuple(kept)) if is_changed else output


def _is_image(part: Media | File) -> bool:
    if isinstance(part, Media) and part.modality is Modality.IMAGE:
        return True
    return (part.mime_type or "").lower().startswith("image/")
