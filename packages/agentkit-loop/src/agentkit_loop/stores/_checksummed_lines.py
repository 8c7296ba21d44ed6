"""Lines of JSON that end with a checksum, so that damage is found and can be pointed at.

    {"revision":1,"items":[…],"crc32":"1c291ca3"}

The checksum is a CRC-32 of the object without it, continued from that of what stands before:
lines that are swapped, left out or taken from elsewhere show as well.
"""

from __future__ import annotations

import re
from typing import Final
from zlib import crc32

_SEAL: Final = re.compile(rb',"crc32":"([0-9a-f]{8})"\}\n')
_SEAL_BYTES: Final = len(b',"crc32":"00000000"}\n')


def seal(body: bytes, start: int) -> tuple[bytes, int]:
    """Give a line, and the checksum that the next one starts from.

    Args:
        body: A JSON object with at least one field and without line breaks.
        start: The checksum of what stands before.
    """
    crc = crc32(body, start)
    return body[:-1] + b',"crc32":"%08x"}\n' % crc, crc


def unseal(line: bytes, start: int) -> tuple[bytes, int]:
    """Give back what `seal` was given, and the checksum that the next line starts from.

    Raises:
        ValueError: The line is not what was written, or not behind what it was written behind.
    """
    found = _SEAL.fullmatch(line, max(0, len(line) - _SEAL_BYTES))
    if found is None:
        raise ValueError("the line does not end as it was written")
    body = line[:-_SEAL_BYTES] + b"}"
    crc = crc32(body, start)
    if crc != int(found[1], 16):
        raise ValueError("the line is not what was written there (its checksum differs)")
    return body, crc
