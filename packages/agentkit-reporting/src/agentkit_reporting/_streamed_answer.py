"""Writes a model's answer while it is streamed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from agentkit_core import File, Media, Part, Reasoning, Structured, Text
from agentkit_core.provider import AppendText, BeginPart, CommitPart, Delta, PartId
from agentkit_reporting._format import describe_part, text_of
from agentkit_reporting._line_writer import LineWriter, Style
from agentkit_reporting._terminal_safe import TerminalCleaner, clean

_QUESTION_MARKS: Final = "?？﹖⁇⁈¿❓❔"  # noqa: RUF001
_MARK_AFTER_NEWLINE: Final = re.compile(rf"(\n[^\S\n]*)([{_QUESTION_MARKS}])")
_MARK_AT_BEGINNING: Final = re.compile(rf"((?:\A|\n)[^\S\n]*)([{_QUESTION_MARKS}])")


class _ShownPart:
    def __init__(self, style: Style | None) -> None:
        self.style = style
        """The style of its text; None if the part is not shown while it grows."""
        self.cleaner = TerminalCleaner()
        self.has_text = False


class AnswerWriter:
    """Writes the deltas of one answer after the other: text, and reasoning on request.

    If several parts grow in turn, each turn begins a new line. Tool calls are not shown here,
    because they have events of their own.
    """

    def __init__(self, lines: LineWriter, *, show_reasoning: bool) -> None:
        """Write through a line writer."""
        self._lines = lines
        self._show_reasoning = show_reasoning
        self._parts: dict[PartId, _ShownPart] = {}
        self._growing: _ShownPart | None = None
        self._line_begins = True
        """Whether the current line consists of spaces so far."""

    def write(self, deltas: Iterable[Delta]) -> None:
        """Write the next deltas."""
        # Consecutive chunks of one part are cleaned and written together.
        growing: PartId | None = None
        chunks: list[str] = []
        for delta in deltas:
            if type(delta) is AppendText:
                if delta.part_id != growing:
                    self._grow(growing, chunks)
                    growing, chunks = delta.part_id, []
                chunks.append(delta.chunk)
                continue
            self._grow(growing, chunks)
            growing, chunks = None, []
            if type(delta) is BeginPart:
                self._begin(delta)
            elif type(delta) is CommitPart:
                self._commit(delta)
        self._grow(growing, chunks)

    def end(self) -> None:
        """End the answer, complete or not."""
        self._leave()
        self._lines.fresh_line()
        self._parts.clear()

    def _begin(self, delta: BeginPart) -> None:
        part = self._parts[delta.part_id] = _ShownPart(self._style(delta.part))
        self._show(part, text_of(delta.part))

    def _grow(self, part_id: PartId | None, chunks: list[str]) -> None:
        if part_id is None:
            return
        part = self._parts.get(part_id)
        if part is None:
            # Text for a part that never began becomes a text part, as in a lenient fold.
            part = self._parts[part_id] = _ShownPart(Style.PLAIN)
        self._show(part, "".join(chunks))

    def _commit(self, delta: CommitPart) -> None:
        part = None if delta.part_id is None else self._parts.pop(delta.part_id, None)
        if part is None or not part.has_text:
            self._show_whole(delta.part)
        if part is not None and part is self._growing:
            self._leave()

    def _show_whole(self, part: Part) -> None:
        style = self._style(part)
        if style is not None:
            self._leave()
            self._lines.fresh_line()
            self._write(clean(text_of(part)), style)
        elif isinstance(part, (Media, File, Structured)):
            self._leave()
            self._lines.line(clean(describe_part(part)), Style.DIM)

    def _show(self, part: _ShownPart, chunk: str) -> None:
        if part.style is None or not chunk:
            return
        part.has_text = True
        if part is not self._growing:
            self._leave()
            self._lines.fresh_line()
            self._growing = part
        self._write(part.cleaner.feed(chunk), part.style)

    def _leave(self) -> None:
        """End the part that is being shown, before something else is shown."""
        if self._growing is not None:
            self._write(self._growing.cleaner.finish(), Style.PLAIN)
            self._growing = None

    def _write(self, text: str, style: Style) -> None:
        """Write text of the model's, none of whose lines looks like an approval."""
        before = self._line_begins or self._lines.is_at_line_start
        marked = (_MARK_AT_BEGINNING if before else _MARK_AFTER_NEWLINE).sub(r"\1\\\2", text)
        end = text.rpartition("\n")
        self._line_begins = not end[2].strip() and (before or bool(end[1]))
        self._lines.text(marked, style)

    def _style(self, part: Part) -> Style | None:
        if isinstance(part, Text):
            return Style.PLAIN
        return Style.DIM if self._show_reasoning and isinstance(part, Reasoning) else None
