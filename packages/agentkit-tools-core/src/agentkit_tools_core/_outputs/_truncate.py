"""Truncates outputs to a number of bytes, so that one call cannot fill the model's context.

Only text that the model reads counts. Media and bytes are never cut, because half an image is of no
use.
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
    """Return an output that is not longer than a limit; the same object if it fits.

    Text, also in parts and files, then ends with `[tool output truncated: original_bytes=N]`. A
    JSON value becomes `{"truncated": true, "original_bytes": N, "content": "<start of the JSON>"}`.

    Args:
        output: The output of a tool.
        max_bytes: The limit, in bytes of UTF-8 (of the JSON, for a value), including the marker.
            The frame of a value, some 50 bytes, is kept even if it does not fit.
    """
    match output:
        case TextOutput(text=text):
            return output if _fits(text, max_bytes) else TextOutput(truncate_text(text, max_bytes))
        case StructuredOutput(value=value):
            data = to_json(value)
            if len(data) <= max_bytes:
                return output
            return StructuredOutput(_truncate_json(data, max_bytes))
        case PartsOutput(parts=parts):
            short_parts = _truncate_parts(parts, max_bytes)
            return output if short_parts is parts else PartsOutput(short_parts)
        case FilesOutput(files=files):
            short_files = _truncate_parts(files, max_bytes)
            if short_files is files:
                return output
            return FilesOutput(tuple(file for file in short_files if isinstance(file, File)))


def size_of(output: ToolOutput) -> int:
    """Count the bytes of text in an output, as `truncate_output` does; media do not count."""
    match output:
        case PartsOutput(parts=parts):
            return sum(map(_size_of_part, parts))
        case FilesOutput(files=files):
            return sum(map(_size_of_part, files))
        case _:
            return _size(output.text)


def is_media(part: Part) -> bool:
    """Whether a part contains no text, so that it is never cut."""
    return _text_of(part) is None


def truncate_text(text: str, max_bytes: int) -> str:
    """Cut a text between two characters, and add a line that says so.

    The result is never longer than `max_bytes` bytes of UTF-8; the added line is cut as well if
    there is no room for it.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return text
    marker = f"[tool output truncated: original_bytes={len(data)}]"
    room = max_bytes - len(marker) - 1
    if room <= 0:
        return marker[: max(max_bytes, 0)]
    # Only the character at the cut can be incomplete.
    return data[:room].decode("utf-8", "ignore") + "\n" + marker


def _size_of_part(part: Part) -> int:
    text = _text_of(part)
    return 0 if text is None else _size(text)


def _fits(text: str, max_bytes: int) -> bool:
    # A character has at most 4 bytes, so most texts need not be encoded to be measured.
    return len(text) * 4 <= max_bytes or _size(text) <= max_bytes


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _truncate_json(data: bytes, max_bytes: int) -> JsonValue:
    def frame(length: int) -> dict[str, JsonValue]:
        content = data[:length].decode("utf-8", "ignore")
        return {"truncated": True, "original_bytes": len(data), "content": content}

    # Escapes make the content longer by an unknown amount, so search for the greatest length.
    length = bisect_right(
        range(max_bytes + 1), max_bytes, key=lambda length: len(to_json(frame(length)))
    )
    return frame(max(length - 1, 0))


def _truncate_parts(parts: tuple[P, ...], max_bytes: int) -> tuple[P | Text, ...]:
    texts = [_text_of(part) for part in parts]
    if sum(_size(text) for text in texts if text is not None) <= max_bytes:
        return parts
    short_parts: list[P | Text] = []
    left = max_bytes
    for part, text in zip(parts, texts, strict=True):
        if text is None:
            short_parts.append(part)
        elif left > 0:
            size = _size(text)
            fits = size <= left
            short_parts.append(part if fits else _with_text(part, truncate_text(text, left)))
            left -= size
    return tuple(short_parts)


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
