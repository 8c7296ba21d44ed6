"""Docstrings: what a function is for, and what each parameter means.

Three layouts are read, whichever a docstring is written in:

    Google      Args:                 a line of its own, entries indented below it
    NumPy       Parameters            underlined with dashes, texts indented below the names
    reST        :param name: text     anywhere

Nothing is an error here. A block that does not look like one of these stays part of the
description, so prose may speak of `Args:`.
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
# The type in brackets may hold brackets of its own: `(dict[str, tuple[int, ...]], optional)`.
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
    """What a docstring says.

    Attributes:
        description: Summary and body, without the blocks that describe parameters; may be empty.
        parameters: Parameter to its text, in one line; those with a text only.
    """

    description: str
    parameters: dict[str, str]


def read_docstring(text: str | None) -> Docstring:
    """Read a docstring; None and blank ones say nothing."""
    lines = cleandoc(text or "").splitlines()
    described: list[str] = []
    parameters: dict[str, str] = {}
    at = 0
    while at < len(lines):
        found, end = _block(lines, at)
        if end == at:
            described.append(lines[at])
            end += 1
        for name, words in found.items():
            if words:
                parameters.setdefault(name, words)
        at = end
    description = re.sub(r"\n{3,}", "\n\n", "\n".join(described)).strip()
    return Docstring(description, parameters)


def _block(lines: list[str], at: int) -> tuple[dict[str, str], int]:
    """Read the block that begins at line `at`, if one does.

    Returns:
        Its parameters, and the line after it; that is `at` itself where no block begins.
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
        # The type may stand before the name: `:param dict[str, int] name: text`.
        name = field["words"].split()[-1].lstrip("*")
        return {name: _joined([field["text"] or "", *lines[at + 1 : end]])}, end
    return {}, at


def _google(lines: list[str], at: int) -> tuple[dict[str, str], int]:
    end = _indented_end(lines, at)
    body = lines[at + 1 : end]
    margin = min((_indent(line) for line in body if line.strip()), default=0)
    found: dict[str, list[str]] = {}
    entry: list[str] | None = None
    for line in body:
        if line.strip() and _indent(line) == margin:
            match = _GOOGLE_ENTRY.fullmatch(line.strip())
            entry = None if match is None else found.setdefault(match["name"], [])
            line = "" if match is None else match["text"] or ""
        if entry is not None:
            entry.append(line)
    if not found:
        return {}, at
    return {name: _joined(texts) for name, texts in found.items()}, end


def _numpy(lines: list[str], at: int) -> tuple[dict[str, str], int]:
    margin = _indent(lines[at])
    found: dict[str, str] = {}
    names: list[str] = []
    texts: list[str] = []
    end = at + 2
    while end < len(lines) and not _is_rule(lines, end + 1):
        line = lines[end]
        if not line.strip() or _indent(line) > margin:
            texts.append(line)
        elif entry := _NUMPY_ENTRY.fullmatch(line.strip()):
            found |= dict.fromkeys(names, _joined(texts))
            names = [name.strip().lstrip("*") for name in entry["names"].split(",")]
            texts = []
        else:
            break
        end += 1
    found |= dict.fromkeys(names, _joined(texts))
    return found, end


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
    """Find the end of what is indented below line `at`, blank lines inside it included."""
    margin = _indent(lines[at])
    if at == 0 and _indent(next(filter(str.strip, lines[1:]), "")) == 0:
        # How far the first line is indented is unknown; if nothing else is less indented than
        # the line after it, that one was indented more.
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


def _joined(texts: Iterable[str]) -> str:
    return " ".join(words for text in texts if (words := text.strip()))
