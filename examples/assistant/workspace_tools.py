"""Four tools: list a folder, read a file in it, write one after an approval, calculate."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

from agentkit_tools_core import Tool, ToolError, tool

MAX_FILE_BYTES: Final = 100_000
MAX_ENTRIES: Final = 200
_MAX_EXPONENT: Final = 1_000


def workspace_tools(folder: Path) -> list[Tool]:
    """Make the tools for one folder; they read and write nothing outside it."""
    root = folder.resolve()

    @tool(read_only=True, label="List a folder")
    def list_files(path: Annotated[str, "The folder, relative to the workspace"] = ".") -> str:
        """List the files and folders in a folder, one per line; folders end with a slash."""
        entries = sorted(_inside(root, path, folder=True).iterdir(), key=lambda entry: entry.name)
        lines = [
            f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries[:MAX_ENTRIES]
        ]
        if len(entries) > MAX_ENTRIES:
            lines.append(f"… and {len(entries) - MAX_ENTRIES} more")
        return "\n".join(lines)

    @tool(read_only=True, label="Read a file")
    def read_file(path: Annotated[str, "The file, relative to the workspace"]) -> str:
        """Read a text file."""
        with _inside(root, path).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        text = data[:MAX_FILE_BYTES].decode("utf-8", "replace")
        return (
            text if len(data) <= MAX_FILE_BYTES else f"{text}\n[cut after {MAX_FILE_BYTES} bytes]"
        )

    @tool(needs_approval=True, label="Write a file")
    def write_file(
        path: Annotated[str, "The file, relative to the workspace"],
        text: Annotated[str, "Its new content"],
    ) -> str:
        """Write a text file; what was in it is lost."""
        target = _inside(root, path, new=True)
        target.write_text(text, encoding="utf-8")
        return f"wrote {len(text)} characters"

    @tool(read_only=True, idempotent=True)
    def calculate(expression: Annotated[str, "Such as `(12 + 3) * 4 / 7`"]) -> str:
        """Calculate an arithmetic expression: + - * / // % ** and parentheses."""
        return str(_value(expression))

    return [list_files, read_file, write_file, calculate]


def _inside(root: Path, path: str, *, folder: bool = False, new: bool = False) -> Path:
    """Resolve a path, links included; refuse it if it is not below the root."""
    try:
        target = (root / path).resolve()
        if not target.is_relative_to(root):
            raise ToolError(f"{path!r} is outside the workspace")
        if new and target.parent.is_dir() and not target.is_dir():
            return target
        if not (target.is_dir() if folder else target.is_file()):
            raise ToolError(f"there is no {'folder' if folder else 'file'} {path!r}")
    except (OSError, ValueError) as error:  # too long, a NUL in it, a loop of links
        raise ToolError(f"cannot access {path!r}: {error}") from error
    return target


_OPERATORS: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def _value(expression: str) -> float:
    """Calculate an expression from its syntax tree; nothing is executed."""
    try:
        return _of(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ArithmeticError, ValueError, RecursionError, MemoryError) as error:
        raise ToolError(f"cannot calculate {expression!r}: {error}") from error


def _of(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_of(inner)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _of(inner)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            first, second = _of(left), _of(right)
            if isinstance(op, ast.Pow) and max(abs(first), abs(second)) > _MAX_EXPONENT:
                raise ValueError(f"base and exponent must not exceed {_MAX_EXPONENT}")
            value = _OPERATORS[type(op)](first, second)
            if isinstance(value, complex):
                raise ValueError("the result is not a real number")
            return value
        case _:
            raise ValueError("use only numbers, + - * / // % ** and parentheses")
