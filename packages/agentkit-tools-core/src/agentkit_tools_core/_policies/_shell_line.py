"""Parses simple command lines of a POSIX shell.

    line       commands between `;` `&` `|` `&&` `||` and new lines
    command    words: bare, 'quoted', "quoted" or with backslashes

A line is not parsed if it contains anything that could run other commands or change the words: `$`,
backticks, `(`, `{`, redirections with `<` and `>`, assignments, keywords, comments.
"""

from __future__ import annotations

import re
from typing import Final

_BLANK: Final = " \t"
_SPECIAL: Final = frozenset("$`(){}<>")
_GLOB: Final = frozenset("*?[]~^")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=|=")
_KEYWORDS: Final = frozenset(
    [
        "!",
        "[[",
        "case",
        "coproc",
        "do",
        "done",
        "elif",
        "else",
        "end",
        "esac",
        "fi",
        "for",
        "foreach",
        "function",
        "if",
        "in",
        "nocorrect",
        "noglob",
        "repeat",
        "select",
        "then",
        "time",
        "until",
        "while",
    ]
)
_OPERATOR: Final = re.compile(r"&&|\|\||[;&|\n]")
_HARMLESS: Final = re.compile(
    r"(?:[012]?>>?[ \t]*/dev/null|2>&1|1?>&2|<[ \t]*/dev/null)(?![^\s;&|])"
)
"""Redirections that do not write a file."""


def parse_line(line: str) -> list[list[str]] | None:
    """Split a line into its commands, each at least one word, without quotes and backslashes.

    Args:
        line: A command line for a shell. Patterns like `*.py` are kept, but must not be in the
            first word of a command.

    Returns:
        The commands in order, empty if there are none; None if any part of the line cannot be
        parsed.
    """
    commands: list[list[str]] = [[]]
    at = 0
    while at < len(line):
        if line[at] in _BLANK:
            at += 1
        elif line.startswith("\\\n", at):
            at += 2
        elif match := _OPERATOR.match(line, at):
            # Empty lines are allowed, but an operator needs a command before it.
            if not commands[-1] and match[0] != "\n":
                return None
            commands.append([])
            at = match.end()
        elif match := _HARMLESS.match(line, at):
            at = match.end()
        else:
            parsed = _parse_word(line, at, first=not commands[-1])
            if parsed is None:
                return None
            word, at = parsed
            commands[-1].append(word)
    return [command for command in commands if command]


def _parse_word(line: str, at: int, *, first: bool) -> tuple[str, int] | None:
    """Parse one word; return it and the position after it, or None if it cannot be parsed."""
    start = at
    if line[at] == "#":
        return None
    word = ""
    while at < len(line) and line[at] not in _BLANK and not _OPERATOR.match(line, at):
        character = line[at]
        if character == "'":
            end = line.find("'", at + 1)
            if end < 0:
                return None
            word += line[at + 1 : end]
            at = end + 1
        elif character == '"':
            quoted = _parse_quoted(line, at + 1)
            if quoted is None:
                return None
            word += quoted[0]
            at = quoted[1]
        elif character == "\\":
            if at + 1 >= len(line):
                return None
            word += "" if line[at + 1] == "\n" else line[at + 1]
            at += 2
        elif character in _SPECIAL or (first and character in _GLOB) or not character.isprintable():
            return None
        else:
            word += character
            at += 1
    # A shell joins continued lines before it recognizes keywords.
    source = line[start:at].replace("\\\n", "")
    if first and (source in _KEYWORDS or _ASSIGNMENT.match(source)):
        return None
    return word, at


def _parse_quoted(line: str, at: int) -> tuple[str, int] | None:
    """Parse text in double quotes; return it and the position after the closing quote."""
    text = ""
    while at < len(line):
        character = line[at]
        if character == '"':
            return text, at + 1
        if character in "$`":
            return None
        if character == "\\" and line[at + 1 : at + 2] in ("$", "`", '"', "\\", "\n"):
            text += "" if line[at + 1] == "\n" else line[at + 1]
            at += 2
        else:
            text += character
            at += 1
    return None
