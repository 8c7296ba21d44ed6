"""HTML that is built from elements, so that text can never become markup.

`element` is the only function that makes `Markup`. It escapes every child and every attribute that
is not markup already; there is no other way for text of a model, a tool or a person into the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from agentkit_core.text import make_visible

_MARKUP_SIGNS: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_HIDDEN: Final = (
    "[&<>\"'"
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, other than tabs and line ends
    "\u2028-\u202e\u2066-\u2069"  # odd line ends, and what changes the direction of text
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"  # what HTML or UTF-8 cannot contain
    "\U000e0000-\U000e007f"  # invisible letters
    "]"
)
_VOID: Final = frozenset({"br", "col", "img", "input", "meta"})


class Markup(str):
    """HTML that is complete and safe; made by `element` and `joined`."""

    __slots__ = ()


NOTHING: Final = Markup()


def element(
    name: str, /, *children: str | None, **attributes: str | int | float | bool | None
) -> Markup:
    """Write an element.

    Args:
        name: The name of the element, a constant of the program.
        *children: Its content, in order: texts, which are escaped, and markup. None is left out.
        **attributes: Its attributes; an underscore at the end of a name is dropped, all others
            become hyphens. True writes an attribute without a value; None and False leave it out.
    """
    opening = name
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        opening += " " + key.rstrip("_").replace("_", "-")
        if value is not True:
            opening += f'="{escaped(value) if isinstance(value, str) else value}"'
    if name in _VOID:
        return Markup(f"<{opening}>")
    content = "".join([escaped(child) for child in children if child is not None])
    return Markup(f"<{opening}>{content}</{name}>")


def joined(pieces: Iterable[str]) -> Markup:
    """Join pieces in order; texts are escaped."""
    return Markup("".join(map(escaped, pieces)))


def escaped(text: str) -> Markup:
    """Return text as markup that shows it; markup is returned as it is.

    Control characters, and those that change the direction of text, are shown as signs. A carriage
    return, alone or with a newline after it, becomes a newline.
    """
    if type(text) is Markup:
        return text
    if _pattern().search(text) is None:
        return Markup(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Markup(_pattern().sub(_sign, text))


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(_HIDDEN)  # on first use, since it takes long


def _sign(match: re.Match[str]) -> str:
    character = match[0]
    sign = _MARKUP_SIGNS.get(character)
    # What `make_visible` shows a character as may contain "<".
    return sign or make_visible(character).replace("<", "&lt;").replace(">", "&gt;")
