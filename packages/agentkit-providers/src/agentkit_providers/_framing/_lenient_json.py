"""JSON read leniently: servers send what a strict reader refuses.

Halves of surrogate pairs, NaN, numbers that no float can hold, raw control characters and bytes
that are not UTF-8 are accepted. Slower than msgspec, so decoders use it only for the payloads that
msgspec refuses.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, Final

_MAX_DIGITS: Final = 400
"""Longer integers are beyond every float, and converting them takes quadratic time."""


def read_leniently(payload: bytes) -> Any:
    """Read JSON that may break the rules of JSON.

    Args:
        payload: The JSON text. A byte that is not UTF-8 is read as U+FFFD.

    Returns:
        The value. Texts in it may hold lone surrogates. NaN, infinities and numbers beyond every
        float are read as None; whole numbers of more than 64 bits become floats.

    Raises:
        ValueError: The payload is not JSON.
        RecursionError: The value is nested too deeply.
    """
    text = payload.decode("utf-8", "replace")
    return json.loads(
        text,
        strict=False,
        parse_constant=lambda _: None,
        parse_float=_finite_float,
        parse_int=_small_integer,
    )


def _finite_float(text: str) -> float | None:
    number = float(text)
    return number if isfinite(number) else None


def _small_integer(text: str) -> int | float | None:
    if len(text) > _MAX_DIGITS:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**64 else _finite_float(text)


def is_json(payload: bytes) -> bool:
    """Whether `read_leniently` can read a payload."""
    try:
        read_leniently(payload)
    except (ValueError, RecursionError):
        return False
    return True
