"""Writes lines to a terminal: it tracks line starts, adds colour, and writes once per event."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

from agentkit_core.values import StringEnum


class Style(StringEnum):
    """The style of a text; the values are parameters of the ANSI sequence."""

    PLAIN = ""
    DIM = "2"
    RED = "31"
    YELLOW = "33"


class LineWriter:
    """Collects text and writes it all at once. The text must be clean already."""

    def __init__(
        self, file: TextIO | None, write: Callable[[str], object] | None, *, colour: bool
    ) -> None:
        """Write through `write`; without it to `file`; without both to the current `sys.stdout`."""
        self._file = file
        self._write = write
        self._colour = colour
        self._waiting: list[str] = []
        self._at_line_start = True

    @property
    def is_at_line_start(self) -> bool:
        """Whether the cursor is at the start of a line."""
        return self._at_line_start

    def text(self, text: str, style: Style = Style.PLAIN) -> None:
        """Add text at the cursor."""
        if text:
            self._at_line_start = text.endswith("\n")
            marked = self._colour and style is not Style.PLAIN
            self._waiting.append(f"\x1b[{style}m{text}\x1b[0m" if marked else text)

    def fresh_line(self) -> None:
        """Begin a new line, unless the cursor is at the start of one."""
        if not self._at_line_start:
            self.text("\n")

    def line(self, text: str, style: Style = Style.PLAIN) -> None:
        """Add a separate line."""
        self.fresh_line()
        self.text(text, style)
        self.text("\n")

    def flush(self) -> None:
        """Write the collected text; text that cannot be written is dropped.

        Raises:
            OSError: The text cannot be written.
        """
        if not self._waiting:
            return
        text = "".join(self._waiting)
        self._waiting.clear()
        if self._write is not None:
            self._write(text)
            return
        file: TextIO | None = sys.stdout if self._file is None else self._file
        if file is None:
            return  # the process has no standard output; `print` writes nothing then either
        try:
            file.write(text)
        except UnicodeEncodeError:
            # Characters that the terminal does not support are replaced.
            encoding = file.encoding
            file.write(text.encode(encoding, "replace").decode(encoding))
        file.flush()
