"""Lines of JSON that end with a checksum, so that damage is detected and located.

    {"revision":1,"items":[…],"crc32":"1c291ca3"}

The checksum is a CRC-32 of the object without it, continued from the checksum of the line before.
So lines that were swapped, removed or taken from another file are detected as well.
"""

from __future__ import annotations

import re
from typing import Final
from zlib import crc32

_CHECKSUM: Final = re.compile(rb',"crc32":"([0-9a-f]{8})"\}\n')
_CHECKSUM_BYTES: Final = len(b',"crc32":"00000000"}\n')


def add_checksum(body: bytes, start: int) -> tuple[bytes, int]:
    """Return the line for a JSON object, and the checksum that the next line starts from.

    Args:
        body: A JSON object with at least one field and without line breaks.
        start: The checksum of the line before; for the first line, that of what precedes it.
    """
    crc = crc32(body, start)
    return body[:-1] + b',"crc32":"%08x"}\n' % crc, crc


def remove_checksum(line: bytes, start: int) -> tuple[bytes, int]:
    """Return the JSON object of a line, and the checksum that the next line starts from.

    Raises:
        ValueError: The line was damaged, or it does not follow the line that it was written after.
    """
    checksum = _CHECKSUM.fullmatch(line, max(0, len(line) - _CHECKSUM_BYTES))
    if checksum is None:
        raise ValueError("the line does not end with a checksum")
    body = line[:-_CHECKSUM_BYTES] + b"}"
    crc = crc32(body, start)
    if crc != int(checksum[1], 16):
        raise ValueError("the line was changed, or is not in its place (its checksum differs)")
    return body, crc


def split_checksum(line: bytes) -> tuple[bytes, int | None]:
    """Return the JSON object of a line, and its checksum unchecked; None if it has none."""
    checksum = _CHECKSUM.fullmatch(line, max(0, len(line) - _CHECKSUM_BYTES))
    if checksum is None:
        return line, None
    return line[:-_CHECKSUM_BYTES] + b"}", int(checksum[1], 16)
