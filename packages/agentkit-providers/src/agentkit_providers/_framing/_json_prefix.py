"""Whether a text is the beginning of JSON: a body that was cut off, not one that is wrong."""

from __future__ import annotations

import re
from typing import Final

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_SCALAR: Final = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"'
    r"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.eE+-])"
    r"|true|false|null|NaN|-?Infinity",
    re.DOTALL,
)
_CUT_SCALAR: Final = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*\\?'
    r"|-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][+-]?[0-9]*)?)?"
    r"|t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?|N(?:aN?)?"
    r"|-?I(?:n(?:f(?:i(?:n(?:i(?:ty?)?)?)?)?)?)?",
    re.DOTALL,
)
"""A scalar that the end of the text cuts off."""


def begins_json(payload: bytes) -> bool:
    """Whether some end could make a payload valid JSON; false where it is valid already.

    Time is linear in the payload. What `read_leniently` accepts is accepted here.

    Args:
        payload: The text; may end inside a character.
    """
    text = payload.decode("utf-8", "replace")
    open_brackets: list[str] = []
    wanted = "value"  # or: key, first_key, first_value, colon, comma
    at = 0
    while True:
        blank = _BLANK.match(text, at)
        at = blank.end() if blank else at
        if at >= len(text):
            return bool(open_brackets) or wanted == "value"
        if wanted == "comma" and not open_brackets:
            return False
        char = text[at]
        if wanted == "colon" or (wanted == "comma" and char == ","):
            if char != (":" if wanted == "colon" else ","):
                return False
            is_key = wanted == "comma" and open_brackets[-1] == "}"
            wanted, at = ("key" if is_key else "value"), at + 1
        elif char in "]}":
            may_close = wanted in ("comma", "first_key", "first_value")
            if not may_close or not open_brackets or open_brackets.pop() != char:
                return False
            wanted, at = "comma", at + 1
        elif wanted == "comma":
            return False
        elif char in "[{" and wanted in ("value", "first_value"):
            open_brackets.append("]" if char == "[" else "}")
            wanted, at = ("first_value" if char == "[" else "first_key"), at + 1
        else:
            is_key = wanted in ("key", "first_key")
            if is_key and char != '"':
                return False
            scalar = _SCALAR.match(text, at)
            if scalar is None:
                return _CUT_SCALAR.fullmatch(text, at) is not None
            wanted, at = ("colon" if is_key else "comma"), scalar.end()
