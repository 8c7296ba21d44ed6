"""JSON read leniently: servers send what a strict reader refuses.

Halves of surrogate pairs, NaN, raw control characters and bytes that are not UTF-8 are accepted.
Slower than msgspec, so decoders use it only for the payloads that msgspec refuses.
"""

from __future__ import annotations

import json
from typing import Any


def read_leniently(payload: bytes) -> Any:
    """Read JSON that may break the rules of JSON.

    Args:
        payload: The JSON text. A byte that is not UTF-8 is read as U+FFFD.

    Returns:
        The value. Texts in it may hold lone surrogates; NaN and infinities are read as None.

    Raises:
        ValueError: The payload is not JSON.
        RecursionError: The value is nested too deeply.
    """
    text = payload.decode("utf-8", "replace")
    return json.loads(text, strict=False, parse_constant=lambda _: None)


def is_json(payload: bytes) -> bool:
    """Whether `read_leniently` can read a payload."""
    try:
        read_leniently(payload)
    except (ValueError, RecursionError):
        return False
    return True
