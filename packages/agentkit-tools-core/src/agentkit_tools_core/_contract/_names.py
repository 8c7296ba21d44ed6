"""Names of tools that every provider accepts."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_tool_name(name: str) -> bool:
    """Whether every provider accepts this name: 1 to 64 characters of `A-Za-z0-9_-`."""
    return _NAME.fullmatch(name) is not None
