"""Makes untrusted text safe for a terminal: nothing unseen except newlines, tabs and spaces.

Text of models and tools may contain sequences that move the cursor, overwrite earlier output, set
the clipboard or answer for the user. They are removed completely. Text may be cut anywhere, even
inside a sequence.

    removed             CSI (ESC [ …), and other sequences that begin with ESC
                        OSC, DCS, SOS, PM, APC up to their end, at most to the next newline
                        the same in their 8-bit forms (U+0080 to U+009F)
                        other control characters, including backspace and DEL
                        characters that cannot be seen, or change the direction of text: marks,
                        joiners, fillers, tags (U+200B to U+200F, U+202A to U+202E, U+2060 to
                        U+206F, U+FEFF, …)
    becomes a newline   a carriage return, together with a newline after it; U+2028 and U+2029
    becomes U+FFFD      half a surrogate pair, which cannot be written in UTF-8
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

from agentkit_core.json import without_lone_surrogates

_UNSAFE: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)
_SEPARATORS: Final = frozenset("\u2028\u2029")
_ESC: Final = "\x1b"
_STRING_BEGINS: Final = frozenset("PX]^_")
_STRING_BEGINS_8_BIT: Final = frozenset("\x90\x98\x9d\x9e\x9f")
_CANCELS: Final = frozenset("\x18\x1a")


class _State(Enum):
    PLAIN = auto()
    AFTER_RETURN = auto()
    ESCAPE = auto()
    """After ESC, or after intermediate bytes of a short sequence."""
    SEQUENCE = auto()
    """Inside a CSI sequence, before its final byte."""
    STRING = auto()
    """Inside a string (OSC, DCS, …), before its terminator."""


class TerminalCleaner:
    """Cleans one text that arrives in pieces; it does not matter where the text is cut."""

    __slots__ = ("__weakref__", "_high_half", "_state")

    def __init__(self) -> None:
        self._state = _State.PLAIN
        self._high_half = ""

    def feed(self, text: str) -> str:
        """Clean the next piece; a character that may still be unsafe is held back."""
        if self._state is _State.PLAIN and not self._high_half and _UNSAFE.search(text) is None:
            return text
        text = self._high_half + text
        self._high_half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            # The other half may be in the next piece.
            self._high_half, text = text[-1], text[:-1]
        return "".join(filter(None, map(self._step, without_lone_surrogates(text))))

    def finish(self) -> str:
        """End the text: return what was held back, and reset."""
        rest = self._step("\ufffd") if self._high_half else ""
        self._state, self._high_half = _State.PLAIN, ""
        return rest

    def _step(self, character: str) -> str:
        state = self._state
        if state is _State.PLAIN:
            return self._plain(character)
        if state is _State.AFTER_RETURN:
            self._state = _State.PLAIN
            return "" if character == "\n" else self._plain(character)
        if character in _CANCELS:
            self._state = _State.PLAIN
            return ""
        if character == _ESC:
            # ESC ends any open sequence; for a string, it is the first half of the terminator.
            self._state = _State.ESCAPE
            return ""
        if state is _State.STRING:
            return self._in_string(character)
        if state is _State.SEQUENCE:
            return self._in_sequence(character)
        return self._after_escape(character)

    def _plain(self, character: str) -> str:
        if _UNSAFE.match(character) is None:
            return character
        if character == "\r":
            self._state = _State.AFTER_RETURN
            return "\n"
        if character in _SEPARATORS:
            return "\n"
        if character == _ESC:
            self._state = _State.ESCAPE
        elif character == "\x9b":
            self._state = _State.SEQUENCE
        elif character in _STRING_BEGINS_8_BIT:
            self._state = _State.STRING
        return ""

    def _after_escape(self, character: str) -> str:
        if character == "[":
            self._state = _State.SEQUENCE
        elif character in _STRING_BEGINS:
            self._state = _State.STRING
        elif "\x30" <= character <= "\x7e":
            self._state = _State.PLAIN
        elif not "\x20" <= character <= "\x2f":
            return self._abort_sequence(character)
        return ""

    def _in_sequence(self, character: str) -> str:
        if "\x40" <= character <= "\x7e":
            self._state = _State.PLAIN
        elif not "\x20" <= character <= "\x3f":
            return self._abort_sequence(character)
        return ""

    def _in_string(self, character: str) -> str:
        if character in "\x07\x9c":
            self._state = _State.PLAIN
        elif character in "\r\n":
            # A string without a terminator must not hide the rest of the answer.
            return self._abort_sequence(character)
        return ""

    def _abort_sequence(self, character: str) -> str:
        """Process a character that cannot belong to the open sequence."""
        self._state = _State.PLAIN
        return self._plain(character)


def clean(text: str) -> str:
    """Clean a complete text; see the table above. The same object if nothing is unsafe."""
    if _UNSAFE.search(text) is None:
        return text
    cleaner = TerminalCleaner()
    return cleaner.feed(text) + cleaner.finish()
