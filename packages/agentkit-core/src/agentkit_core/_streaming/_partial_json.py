"""Partial JSON: the value of a JSON object whose text is still arriving.

The reader follows the grammar while the text arrives. To give a value, it removes what is
incomplete at the end (a key without a value, half a literal, half an escape), adds the missing
closing brackets, and parses the result with msgspec. Strings and numbers are given as far as they
have arrived: `12` may become `125`.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

import msgspec

from agentkit_core._json import MAX_DEPTH, JsonValue, compiled, decode_json

_PIECE: Final = r'[ \t\n\r]+|[{}\[\],:"]|[^ \t\n\r{}\[\],:"]+'
_STRING_STOP: Final = r'["\\]'
_NUMBER_BEGUN: Final = r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?:\.|[eE][+-]?)?"
_STRING: Final = r'(?s)"(?:[^"\\]++|\\.)*+"?'
"""A string, closed or not. Possessive, and without a way to fail: each character is read once."""
_CONTROL: Final = r"[\x00-\x1f]"
_STRAY_BACKSLASH: Final = r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\'
_HIGH_HALF: Final = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
_SMALL: Final = 1024
"""Up to this many characters, parsing everything again for each delta is cheap enough."""
_PUNCTUATION: Final = '{}[],:"'
_SPACE: Final = " \t\n\r"
_WORD: Final = "a"
"""Stands for a number or a literal, which may begin with any other character."""


class _Next(Enum):
    """What may follow, as the possible first characters of the next token."""

    OBJECT = "{"
    KEY_OR_END = '"}'
    KEY = '"'
    COLON = ":"
    VALUE = '"{[' + _WORD
    VALUE_OR_END = '"{[]' + _WORD
    COMMA_OR_END = ",]}"


class PartialJson:
    """Reads one JSON object while its text is still arriving. Never raises.

    Raw control characters and stray backslashes in strings, which models do write, are accepted.
    Text that does not begin an object gives `{}`. Text after a syntax error, or after the end of
    the object, is ignored.
    """

    __slots__ = (
        "__weakref__",
        "_chunks",
        "_escaped",
        "_escapes",
        "_in_string",
        "_is_key",
        "_length",
        "_next",
        "_open",
        "_over",
        "_read_length",
        "_safe",
        "_value",
        "_word",
    )

    def __init__(self) -> None:
        self._chunks: list[str] = []
        self._length = 0
        self._next = _Next.OBJECT
        self._open: list[str] = []
        """The closing bracket of each open container, outermost first."""
        self._in_string = False
        self._is_key = False
        self._escaped = False
        self._escapes = (-1, -1)
        """The positions of the last two backslashes that begin an escape."""
        self._word: list[str] = []
        """The pieces of a number or literal that may continue."""
        self._safe = 0
        """The position after the last complete value or opening bracket."""
        self._over = False
        self._value: dict[str, JsonValue] = {}
        self._read_length = 0

    def feed(self, text: str) -> None:
        """Take the next piece of the text, cut anywhere."""
        if self._over:
            return
        self._chunks.append(text)
        base, self._length = self._length, self._length + len(text)
        at = 0
        while at < len(text) and not self._over:
            at = self._string(text, at, base) if self._in_string else self._token(text, at, base)

    def value(self, *, exact: bool = False) -> dict[str, JsonValue]:
        """Return the object as far as it is known; it is not changed later.

        Args:
            exact: Whether to read everything that has arrived. Otherwise the value of a long text
                may lag behind by up to an eighth of it, so that a call after each delta takes
                time in proportion to the text in total.
        """
        unread = self._length - self._read_length
        if unread and (exact or self._length <= _SMALL or unread * 8 >= self._length):
            self._read_length = self._length
            self._value = self._read()
        return self._value

    def _string(self, text: str, at: int, base: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        stop = compiled(_STRING_STOP).search(text, at)
        if stop is None:
            return len(text)
        if stop.group() == "\\":
            self._escaped = True
            self._escapes = (self._escapes[1], base + stop.start())
        else:
            self._in_string = False
            if self._is_key:
                self._next = _Next.COLON
            else:
                self._next, self._safe = _Next.COMMA_OR_END, base + stop.end()
        return stop.end()

    def _token(self, text: str, at: int, base: int) -> int:
        match = compiled(_PIECE).match(text, at)
        if match is None:  # cannot happen: every character begins a token
            return len(text)
        piece = match.group()
        if piece[0] in _PUNCTUATION:
            self._end_word(base + at)
            self._punctuation(piece, base + match.end())
        elif piece[0] in _SPACE:
            self._end_word(base + at)
        elif self._word or _WORD in self._next.value:
            self._word.append(piece)
        else:
            self._over = True
        return match.end()

    def _end_word(self, at: int) -> None:
        if self._word:
            if _is_scalar("".join(self._word)):
                self._next, self._safe = _Next.COMMA_OR_END, at
            else:
                self._over = True
            self._word.clear()

    def _punctuation(self, piece: str, end: int) -> None:
        if self._over or piece not in self._next.value:
            self._over = True
            return
        match piece:
            case "{" | "[":
                if len(self._open) == MAX_DEPTH:
                    self._over = True
                    return
                self._open.append("}" if piece == "{" else "]")
                self._next = _Next.KEY_OR_END if piece == "{" else _Next.VALUE_OR_END
                self._safe = end
            case "}" | "]":
                if self._open[-1] != piece:
                    self._over = True
                    return
                self._open.pop()
                self._next, self._safe, self._over = _Next.COMMA_OR_END, end, not self._open
            case ",":
                self._next = _Next.KEY if self._open[-1] == "}" else _Next.VALUE
            case ":":
                self._next = _Next.VALUE
            case _:
                self._in_string, self._escapes = True, (-1, -1)
                self._is_key = self._next in (_Next.KEY, _Next.KEY_OR_END)

    def _read(self) -> dict[str, JsonValue]:
        text = "".join(self._chunks)
        self._chunks[:] = [text]
        complete = self._complete(text)
        try:
            value = decode_json(complete)
        except msgspec.DecodeError:
            value = decode_json(repair_strings(complete))
        return value if isinstance(value, dict) else {}

    def _complete(self, text: str) -> str:
        """Remove what is incomplete at the end, and close what is open."""
        closers = "".join(reversed(self._open))
        if not self._safe:
            return "{}"
        if self._in_string and not self._is_key:
            return f'{text[: self._string_end(text)]}"{closers}'
        if self._word:
            word = "".join(self._word)
            number = compiled(_NUMBER_BEGUN).fullmatch(word)
            known = number.group(1) if number else word
            if _is_scalar(known):
                return text[: self._length - len(word)] + known + closers
        return text[: self._safe] + closers

    def _string_end(self, text: str) -> int:
        """The end of what can be read of an open string: before an incomplete escape."""
        before, at = self._escapes
        since = self._length - at
        if at < 0 or since > 6:
            return self._length
        if self._escaped or (text[at + 1] == "u" and since < 6):
            # The first half of a surrogate pair may come just before.
            return before if before == at - 6 and compiled(_HIGH_HALF).match(text, before) else at
        if since == 6 and compiled(_HIGH_HALF).match(text, at):
            return at
        return self._length


def repair_strings(text: str) -> str:
    """Escape raw control characters and stray backslashes in the strings of a JSON text."""
    return compiled(_STRING).sub(_repair_string, text)


def _repair_string(match: re.Match[str]) -> str:
    text = compiled(_STRAY_BACKSLASH).sub(
        lambda escape: escape.group() if len(escape.group()) > 1 else "\\\\", match[0]
    )
    return compiled(_CONTROL).sub(lambda control: f"\\u{ord(control.group()):04x}", text)


def _is_scalar(word: str) -> bool:
    try:
        decode_json(word)
    except msgspec.DecodeError:
        return False
    return True
