"""Text for people: shows what cannot be seen, and says how much is left out.

A person who approves a call reads text that a model wrote. It may contain characters that are not
seen, that change the direction or the order of others, or that begin a new line. `make_visible`
shows each of them as a sign.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

__all__ = ["make_visible", "shorten_middle"]

_UNSEEN: Final = (
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters of both ranges, with tabs and line ends
    "\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164"  # odd spaces, joiners, directions
    "\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2"  # formats of numbers
    "\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags, and variants of other characters
    "]"
)
_PICTURES: Final = 0x2400
"""Where Unicode has pictures of control characters: U+240A shows a newline."""
_DELETE: Final = 0x7F
_DELETE_PICTURE: Final = "\u2421"


@cache
def unseen() -> re.Pattern[str]:
    """Characters that show nothing, look like a space, or change how other characters are seen."""
    return re.compile(_UNSEEN)  # not on import, since it takes longer than the rest of the module


def make_visible(text: str) -> str:
    """Show each character that cannot be seen as a sign, on one line.

    Control characters become their pictures (a newline becomes `␊`, an escape `␛`), all others
    their code: `<U+202E>`. Seen characters and plain spaces stay, so a text that has been made
    visible does not change again.
    """
    return unseen().sub(_sign, text)


def shorten_middle(text: str, max_length: int) -> str:
    """Leave out the middle of a long text, and say how many characters are missing there.

    Args:
        text: The text.
        max_length: How many characters of it to keep at most; at least 2.
    """
    missing = len(text) - max_length
    if missing <= 0:
        return text
    start = max_length - max_length // 2
    end = len(text) - max_length // 2
    return f"{text[:start]} […{missing} characters are not shown…] {text[end:]}"


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < ord(" "):
        return chr(_PICTURES + code)
    return _DELETE_PICTURE if code == _DELETE else f"<U+{code:04X}>"
