"""Validation errors for arguments, written for the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import islice
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec

from agentkit_core.json import without_lone_surrogates
from agentkit_tools_core._errors import InvalidToolInput

_MAX_ERRORS: Final = 5
_MAX_ECHO: Final = 2_000
_MAX_CHOICES: Final = 20


def validation_error(
    tool: str | None, errors: Mapping[str, str], arguments: bytes
) -> InvalidToolInput:
    """Describe what is wrong with the arguments, at most five places, and repeat the arguments.

    Args:
        tool: The tool's name; None if it is unknown.
        errors: From each place (`edits.0.old_text`, or `root`) to what is wrong there.
        arguments: The arguments as JSON.
    """
    lines = [f"  - {path}: {what}" for path, what in errors.items()]
    if len(lines) > _MAX_ERRORS:
        lines[_MAX_ERRORS:] = [f"  … and {len(lines) - _MAX_ERRORS} more"]
    echo = msgspec.json.format(arguments, indent=2).decode()
    if len(echo) > _MAX_ECHO:
        echo = echo[:_MAX_ECHO] + "…"
    listed = without_lone_surrogates("\n".join(lines))
    of_tool = "" if tool is None else f' for tool "{tool}"'
    text = f"Validation failed{of_tool}:\n{listed}\n\nReceived arguments:\n{echo}"
    return InvalidToolInput(text, paths=tuple(errors))


def with_choices(what: str, kind: Any) -> str:
    """Add to an error about a word what the words of its type are, at most twenty.

    Args:
        what: What is wrong.
        kind: The type of the value: an enum, a literal, or a union of these and others.
    """
    if not what.startswith("Invalid enum value"):
        return what
    words = list(islice(_choices(kind), _MAX_CHOICES + 1))
    more = ", …" if len(words) > _MAX_CHOICES else ""
    return f"{what}; use one of {', '.join(words[:_MAX_CHOICES])}{more}" if words else what


def _choices(kind: Any) -> Iterator[str]:
    origin = get_origin(kind)
    if origin is Literal:
        yield from (msgspec.json.encode(word).decode() for word in get_args(kind))
    elif origin in (Union, UnionType, Annotated):
        for member in get_args(kind):
            yield from _choices(member)
    elif isinstance(kind, type) and issubclass(kind, Enum):
        yield from (msgspec.json.encode(member.value).decode() for member in kind)
