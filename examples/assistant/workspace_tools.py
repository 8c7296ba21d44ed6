"""Three tools: list a folder, read a file in it, do arithmetic."""

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
    """Make the tools for one folder; none of them reaches outside it."""
    root = folder.resolve()

    @tool(read_only=True, label="List a folder")
    def list_files(path: Annotated[str, "The folder, relative to the workspace"] = ".") -> str:
        """List the files and folders in a folder, one a line; folders end with a slash."""
        found = sorted(_inside(root, path, folder=True).iterdir(), key=lambda one: one.name)
        lines = [f"{one.name}/" if one.is_dir() else one.name for one in found[:MAX_ENTRIES]]
        if len(found) > MAX_ENTRIES:
            lines.append(f"… and {len(found) - MAX_ENTRIES} more")
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

    @tool(read_only=True, idempotent=True)
    def calculate(expression: Annotated[str, "Such as `(12 + 3) * 4 / 7`"]) -> str:
        """Work out an arithmetic expression: + - * / // % ** and brackets."""
        return str(_value(expression))

    return [list_files, read_file, calculate]


def _inside(root: Path, path: str, *, folder: bool = False) -> Path:
    """Find what a path means, and refuse what is not below the root, links followed."""
    try:
        found = (root / path).resolve()
        if not found.is_relative_to(root):
            raise ToolError(f"{path!r} is outside the workspace")
        if not (found.is_dir() if folder else found.is_file()):
            raise ToolError(f"there is no {'folder' if folder else 'file'} {path!r}")
    except (OSError, ValueError) as error:  # too long, a NUL in it, a loop of links
        raise ToolError(f"{path!r} cannot be looked at: {error}") from error
    return found


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
    """Work it out from the syntax tree; nothing is executed."""
    try:
        return _of(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ArithmeticError, ValueError, RecursionError, MemoryError) as error:
        raise ToolError(f"cannot work out {expression!r}: {error}") from error


def _of(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_of(inner)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _of(inner)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            one, two = _of(left), _of(right)
            if isinstance(op, ast.Pow) and max(abs(one), abs(two)) > _MAX_EXPONENT:
                raise ValueError(f"powers above {_MAX_EXPONENT} are not worked out")
            value = _OPERATORS[type(op)](one, two)
            if isinstance(value, complex):
                raise ValueError("the result is not a real number")
            return value
        case _:
            raise ValueError("only numbers, + - * / // % ** and brackets are understood")
