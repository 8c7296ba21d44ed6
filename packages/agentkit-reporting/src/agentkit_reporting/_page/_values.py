"""Texts, JSON values and lists of facts on a page.

Text is shown as it is, line for line: Markdown is not interpreted, but its fenced code blocks are
set off. A very long text loses its middle, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from agentkit_core import JsonValue, to_json
from agentkit_core.text import shorten_middle
from agentkit_reporting._page._markup import NOTHING, Markup, element, joined

_MOST_CHARACTERS: Final = 200_000
_MOST_OF_METADATA: Final = 4_000
_SHORT: Final = 60
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)")


def prose(text: str) -> Markup:
    """Show text of a person or a model, with fenced code set off; empty for a text of spaces."""
    if not text.strip():
        return NOTHING
    text = shorten_middle(text.strip("\n"), _MOST_CHARACTERS)
    if "```" not in text and "~~~" not in text:
        return element("div", text, class_="text", dir="auto")
    return joined(_fenced(text))


def text_block(text: str, *, code: bool = False) -> Markup:
    """Show text as it is; `code` means in a font of equal widths."""
    shown = shorten_middle(text, _MOST_CHARACTERS)
    return element("div", shown, class_="code" if code else "text", dir="auto")


def json_block(value: JsonValue, *, most_characters: int = _MOST_CHARACTERS) -> Markup:
    """Show a JSON value: on one line if it is short, else over several."""
    try:
        data = to_json(value)
        text = (data if len(data) <= _SHORT else msgspec.json.format(data, indent=2)).decode()
    except (TypeError, msgspec.MsgspecError, RecursionError):
        text = repr(value)  # no JSON, which a reporter may be given all the same
    return element("div", shorten_middle(text, most_characters), class_="code", dir="auto")


def argument_list(values: Mapping[str, JsonValue]) -> Markup:
    """Show arguments by name: strings as they are, line for line, and other values as JSON."""
    if not values:
        return element("p", "None", class_="none")
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", name, dir="auto"),
                element(
                    "dd",
                    text_block(value, code=True) if isinstance(value, str) else json_block(value),
                ),
            )
            for name, value in values.items()
        ),
        class_="arguments",
    )


def fact_list(facts: Iterable[tuple[str, str | None]], *, name: str = "facts") -> Markup:
    """Show facts by name, in order; those that are None or empty are left out."""
    rows = [
        element("div", element("dt", label), element("dd", value, dir="auto"))
        for label, value in facts
        if value
    ]
    return element("dl", *rows, class_=name) if rows else NOTHING


def metadata_block(metadata: Mapping[str, JsonValue]) -> Markup:
    """Show metadata, folded; empty without any."""
    if not metadata:
        return NOTHING
    shown = json_block(dict(metadata), most_characters=_MOST_OF_METADATA)
    return folded("Metadata", shown, name="more")


def folded(summary: str, content: Markup, *, name: str = "fold", is_open: bool = False) -> Markup:
    """Show content that a reader can fold and unfold, below a line that stays."""
    return element(
        "details", element("summary", summary), content, class_=name, open=is_open or None
    )


def _fenced(text: str) -> Iterable[Markup]:
    """Divide text at the fences of its code blocks; a block that is not closed goes to the end."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line)
        if match and not fence:
            yield _text_of(lines)
            if match[2].strip():
                yield element("p", match[2].strip(), class_="label")
            lines, fence = [], match[1]
        elif match and match[1].startswith(fence) and not match[2].strip():
            yield element("div", "\n".join(lines), class_="code")
            lines, fence = [], ""
        else:
            lines.append(line)
    yield element("div", "\n".join(lines), class_="code") if fence else _text_of(lines)


def _text_of(lines: list[str]) -> Markup:
    text = "\n".join(lines).strip("\n")
    return element("div", text, class_="text", dir="auto") if text.strip() else NOTHING
