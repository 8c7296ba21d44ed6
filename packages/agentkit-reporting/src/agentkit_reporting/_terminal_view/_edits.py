"""Recognises edits in calls and results, and shows them as a diff."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from typing import Final

from rich.text import Text

from agentkit_core import JsonValue, StructuredOutput, ToolResult
from agentkit_reporting._terminal_safe import clean

_PAIRS: Final = (
    ("old_text", "new_text"),
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("old", "new"),
    ("before", "after"),
)
_DIFFS: Final = ("diff", "unified_diff", "patch")
_LOOKS_LIKE_A_DIFF: Final = re.compile(r"(?m)\A(?:diff --git |--- )[^\0]*?^@@ ")
_MOST_COMPARED: Final = 400_000
"""How many characters are compared at most; the time can grow with their square."""
_MOST_LINES_COMPARED: Final = 4_000
_MOST_SHOWN: Final = 60


def edit_of(arguments: JsonValue, result: ToolResult | None) -> list[str]:
    """Return the diff of an edit as lines; empty if there is none.

    Args:
        arguments: What the tool was called with.
        result: Its result; None before it has one.
    """
    sources: list[JsonValue] = [arguments]
    if result is not None:
        if result.is_error:
            return []
        output = result.output
        value = output.value if isinstance(output, StructuredOutput) else None
        sources = [result.details, value, arguments]
        text = result.text[:_MOST_COMPARED]
        if _LOOKS_LIKE_A_DIFF.match(text):
            sources.insert(0, {"diff": text})
    for source in sources:
        if isinstance(source, dict) and (lines := list(_diff(source))):
            return lines
    return []


def without_edit(arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the arguments that a diff does not show."""
    for old, new in _PAIRS:
        if isinstance(arguments.get(old), str) and isinstance(arguments.get(new), str):
            return {name: value for name, value in arguments.items() if name not in (old, new)}
    return arguments


def _diff(source: dict[str, JsonValue]) -> Iterator[str]:
    for name in _DIFFS:
        text = source.get(name)
        if isinstance(text, str) and "@@" in text:
            yield from clean(text[:_MOST_COMPARED]).splitlines()
            return
    for old_name, new_name in _PAIRS:
        old, new = source.get(old_name), source.get(new_name)
        if isinstance(old, str) and isinstance(new, str):
            yield from _compare(old, new)
            return


def _compare(old: str, new: str) -> Iterator[str]:
    before, after = clean(old[:_MOST_COMPARED]).split("\n"), clean(new[:_MOST_COMPARED]).split("\n")
    if len(before) + len(after) > _MOST_LINES_COMPARED:
        yield f"@@ {len(before):,} lines become {len(after):,} @@"
        return
    compared = unified_diff(before, after, n=2, lineterm="")
    yield from (line for line in compared if not line.startswith(("--- ", "+++ ")))


def show_edit(lines: list[str], most: int = _MOST_SHOWN) -> Text:
    """Return a diff in colours."""
    text = Text(no_wrap=False, overflow="fold")
    for line in lines[:most]:
        style = "cyan" if line.startswith("@@") else "bold" if line[:4] in ("--- ", "+++ ") else ""
        if not style:
            style = {"+": "green", "-": "red"}.get(line[:1], "dim")
        text.append(line.expandtabs(4) + "\n", style)
    if len(lines) > most:
        text.append(f"… {len(lines) - most:,} more lines", "dim")
    text.rstrip()
    return text
