"""Revisions of tools: they tell whether a tool is still the one that was there before.

    across processes   `tool_revision`: a digest of the spec and of the code of the tool
    in one process     `is_same_tool`: the object too, with what a function has bound

A call that was checked, and perhaps approved, runs only with the tool that it was checked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from hashlib import sha256
from types import CodeType, FunctionType, MethodType
from typing import Any, Final, Protocol, TypeGuard, runtime_checkable

from agentkit_core import ToolSpec
from agentkit_core.json import canonical_json
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._tool import Tool

_Piece = str | CodeType
"""A name, a version, or code."""

_DIGEST_LENGTH: Final = 16
_MAX_KNOWN: Final = 1_000
_MAX_DEPTH: Final = 8
"""How far functions are followed that other functions call by their closure."""


@runtime_checkable
class RevisedTool(Protocol):
    """A tool that says itself which version of it this is: optional, beside `Tool`.

    Without it, the code of the tool's function or of its class stands for the version.
    """

    @property
    def revision(self) -> str:
        """A text that is equal in all processes, and differs if a call would do something else."""
        ...


@runtime_checkable
class WrappingTool(Protocol):
    """A tool that passes calls on to another tool or function: optional, beside `Tool`."""

    @property
    def implementation(self) -> Any:
        """The tool or the function that does the work."""
        ...


# `isinstance` with a protocol takes 20 µs in Python 3.11, several times in every call.
def _is_revised(tool: object) -> TypeGuard[RevisedTool]:
    return hasattr(tool, "revision")


def _is_wrapping(tool: object) -> TypeGuard[WrappingTool]:
    return hasattr(tool, "implementation")


def tool_revision(tool: Tool) -> str:
    """Return a digest of what a tool is: 16 hexadecimal digits, equal in all processes.

    It covers the spec, and the `revision` of a `RevisedTool` or else the code. Other releases of
    Python compile the same code to something else.

    Raises:
        TypeError: The spec of the tool is not JSON.
    """
    return _digest_of(tool.spec, _pieces_of(tool))


def is_same_tool(first: Any, second: Any, depth: int = 0) -> bool:
    """Whether two tools or functions of one process do the same.

    They are the same object, or the same code with the same bound objects.
    """
    if first is second:
        return True
    first, second = _implementation_of(first), _implementation_of(second)
    if first is second:
        return True
    if type(first) is not type(second) or depth > _MAX_DEPTH:
        return False
    if isinstance(first, MethodType):
        if first.__self__ is not second.__self__:
            return False
        return is_same_tool(first.__func__, second.__func__, depth + 1)
    if isinstance(first, partial):
        parts = ((first.func, second.func), *zip(first.args, second.args, strict=False))
        if len(first.args) != len(second.args) or first.keywords.keys() != second.keywords.keys():
            return False
        named = ((value, second.keywords[name]) for name, value in first.keywords.items())
        return all(_is_same_value(*pair, depth + 1) for pair in (*parts, *named))
    if not isinstance(first, FunctionType) or first.__code__ is not second.__code__:
        return False
    ours, theirs = _cells(first), _cells(second)
    return len(ours) == len(theirs) and all(
        _is_same_value(a, b, depth + 1) for a, b in zip(ours, theirs, strict=True)
    )


class CheckedTools:
    """The tools that calls were checked for, as far as this process has checked them.

    It also keeps the revisions of tools, so that they are not computed in every call.
    """

    __slots__ = ("_revisions", "_tools")

    def __init__(self) -> None:
        self._tools: dict[Hashable, Any] = {}
        self._revisions: dict[int, tuple[Tool, ToolSpec, tuple[_Piece, ...], str]] = {}

    def revision_of(self, tool: Tool) -> str:
        """Return the `tool_revision` of a tool, whose spec object and code may be known."""
        spec, known = tool.spec, self._revisions.get(id(tool))
        if known is not None and known[0] is tool and known[1] is spec:
            _, _, known_pieces, revision = known
            if known_pieces == tuple(_pieces_of(tool)):
                return revision
        pieces = tuple(_pieces_of(tool))
        if len(self._revisions) >= _MAX_KNOWN:  # a source may make a tool for each call
            self._revisions.clear()
        revision = _digest_of(spec, pieces)
        self._revisions[id(tool)] = tool, spec, pieces, revision
        return revision

    def is_replaced(
        self, call: ToolInvocation, find: Callable[[ToolInvocation], Any], *, is_new: bool
    ) -> bool:
        """Whether a call was checked for another tool than there is now.

        Args:
            call: The call.
            find: Finds the tool of a call.
            is_new: Whether the call is checked only now. Its tool is remembered then, unless its
                source makes a new one whenever it is asked.
        """
        key, tool = (call.session_id, call.call_id), find(call)
        if not is_new:
            return key in self._tools and not is_same_tool(self._tools[key], tool)
        self._tools.pop(key, None)
        if is_same_tool(tool, find(call)):
            self._tools[key] = tool
        return False

    def forget(self, call: ToolInvocation) -> None:
        """Forget the tool of a call that is over."""
        self._tools.pop((call.session_id, call.call_id), None)


def _is_same_value(first: Any, second: Any, depth: int) -> bool:
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, (str, int, float, bytes)):
        return bool(first == second)
    return is_same_tool(first, second, depth)


def _implementation_of(tool: Any) -> Any:
    while not isinstance(tool, type) and _is_wrapping(tool):
        tool = tool.implementation
    return tool


def _digest_of(spec: ToolSpec, pieces: Iterable[_Piece]) -> str:
    digest = sha256(canonical_json(spec))
    for piece in pieces:
        for text in (piece,) if isinstance(piece, str) else _describe_code(piece):
            digest.update(text.encode("utf-8", "backslashreplace"))
            digest.update(b"\0")
    return digest.hexdigest()[:_DIGEST_LENGTH]


def _pieces_of(tool: Any) -> Iterator[_Piece]:
    """List what makes a tool what it is, beside its spec; equal for tools that are the same."""
    while True:
        if _is_revised(tool):
            yield tool.revision
            return
        if not _is_wrapping(tool):
            break
        tool = tool.implementation
    if callable(tool) and not hasattr(type(tool), "invoke"):
        yield from _pieces_of_function(tool, 0)
    else:
        yield from _pieces_of_function(type(tool).invoke, 0)
        yield _name_of(type(tool))


def _pieces_of_function(function: Any, depth: int) -> Iterator[_Piece]:
    """List the code of a function, and of the functions that it has bound."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(function, partial):
        yield "partial"
        for bound in (function.func, *function.args, *function.keywords.values()):
            yield from _pieces_of_function(bound, depth + 1)
        return
    if isinstance(function, (MethodType, staticmethod, classmethod)):
        function = function.__func__
    if not isinstance(function, FunctionType):
        call = getattr(type(function), "__call__", None)  # noqa: B004
        yield _name_of(type(function))
        if isinstance(call, FunctionType):
            yield from _pieces_of_function(call, depth + 1)
        return
    yield _name_of(function)
    yield function.__code__
    for bound in _cells(function):
        if isinstance(bound, (FunctionType, MethodType, partial)):
            yield from _pieces_of_function(bound, depth + 1)


def _describe_code(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield " ".join(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _describe_code(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))
        else:
            yield repr(constant)


def _cells(function: FunctionType) -> list[Any]:
    contents: list[Any] = []
    for cell in function.__closure__ or ():
        try:
            contents.append(cell.cell_contents)
        except ValueError:  # not set yet
            contents.append(None)
    return contents


def _name_of(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
