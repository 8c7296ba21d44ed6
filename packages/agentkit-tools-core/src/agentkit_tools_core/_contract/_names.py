"""Names of tools: what every provider takes."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_tool_name(name: str) -> bool:
    """Whether every provider takes it as the name of a tool."""
    return _NAME.fullmatch(name) is not None
