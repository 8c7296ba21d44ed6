"""Docstrings: the description of a function, and of each parameter.

Three formats are supported:

    Google      Args:                 a line of its own, entries indented below it
    NumPy       Parameters            underlined with dashes, texts indented below the names
    reST        :param name: text     anywhere

Nothing here is an error. A block in no such format remains part of the description, so prose may
mention `Args:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from inspect import cleandoc
from typing import Final

from agentkit_core.values import Record

_GOOGLE_HEADER: Final = re.compile(
    r"(args|arguments|parameters|params|keyword args|keyword arguments|other parameters):\s*",
    re.IGNORECASE,
)
# The type may contain brackets itself: `(dict[str, tuple[int, ...]], optional)`.
_GOOGLE_ENTRY: Final = re.compile(r"\*{0,2}(?P<name>\w+)\s*(?:\(.*?\))?\s*:(?:\s+(?P<text>.*)|$)")
_NUMPY_HEADER: Final = re.compile(r"(parameters|other parameters)\s*", re.IGNORECASE)
_NUMPY_RULE: Final = re.compile(r"-{3,}\s*")
_NUMPY_ENTRY: Final = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_REST_FIELD: Final = re.compile(
    r"[:@](?P<field>param|parameter|arg|argument|key|keyword|type)\s+"
    r"(?P<words>[^:]+):(?:\s+(?P<text>.*)|$)"
)
_REST_ANY_FIELD: Final = re.compile(r"[:@]\w+[^:]*:")


class Docstring(Record, frozen=True):
    """The content of a docstring.

    Attributes:
        description: Summary and body, without the blocks that describe parameters; may be empty.
        parameters: From the name of each described parameter to its text, in one line.
    """

    description: str
    parameters: dict[str, str]


def read_docstring(text: str | None) -> Docstring:
    """Parse a docstring; None and blank text give an empty one."""
    lines = cleandoc(text or "").splitlines()
    description_lines: list[str] = []
    parameters: dict[str, str] = {}
    at = 0
    while at < len(lines):
        block, end = _block(lines, at)
        if end == at:
            description_lines.append(lines[at])
            end += 1
        for name, words in block.items():
            if words:
                parameters.setdefault(name, words)
        at = end
    description = re.sub(r"\n{3,}", "\n\n", "\n".join(description_lines)).strip()
    return Docstring(description, parameters)


def _block(lines: list[str], at: int) -> tuple[dict[str, str], int]:
    """Parse the block of parameters that begins at line `at`, if there is one.

    Returns:
        The texts by parameter, and the number of the line after the block; `at` if no block
        begins there.
    """
    line = lines[at].strip()
    if _GOOGLE_HEADER.fullmatch(line):
        return _google(lines, at)
    if _NUMPY_HEADER.fullmatch(line) and _is_rule(lines, at + 1):
        return _numpy(lines, at)
    if field := _REST_FIELD.match(line):
        end = _rest_end(lines, at)
        if field["field"] == "type":
            return {}, end
        # The type may come before the name: `:param dict[str, int] name: text`.
        name = field["words"].split()[-1].lstrip("*")
        return {name: _join_lines([field["text"] or "", *lines[at + 1 : end]])}, end
    return {}, at


def _google(lines: list[str], at: int) -> tuple[dict[str, str], int]:
    end = _indented_end(lines, at)
    body = lines[at + 1 : end]
    margin = min((_indent(line) for line in body if line.strip()), default=0)
    entries: dict[str, list[str]] = {}
    entry: list[str] | None = None
    for line in body:
        if line.strip() and _indent(line) == margin:
            match = _GOOGLE_ENTRY.fullmatch(line.strip())
            entry = None if match is None else entries.setdefault(match["name"], [])
            line = "" if match is None else match["text"] or ""
        if entry is not None:
            entry.append(line)
    if not entries:
        return {}, at
    return {name: _join_lines(texts) for name, texts in entries.items()}, end


def _numpy(lines: list[str], at: int) -> tuple[dict[str, str], int]:
    margin = _indent(lines[at])
    entries: dict[str, str] = {}
    names: list[str] = []
    texts: list[str] = []
    end = at + 2
    while end < len(lines) and not _is_rule(lines, end + 1):
        line = lines[end]
        if not line.strip() or _indent(line) > margin:
            texts.append(line)
        elif entry := _NUMPY_ENTRY.fullmatch(line.strip()):
            entries |= dict.fromkeys(names, _join_lines(texts))
            names = [name.strip().lstrip("*") for name in entry["names"].split(",")]
            texts = []
        else:
            break
        end += 1
    entries |= dict.fromkeys(names, _join_lines(texts))
    return entries, end


def _rest_end(lines: list[str], at: int) -> int:
    """Find the end of a field: the next field, a blank line, or a line that is not indented."""
    end = at + 1
    while end < len(lines):
        line = lines[end]
        if not line.strip() or _REST_ANY_FIELD.match(line.strip()):
            break
        if _indent(line) <= _indent(lines[at]):
            break
        end += 1
    return end


def _indented_end(lines: list[str], at: int) -> int:
    """Find the end of what is indented below line `at`, including blank lines inside it."""
    margin = _indent(lines[at])
    if at == 0 and _indent(next(filter(str.strip, lines[1:]), "")) == 0:
        # The indentation of the first line is unknown. If no line is indented less than the next
        # one, the next one was indented more than the first.
        margin = -1
    end = at + 1
    for number in range(at + 1, len(lines)):
        if lines[number].strip():
            if _indent(lines[number]) <= margin:
                break
            end = number + 1
    return end


def _is_rule(lines: list[str], at: int) -> bool:
    return at < len(lines) and _NUMPY_RULE.fullmatch(lines[at].strip()) is not None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _join_lines(texts: Iterable[str]) -> str:
    return " ".join(words for text in texts if (words := text.strip()))
