"""Misfits: arguments that do not fit, in words that a model can act on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from agentkit_core.json import without_lone_surrogates
from agentkit_tools_core._errors import InvalidToolInput

_MAX_ERRORS: Final = 5
_MAX_ECHO: Final = 2_000


def misfits(tool: str | None, errors: Mapping[str, str], written: bytes) -> InvalidToolInput:
    """Put in words what does not fit, at most five places, and what was given.

    Args:
        tool: The tool's name; None where it is not known.
        errors: From each place (`edits.0.old_text`, or `root`) to what is wrong with it.
        written: The arguments as JSON.
    """
    lines = [f"  - {path}: {what}" for path, what in errors.items()]
    if len(lines) > _MAX_ERRORS:
        lines[_MAX_ERRORS:] = [f"  … and {len(lines) - _MAX_ERRORS} more"]
    echo = msgspec.json.format(written, indent=2).decode()
    if len(echo) > _MAX_ECHO:
        echo = echo[:_MAX_ECHO] + "…"
    listed = without_lone_surrogates("\n".join(lines))
    whose = "" if tool is None else f' for tool "{tool}"'
    text = f"Validation failed{whose}:\n{listed}\n\nReceived arguments:\n{echo}"
    return InvalidToolInput(text, paths=tuple(errors))
