"""Writes to a terminal: lines that stay, and below them some that change.

What stays is written once and becomes the terminal's own history. What changes is written over,
line by line, in one write a frame, so that nothing flickers.
"""

from __future__ import annotations

import io
import re
from typing import Final

from rich.console import Console, RenderableType
from rich.text import Text
from rich.theme import Theme

_HIDE_CURSOR: Final = "\x1b[?25l"
_SHOW_CURSOR: Final = "\x1b[?25h"
_BEGIN_FRAME: Final = "\x1b[?2026h"
_END_FRAME: Final = "\x1b[?2026l"
"""Terminals that know these show a frame at once; all others ignore them."""
_CLEAR_LINE: Final = "\x1b[K"
_CLEAR_BELOW: Final = "\x1b[J"
_SEEN: Final = re.compile(r"(?:\A|m| )[^\x1b\s]")
"""Matches a line of which something is seen, beside its colours."""
_LEAST_WIDTH: Final = 20
_THEME: Final = Theme(  # without backgrounds, for light terminals and dark ones
    {
        "markdown.code": "bold cyan",
        "markdown.block_quote": "italic",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "bold",
        "markdown.h5": "bold",
        "markdown.h6": "bold",
    }
)
_MOST_LIVE_LINES: Final = 20
_INDENT: Final = 2


class Screen:
    """The lines of one terminal."""

    __slots__ = (
        "_console",
        "_is_live",
        "_live",
        "_painter",
        "_waiting",
        "ends_with_gap",
        "has_several",
        "speaker",
    )

    def __init__(self, console: Console) -> None:
        """Write to the file of a console, in its colours and its size."""
        self._console = console
        self._painter = Console(
            file=io.StringIO(),
            force_terminal=True,
            color_system=console.color_system or "standard",  # type: ignore[arg-type]
            no_color=console.no_color,
            legacy_windows=False,
            width=80,
            height=1000,
            markup=False,
            highlight=False,
            emoji=False,
            theme=_THEME,
        )
        self._waiting: list[str] = []
        """Lines that stay and are not written yet."""
        self._live: list[str] = []
        """The lines that change, as they were written last."""
        self._is_live = False
        self.ends_with_gap = True
        """Whether the last of the lines that stay is empty; True before the first."""
        self.speaker: Column | None = None
        """Whose lines were added last."""
        self.has_several = False
        """Whether there is more than one session that no other has begun."""

    @property
    def width(self) -> int:
        """How many cells a line has."""
        # A line that reaches the last cell leaves the cursor where terminals disagree.
        return max(self._console.width - 1, _LEAST_WIDTH)

    @property
    def most_live_lines(self) -> int:
        """How many lines may change at most."""
        return max(min(self._console.height - 2, _MOST_LIVE_LINES), 1)

    def render(self, what: RenderableType, indent: int = 0) -> list[str]:
        """Render something as lines, without empty ones around it."""
        painter = self._painter
        painter.width = max(self.width - indent, _LEAST_WIDTH)
        try:
            with painter.capture() as captured:
                painter.print(what)
            text = captured.get()
        except Exception:
            if isinstance(what, Text):
                raise
            return self.render(Text(getattr(what, "markup", "")), indent)
        lines = [line.rstrip(" ") if _SEEN.search(line) else "" for line in text.split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        while lines and not lines[0]:
            lines.pop(0)
        return [" " * indent + line if line else "" for line in lines]

    def add(self, lines: list[str]) -> None:
        """Add lines that stay; they are written with the next frame."""
        if lines:
            self._waiting += lines
            self.ends_with_gap = not lines[-1]

    def gap(self) -> None:
        """Add an empty line, unless the last one is."""
        if not self.ends_with_gap:
            self.add([""])

    def draw(self, live: list[str]) -> None:
        """Write the lines that wait, and below them those that change.

        Raises:
            OSError: The terminal is gone.
        """
        if not self._waiting and live == self._live:
            return
        # A window that has become lower has scrolled what was above it.
        up = min(len(self._live) - 1, self._console.height - 1)
        frame = [_BEGIN_FRAME]
        if live and not self._is_live:
            frame.append(_HIDE_CURSOR)
        if self._live:
            frame.append("\r" + (f"\x1b[{up}A" if up > 0 else ""))
        frame += [f"{_CLEAR_LINE}{line}\r\n" for line in self._waiting]
        frame.append("\r\n".join(f"{_CLEAR_LINE}{line}" for line in live))
        frame.append(_CLEAR_BELOW)
        if not live and self._is_live:
            frame.append(_SHOW_CURSOR)
        frame.append(_END_FRAME)
        self._waiting, self._live, self._is_live = [], live, bool(live)
        file = self._console.file
        file.write("".join(frame))
        file.flush()


class Column:
    """The lines of one session: indented, and under its name where several take turns.

    Attributes:
        indent: How many cells its lines are indented.
    """

    __slots__ = ("_name", "_screen", "indent")

    def __init__(self, screen: Screen, *, name: str, depth: int) -> None:
        """Add lines to a screen.

        Args:
            screen: The screen.
            name: What is written above its lines when another session has written before.
            depth: How many calls of agents are around the session.
        """
        self._screen = screen
        self._name = name
        self.indent = _INDENT * depth

    def begin(self) -> None:
        """Let the next lines follow the last ones without a name: those say whose they are."""
        self._screen.speaker = self

    def gap(self) -> None:
        """Add an empty line, unless the last one is."""
        self._speak()
        self._screen.gap()

    def add(self, what: RenderableType, *, sign: Text | None = None) -> None:
        """Add something that stays; a sign of one cell may be before its first line."""
        self._speak()
        self._screen.add(self.render(what, sign=sign))

    def render(self, what: RenderableType, *, sign: Text | None = None) -> list[str]:
        """Return something as lines of the column, as `add` adds it."""
        lines = self._screen.render(what, self.indent + _INDENT)
        if sign is not None and lines:
            (mark,) = self._screen.render(sign, self.indent)
            lines[0] = f"{mark} {lines[0][self.indent + _INDENT :]}"
        return lines

    def _speak(self) -> None:
        screen = self._screen
        before, screen.speaker = screen.speaker, self
        if before is not self and before is not None and (self.indent or screen.has_several):
            screen.gap()
            screen.add(screen.render(Text(f"↳ {self._name}", "bold dim"), self.indent))
