"""Lines of text on their way to a terminal: where the cursor is, colour, one write an event."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

from agentkit_core.values import StringEnum


class Style(StringEnum):
    """How a text is marked; the parameters of the ANSI sequence that does it."""

    PLAIN = ""
    DIM = "2"
    RED = "31"
    YELLOW = "33"


class LineWriter:
    """Collects what is to be written and writes it in one go. Takes clean text only."""

    def __init__(
        self, file: TextIO | None, write: Callable[[str], object] | None, *, colour: bool
    ) -> None:
        """Write through `write`, else to `file`, else to what `sys.stdout` is then."""
        self._file = file
        self._write = write
        self._colour = colour
        self._waiting: list[str] = []
        self._at_line_start = True

    def text(self, text: str, style: Style = Style.PLAIN) -> None:
        """Add text where the cursor is."""
        if text:
            self._at_line_start = text.endswith("\n")
            marked = self._colour and style is not Style.PLAIN
            self._waiting.append(f"\x1b[{style}m{text}\x1b[0m" if marked else text)

    def fresh_line(self) -> None:
        """Go to the beginning of a line, unless the cursor is there."""
        if not self._at_line_start:
            self.text("\n")

    def line(self, text: str, style: Style = Style.PLAIN) -> None:
        """Add a line of its own."""
        self.fresh_line()
        self.text(text, style)
        self.text("\n")

    def flush(self) -> None:
        """Write what has been added; what cannot be written is let go of.

        Raises:
            OSError: It cannot be written.
        """
        if not self._waiting:
            return
        text = "".join(self._waiting)
        self._waiting.clear()
        if self._write is not None:
            self._write(text)
            return
        file = sys.stdout if self._file is None else self._file
        try:
            file.write(text)
        except UnicodeEncodeError:
            # Not every terminal has every character; what it has is shown all the same.
            known = file.encoding
            file.write(text.encode(known, "replace").decode(known))
        file.flush()
