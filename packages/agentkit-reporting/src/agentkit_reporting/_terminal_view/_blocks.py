"""Cuts Markdown that arrives in pieces into blocks, each of which is shown once and for all.

A paragraph, a heading, a table, an item of a list or a code block is whole when the next one
begins. Long ones are cut, so that what may still change stays short, however long the text is.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_ITEM: Final = re.compile(r" ?(?:[-*+]|\d{1,9}[.)])\s")
_INTERRUPTING_ITEM: Final = re.compile(r" ?(?:[-*+]|1[.)])\s+\S")
_MOST_CODE_LINES: Final = 40
_MOST_CHARACTERS: Final = 4_000
_LONGEST_LINE: Final = 4_000
"""A line without an end is cut when it is longer."""


class Block(NamedTuple):
    """A piece of Markdown that can be rendered alone.

    Attributes:
        text: The Markdown.
        has_gap: Whether an empty line is between it and the block before it.
    """

    text: str
    has_gap: bool


class BlockSplitter:
    """Splits one text; it does not matter where its pieces are cut."""

    __slots__ = ("_characters", "_fence", "_gap", "_is_blank", "_is_list", "_lines", "_rest")

    def __init__(self) -> None:
        self._rest = ""
        """The line that has no end yet."""
        self._lines: list[str] = []
        self._characters = 0
        self._fence = ""
        """What ends the code block; empty outside of one."""
        self._is_list = False
        self._is_blank = False
        """Whether the last line was empty."""
        self._gap = True

    def feed(self, text: str) -> list[Block]:
        """Take the next piece; return the blocks that are complete with it."""
        blocks: list[Block] = []
        *lines, rest = (self._rest + text).split("\n")
        for line in lines:
            self._add(line, blocks)
        while len(rest) > _LONGEST_LINE:
            cut = rest.rfind(" ", 0, _LONGEST_LINE) + 1 or _LONGEST_LINE
            self._add(rest[:cut], blocks)
            self._end(blocks, next_gap=False)
            rest = rest[cut:]
        self._rest = rest
        return blocks

    def finish(self) -> list[Block]:
        """End the text: return what is left of it, and start again."""
        blocks: list[Block] = []
        if self._rest:
            self._add(self._rest, blocks)
        self._fence = ""
        self._end(blocks)
        self.__init__()  # type: ignore[misc]
        return blocks

    @property
    def growing(self) -> Block | None:
        """The block that may still change; None if there is none."""
        # A line that begins with dashes would make a heading of the line above for a moment.
        rest = self._rest if self._fence or self._rest.strip(" -=") else ""
        lines = [*self._lines, rest] if rest else self._lines
        return Block("\n".join(lines), self._gap) if any(map(str.strip, lines)) else None

    def _add(self, line: str, blocks: list[Block]) -> None:
        if self._fence:
            self._add_code(line, blocks)
            return
        if not line.strip():
            self._is_blank = True
            if self._lines:
                self._lines.append("")
            return
        fence = _FENCE.match(line)
        if self._begins(line, is_fence=fence is not None):
            is_item = _ITEM.match(line) is not None
            goes_on = self._is_list and is_item and not self._is_blank
            self._end(blocks, next_gap=self._gap if not self._lines else not goes_on)
            self._is_list = is_item
        self._is_blank = False
        self._append(line)
        if fence is not None and len(self._lines) == 1:
            self._fence = fence[1]
        elif _HEADING.match(line) and len(self._lines) == 1:
            self._end(blocks)
        elif self._characters > _MOST_CHARACTERS:
            self._end(blocks, next_gap=False)

    def _add_code(self, line: str, blocks: list[Block]) -> None:
        self._append(line)
        stripped = line.strip()
        fence = self._fence
        if len(stripped) >= len(fence) and not stripped.strip(fence[0]):
            self._fence = ""
            self._end(blocks)
        elif len(self._lines) > _MOST_CODE_LINES or self._characters > _MOST_CHARACTERS:
            opening = self._lines[0]
            self._append(fence)
            self._end(blocks, next_gap=False)
            self._append(opening)

    def _begins(self, line: str, *, is_fence: bool) -> bool:
        """Whether a line begins a block."""
        if not self._lines:
            return True
        indent = len(line) - len(line.lstrip())
        if self._is_list:
            # What is indented belongs to the item.
            is_other = self._is_blank or is_fence or _HEADING.match(line) is not None
            return indent < 2 and (is_other or _ITEM.match(line) is not None)
        if self._is_blank or is_fence or _HEADING.match(line):
            return True
        return _INTERRUPTING_ITEM.match(line) is not None

    def _append(self, line: str) -> None:
        self._lines.append(line)
        self._characters += len(line) + 1

    def _end(self, blocks: list[Block], *, next_gap: bool = True) -> None:
        text = "\n".join(self._lines).rstrip("\n")
        if text.strip():
            blocks.append(Block(text, self._gap))
        self._lines.clear()
        self._characters = 0
        self._gap = next_gap
