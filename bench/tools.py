"""The two tools that all columns offer the model, with the schemas that hand-written loops send.

Standard library only, as is all that runs in the environments of the peers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from answers import Dialect

SCHEMAS: dict[str, dict[str, Any]] = {
    "write": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
        "additionalProperties": False,
    },
    "add": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
}
DESCRIPTIONS = {"write": "Write a file.", "add": "Add two numbers."}


class Tally:
    """What the tools were called with since the last reset.

    Attributes:
        written: Characters passed to `write`.
        calls: Runs of tools.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.written = self.calls = 0


def counted_tools(tally: Tally) -> list[Callable[..., Awaitable[str]]]:
    """Make the tools `write` and `add` as plain functions, which count in `tally`."""

    async def write(path: str, content: str) -> str:
        """Write a file."""
        tally.written += len(content)
        tally.calls += 1
        return "ok"

    async def add(a: int, b: int) -> str:
        """Add two numbers."""
        tally.calls += 1
        return str(a + b)

    return [write, add]


def declarations(dialect: Dialect) -> list[dict[str, Any]]:
    """Return the tools as a request declares them."""
    if dialect == "anthropic":
        return [
            {"name": name, "description": DESCRIPTIONS[name], "input_schema": schema}
            for name, schema in SCHEMAS.items()
        ]
    functions = [
        {"name": name, "description": DESCRIPTIONS[name], "parameters": schema}
        for name, schema in SCHEMAS.items()
    ]
    return [{"type": "function", "function": function} for function in functions]
