"""A model's answer while it grows: blocks that are whole, and the one that is not."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import RenderableType
from rich.text import Text as StyledText

from agentkit_core import File, Media, Part, Reasoning, Structured, Text, ToolCall
from agentkit_core.provider import AppendText, BeginPart, CommitPart, Delta, PartId
from agentkit_reporting._format import describe_part, text_of
from agentkit_reporting._terminal_safe import TerminalCleaner, clean
from agentkit_reporting._terminal_view._blocks import Block, BlockSplitter
from agentkit_reporting._terminal_view._markdown import block_of
from agentkit_reporting._terminal_view._screen import Column


class _ShownPart:
    def __init__(self, part: Part, *, show_reasoning: bool) -> None:
        self.is_reasoning = isinstance(part, Reasoning)
        self.is_shown = isinstance(part, Text) or (self.is_reasoning and show_reasoning)
        self.call = part.name if isinstance(part, ToolCall) else None
        self.size = 0
        self.cleaner = TerminalCleaner()
        self.splitter = BlockSplitter()


class GrowingAnswer:
    """The answer of one model call after the other, in one session."""

    __slots__ = ("_column", "_growing", "_parts", "_show_reasoning")

    def __init__(self, column: Column, *, show_reasoning: bool) -> None:
        """Show answers in a column; on request, reasoning too."""
        self._column = column
        self._show_reasoning = show_reasoning
        self._parts: dict[PartId, _ShownPart] = {}
        self._growing: _ShownPart | None = None

    def take(self, deltas: Iterable[Delta]) -> None:
        """Take the next deltas; blocks that are whole are shown."""
        for delta in deltas:
            match delta:
                case BeginPart(part_id=part_id, part=part):
                    shown = _ShownPart(part, show_reasoning=self._show_reasoning)
                    self._parts[part_id] = shown
                    self._grow(shown, text_of(part))
                case AppendText(part_id=part_id, chunk=chunk):
                    if part_id not in self._parts:
                        # As in a lenient fold, it becomes a text part.
                        plain = _ShownPart(Text(""), show_reasoning=False)
                        self._parts[part_id] = plain
                    self._grow(self._parts[part_id], chunk)
                case CommitPart(part=part, part_id=part_id):
                    self._commit(part, None if part_id is None else self._parts.pop(part_id, None))
                case _:
                    pass

    def end(self) -> None:
        """End the answer, complete or not."""
        self._leave()
        self._parts.clear()

    def live(self, spinner: str) -> list[str]:
        """Return the lines that may still change."""
        lines: list[str] = []
        part = self._growing
        if part is not None and (block := part.splitter.growing) is not None:
            lines += self._column.render(_render(block, is_reasoning=part.is_reasoning))
        for part in self._parts.values():
            if part.call is not None:
                name, size = clean(part.call or "a tool"), f"{part.size:,}"
                text = f"{name} … {size} characters of arguments"
                sign = StyledText(spinner, "cyan")
                lines += self._column.render(StyledText(text, "dim"), sign=sign)
        return lines

    def _grow(self, part: _ShownPart, chunk: str) -> None:
        part.size += len(chunk)
        if not part.is_shown or not chunk:
            return
        if part is not self._growing:
            self._leave()
            self._growing = part
        self._show(part.splitter.feed(part.cleaner.feed(chunk)), is_reasoning=part.is_reasoning)

    def _commit(self, part: Part, grown: _ShownPart | None) -> None:
        if grown is not None and grown.size and grown.is_shown:
            if grown is self._growing:
                self._leave()
            return
        if isinstance(part, Text) or (isinstance(part, Reasoning) and self._show_reasoning):
            whole = _ShownPart(part, show_reasoning=self._show_reasoning)
            self._grow(whole, text_of(part))
            self._leave()
        elif isinstance(part, (Media, File, Structured)):
            self._leave()
            self._column.gap()
            self._column.add(StyledText(clean(describe_part(part)), "dim"))

    def _leave(self) -> None:
        part, self._growing = self._growing, None
        if part is not None:
            blocks = part.splitter.feed(part.cleaner.finish()) + part.splitter.finish()
            self._show(blocks, is_reasoning=part.is_reasoning)

    def _show(self, blocks: list[Block], *, is_reasoning: bool) -> None:
        for block in blocks:
            if block.has_gap:
                self._column.gap()
            self._column.add(_render(block, is_reasoning=is_reasoning))


def _render(block: Block, *, is_reasoning: bool) -> RenderableType:
    return StyledText(block.text, "dim italic") if is_reasoning else block_of(block.text)
