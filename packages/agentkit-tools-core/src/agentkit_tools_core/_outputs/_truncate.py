"""Outputs cut to a number of bytes, so that one call cannot fill the model's context.

What counts is the text that a model would read. Media and bytes are never cut: half an image
is no image.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TypeVar

from msgspec.structs import replace

from agentkit_core import (
    File,
    FilesOutput,
    InlineText,
    JsonValue,
    Media,
    Part,
    PartsOutput,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    ToolOutput,
    to_json,
)

P = TypeVar("P", bound=Part)


def truncate_output(output: ToolOutput, max_bytes: int) -> ToolOutput:
    """Cut an output that is too long; the same object when it is not.

    Text, also inside parts and files, ends with `[tool output truncated: original_bytes=N]`. A
    JSON value becomes `{"truncated": true, "original_bytes": N, "content": <its JSON, cut>}`.

    Args:
        output: What a tool gave.
        max_bytes: How much may be left, in bytes of UTF-8 (of JSON for a value), marker
            included. A value's frame of some 50 bytes is kept even where it does not fit.
    """
    match output:
        case TextOutput(text=text):
            return output if _fits(text, max_bytes) else TextOutput(clip_text(text, max_bytes))
        case StructuredOutput(value=value):
            written = to_json(value)
            if len(written) <= max_bytes:
                return output
            return StructuredOutput(_clipped_value(written, max_bytes))
        case PartsOutput(parts=parts):
            kept = _clip_parts(parts, max_bytes)
            return output if kept is parts else PartsOutput(kept)
        case FilesOutput(files=files):
            kept_files = _clip_parts(files, max_bytes)
            if kept_files is files:
                return output
            return FilesOutput(tuple(file for file in kept_files if isinstance(file, File)))


def size_of(output: ToolOutput) -> int:
    """Measure what `truncate_output` counts: bytes of text, media and bytes left out."""
    match output:
        case PartsOutput(parts=parts):
            return sum(map(_size_of_part, parts))
        case FilesOutput(files=files):
            return sum(map(_size_of_part, files))
        case _:
            return _size(output.text)


def is_media(part: Part) -> bool:
    """Whether a part has nothing that `truncate_output` counts, and is never cut."""
    return _text_of(part) is None


def clip_text(text: str, max_bytes: int) -> str:
    """Cut a text between two characters and end it with a line that says so.

    The marker is itself cut where there is no room for more; the whole is never longer than
    `max_bytes` bytes of UTF-8.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return text
    marker = f"[tool output truncated: original_bytes={len(data)}]"
    room = max_bytes - len(marker) - 1
    if room <= 0:
        return marker[: max(max_bytes, 0)]
    # Only a character that the cut goes through can be undecodable.
    return data[:room].decode("utf-8", "ignore") + "\n" + marker


def _size_of_part(part: Part) -> int:
    text = _text_of(part)
    return 0 if text is None else _size(text)


def _fits(text: str, max_bytes: int) -> bool:
    # A character takes at most 4 bytes, so most texts need not be encoded to be measured.
    return len(text) * 4 <= max_bytes or _size(text) <= max_bytes


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _clipped_value(written: bytes, max_bytes: int) -> JsonValue:
    def framed(room: int) -> dict[str, JsonValue]:
        content = written[:room].decode("utf-8", "ignore")
        return {"truncated": True, "original_bytes": len(written), "content": content}

    # How much longer the content gets by its escapes is not known before: search.
    room = bisect_right(
        range(max_bytes + 1), max_bytes, key=lambda room: len(to_json(framed(room)))
    )
    return framed(max(room - 1, 0))


def _clip_parts(parts: tuple[P, ...], max_bytes: int) -> tuple[P | Text, ...]:
    texts = [_text_of(part) for part in parts]
    if sum(_size(text) for text in texts if text is not None) <= max_bytes:
        return parts
    kept: list[P | Text] = []
    left = max_bytes
    for part, text in zip(parts, texts, strict=True):
        if text is None:
            kept.append(part)
        elif left > 0:
            size = _size(text)
            kept.append(part if size <= left else _with_text(part, clip_text(text, left)))
            left -= size
    return tuple(kept)


def _text_of(part: Part) -> str | None:
    match part:
        case Text() | Structured() | Media() | File():
            return part.text
        case _:
            return None


def _with_text(part: P, text: str) -> P | Text:
    match part:
        case Media() | File():
            return replace(part, data=InlineText(text))
        case _:
            return Text(text=text)
