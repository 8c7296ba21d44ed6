"""Lines for a POSIX shell, as far as they can be understood without being one.

    line       commands between `;` `&` `|` `&&` `||` and new lines
    command    words: bare, 'quoted', "quoted" or with backslashes

Whatever could run something else, or make other words of these, is not understood: `$`,
backticks, `(`, `{`, files written or read by `<` and `>`, assignments, keywords, comments.
"""

from __future__ import annotations

import re
from typing import Final

_BLANK: Final = " \t"
_STRANGE: Final = frozenset("$`(){}<>")
_GLOB: Final = frozenset("*?[]~^")
_IN_FIRST_PLACE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=|=")
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
"""Redirections that write no file."""


def commands_of(line: str) -> list[list[str]] | None:
    """Take a line apart into its commands, each at least one word, quotes and all removed.

    Args:
        line: What a shell gets to run. Patterns like `*.py` stay as they are, but not in the
            first word of a command.

    Returns:
        The commands in their order, empty if there is none; None where the line is not
        understood as a whole.
    """
    commands: list[list[str]] = [[]]
    at = 0
    while at < len(line):
        if line[at] in _BLANK:
            at += 1
        elif line.startswith("\\\n", at):
            at += 2
        elif found := _OPERATOR.match(line, at):
            # A shell takes any number of new lines, but no operator without a command before.
            if not commands[-1] and found[0] != "\n":
                return None
            commands.append([])
            at = found.end()
        elif found := _HARMLESS.match(line, at):
            at = found.end()
        else:
            read = _word(line, at, first=not commands[-1])
            if read is None:
                return None
            word, at = read
            commands[-1].append(word)
    return [command for command in commands if command]


def _word(line: str, at: int, *, first: bool) -> tuple[str, int] | None:
    """Read one word; None where it is not understood."""
    start = at
    if line[at] == "#":
        return None
    word = ""
    while at < len(line) and line[at] not in _BLANK and not _OPERATOR.match(line, at):
        one = line[at]
        if one == "'":
            end = line.find("'", at + 1)
            if end < 0:
                return None
            word += line[at + 1 : end]
            at = end + 1
        elif one == '"':
            quoted = _quoted(line, at + 1)
            if quoted is None:
                return None
            word += quoted[0]
            at = quoted[1]
        elif one == "\\":
            if at + 1 >= len(line):
                return None
            word += "" if line[at + 1] == "\n" else line[at + 1]
            at += 2
        elif one in _STRANGE or (first and one in _GLOB) or not (one.isprintable()):
            return None
        else:
            word += one
            at += 1
    # A shell joins lines before it knows words.
    written = line[start:at].replace("\\\n", "")
    if first and (written in _KEYWORDS or _IN_FIRST_PLACE.match(written)):
        return None
    return word, at


def _quoted(line: str, at: int) -> tuple[str, int] | None:
    """Read the inside of double quotes, up to behind the closing one."""
    text = ""
    while at < len(line):
        one = line[at]
        if one == '"':
            return text, at + 1
        if one in "$`":
            return None
        if one == "\\" and line[at + 1 : at + 2] in ("$", "`", '"', "\\", "\n"):
            text += "" if line[at + 1] == "\n" else line[at + 1]
            at += 2
        else:
            text += one
            at += 1
    return None
