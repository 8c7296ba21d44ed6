"""Tool calls: what is shown while they run, and once they have their results."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from agentkit_core import (
    ApprovalRequest,
    JsonValue,
    StructuredOutput,
    TextOutput,
    ToolCall,
    ToolResult,
)
from agentkit_core.text import make_visible, shorten_middle
from agentkit_reporting._format import brief, brief_json, brief_output
from agentkit_reporting._terminal_safe import clean
from agentkit_reporting._terminal_view._edits import edit_of, show_edit, without_edit
from agentkit_reporting._terminal_view._screen import Column

_WIDTH: Final = 160
_PREVIEW_LINES: Final = 4
_PREVIEW_CHARACTERS: Final = 4_000
_MOST_OF_A_SUMMARY: Final = 10_000
"""How many characters of an approval are shown; the text says how many are missing."""


class ShownCall:
    """A tool call that has no result yet.

    Attributes:
        name: The tool.
        input: The arguments: those it runs with, once it does.
        since_ms: When it was requested, in milliseconds since the Unix epoch.
        progress: What it has reported last; None if nothing.
        is_announced: Whether its name and arguments are shown already.
        is_waiting: Whether it waits for a person.
        edit: The diff that a person has been shown; empty if there was none.
    """

    __slots__ = (
        "_raw",
        "edit",
        "input",
        "is_announced",
        "is_waiting",
        "name",
        "progress",
        "since_ms",
    )

    def __init__(self, call: ToolCall, since_ms: int) -> None:
        self.name = call.name
        self.input: dict[str, JsonValue] = call.input
        self._raw = call.raw_input
        self.since_ms = since_ms
        self.progress: str | None = None
        self.is_announced = False
        self.is_waiting = False
        self.edit: list[str] = []

    def title(self) -> Text:
        """Return the name and the arguments of the call."""
        arguments = (
            brief(self._raw, _WIDTH) if self._raw else brief_json(without_edit(self.input), _WIDTH)
        )
        name = brief(self.name, _WIDTH)
        shown = "" if arguments == "{}" else f" {arguments}"
        return Text.assemble((name, "bold"), (shown, "dim"))

    def live(self, column: Column, spinner: str, now_ms: int) -> list[str]:
        """Return the lines of a call that runs."""
        if self.is_waiting or self.is_announced:
            return []
        title = self.title()
        if (seconds := (now_ms - self.since_ms) // 1000) > 0:
            title.append(f"  {seconds} s", "dim")
        lines = column.render(_on_one_line(title), sign=Text(spinner, "cyan"))
        if self.progress is not None:
            lines += column.render(_on_one_line(Text(brief(self.progress, _WIDTH), "dim")))
        return lines

    def announce(self, column: Column) -> None:
        """Show that it runs, before something that it does is shown."""
        if not self.is_announced:
            column.gap()
            column.add(self.title(), sign=Text("▸", "cyan"))
            self.is_announced = True

    def finish(self, column: Column, result: ToolResult, at_ms: int, *, background: bool) -> None:
        """Show its result: an edit as a diff, else the first lines."""
        failed = result.is_error
        sign = Text("✗", "bold red") if failed else Text("✓", "green")
        title = Text(brief(self.name, _WIDTH), "bold") if self.is_announced else self.title()
        if failed:
            title.append(
                f"  failed ({result.failure.value})" if result.failure else "  failed", "red"
            )
        if background:
            title.append("  in the background", "dim")
        if (took_ms := at_ms - self.since_ms) >= 100:
            title.append(f"  {took_ms / 1000:.1f} s", "dim")
        column.gap()
        column.add(title, sign=sign)
        if self.is_announced and not failed:  # the agent's own answer was shown
            return
        edit = edit_of(self.input, result)
        column.add(show_edit(edit) if edit and edit != self.edit else _preview(result))


def show_request(column: Column, request: ApprovalRequest) -> list[str]:
    """Show what a person is to decide, whole; return the diff of an edit, if it is one."""
    column.gap()
    summary = shorten_middle(make_visible(request.summary), _MOST_OF_A_SUMMARY)
    column.add(Text(summary, "yellow"), sign=Text("?", "bold yellow"))
    if request.reason is not None:
        reason = shorten_middle(make_visible(request.reason), _MOST_OF_A_SUMMARY)
        column.add(Text(reason, "yellow"))
    if edit := edit_of(request.call.input, None):
        column.add(show_edit(edit))
    return edit


def _preview(result: ToolResult) -> Text:
    style = "red" if result.is_error else "dim"
    output = result.output
    if not isinstance(output, (TextOutput, StructuredOutput)):
        return Text(brief_output(output, _WIDTH), style)
    whole = output.text
    lines = clean(whole[:_PREVIEW_CHARACTERS]).strip("\n").split("\n")
    shown = [brief(line, _WIDTH) if len(line) > _WIDTH else line.rstrip() for line in lines]
    text = Text("\n".join(shown[:_PREVIEW_LINES]).expandtabs(4), style)
    more = len(lines) - _PREVIEW_LINES
    if len(whole) > _PREVIEW_CHARACTERS:
        text.append(f"\n… {len(whole):,} characters in all", "dim")
    elif more > 0:
        text.append(f"\n… {more} more line" + ("" if more == 1 else "s"), "dim")
    return text


def _on_one_line(text: Text) -> Text:
    text.no_wrap = True
    text.overflow = "ellipsis"
    return text
