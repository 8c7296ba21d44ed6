"""Partial JSON: what is known so far of an object that is still being sent.

A closer: it follows brackets and strings as the text comes, and when asked cuts off what is
unfinished (a key without a value, half a literal, half an escape), closes what is open and
lets msgspec read the result. Text is shown as far as it came, and so are numbers: `12` may
yet become `125`.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from agentkit_core._json import JsonValue, decode_json

_TOKEN: Final = re.compile(r'\s+|[{}\[\],:"]|[^\s{}\[\],:"]+')
_STRING_STOP: Final = re.compile(r'["\\]')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_LITERALS: Final = frozenset({"true", "false", "null"})
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
_STRAY_BACKSLASH: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
_SMALL: Final = 1024
"""Up to this many characters, reading it all again at every delta costs next to nothing."""


class PartialJson:
    """Reads one JSON object while it is being sent. Never raises.

    Raw control characters in strings and stray backslashes, which models do write, are read
    as meant. What is not the beginning of an object reads as `{}`; text after its end is not
    looked at; where the text breaks the grammar, what was known before stays.
    """

    def __init__(self) -> None:
        self._text = ""
        self._chunks: list[str] = []
        self._length = 0
        self._open: list[str] = []
        """The closing bracket of each open container, outermost first."""
        self._wants_key = False
        self._in_string = False
        self._escaped = False
        self._escape_at = -1
        self._scalar_at = -1
        self._safe = 0
        """Where the last complete value, or opening bracket, ends."""
        self._over = False
        self._value: dict[str, JsonValue] = {}
        self._read_length = 0

    def feed(self, text: str) -> None:
        """Take the next text, cut anywhere."""
        self._chunks.append(text)
        base, self._length = self._length, self._length + len(text)
        at = 0
        while at < len(text) and not self._over:
            at = self._string(text, at, base) if self._in_string else self._token(text, at, base)

    def value(self, *, exact: bool = False) -> dict[str, JsonValue]:
        """Give the object as far as it is known; it is not changed afterwards.

        Args:
            exact: Read all that has come. By default the answer for a long text may lag behind
                by up to an eighth of it, so that asking at every delta costs in total only in
                proportion to the text.
        """
        unread = self._length - self._read_length
        if unread and (exact or self._length <= _SMALL or unread * 8 >= self._length):
            self._read_length = self._length
            self._text = "".join((self._text, *self._chunks))
            self._chunks.clear()
            self._value = self._read()
        return self._value

    def _string(self, text: str, at: int, base: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        stop = _STRING_STOP.search(text, at)
        if stop is None:
            return len(text)
        if stop.group() == "\\":
            self._escaped, self._escape_at = True, base + stop.start()
        else:
            self._in_string = False
            if self._wants_key:
                self._wants_key = False
            else:
                self._safe = base + stop.end()
        return stop.end()

    def _token(self, text: str, at: int, base: int) -> int:
        found = _TOKEN.match(text, at)
        if found is None:  # every character begins a word
            return len(text)
        word, end = found.group(), base + found.end()
        if not self._open and word != "{":
            self._over = not word.isspace()
            return found.end()
        scalar = word not in '{}[],:"' and not word.isspace()
        if scalar:
            if self._scalar_at < 0:
                self._scalar_at = base + at
            return found.end()
        if self._scalar_at >= 0:
            self._safe, self._scalar_at = base + at, -1
        match word:
            case "{" | "[":
                self._open.append("}" if word == "{" else "]")
                self._wants_key, self._safe = word == "{", end
            case "}" | "]":
                self._over = self._open.pop() != word or not self._open
                self._wants_key, self._safe = False, end
            case ",":
                self._wants_key = self._open[-1] == "}"
            case '"':
                self._in_string = True
            case _:
                pass
        return found.end()

    def _read(self) -> dict[str, JsonValue]:
        closed = self._closed_text()
        for attempt in (closed, None):
            try:
                value = decode_json(attempt if attempt is not None else _repaired(closed))
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                continue
            return value if isinstance(value, dict) else {}
        return self._value

    def _closed_text(self) -> str:
        text = self._text
        closers = "".join(reversed(self._open))
        if self._in_string and not self._wants_key:
            return f'{text[: self._string_end()]}"{closers}'
        if self._scalar_at >= 0:
            word = text[self._scalar_at :]
            number = _NUMBER.match(word)
            if word in _LITERALS:
                return text + closers
            if number is not None:
                return text[: self._scalar_at] + number.group() + closers
        return text[: self._safe] + closers

    def _string_end(self) -> int:
        """Where the text of an open string ends that can be read: before half an escape."""
        text, at = self._text, self._escape_at
        if at < 0 or len(text) - at >= 12:
            return len(text)
        if self._escaped or (text[at + 1 : at + 2] == "u" and len(text) - at < 6):
            # Half of a surrogate pair may stand just before the half escape.
            before = text[max(0, at - 6) : at]
            return at - 6 if _HIGH_HALF.fullmatch(before) else at
        if _HIGH_HALF.fullmatch(text[at : at + 6]) and len(text) - at == 6:
            return at
        return len(text)


_HIGH_HALF: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")


def _repaired(text: str) -> str:
    return _STRING.sub(_repaired_string, text)


def _repaired_string(found: re.Match[str]) -> str:
    text = _STRAY_BACKSLASH.sub(
        lambda one: one.group() if len(one.group()) > 1 else "\\\\", found[0]
    )
    return _CONTROL.sub(lambda one: f"\\u{ord(one.group()):04x}", text)
