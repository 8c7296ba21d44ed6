"""Validation errors for arguments, written for the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from agentkit_core.json import without_lone_surrogates
from agentkit_tools_core._errors import InvalidToolInput

_MAX_ERRORS: Final = 5
_MAX_ECHO: Final = 2_000


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
