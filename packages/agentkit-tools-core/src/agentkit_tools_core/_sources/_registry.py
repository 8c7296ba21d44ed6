"""The registry: tools by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MethodType
from typing import Any, cast

from agentkit_core import ToolSpec
from agentkit_tools_core._contract._names import is_tool_name
from agentkit_tools_core._contract._tool import BindableTool, Tool
from agentkit_tools_core._errors import DuplicateTool, InvalidToolFunction, InvalidToolName
from agentkit_tools_core._lock import new_lock
from agentkit_tools_core._sources._source import ToolSource


class ToolRegistry:
    """Tools by name, in the order in which they were registered.

    The order is stable, because providers cache requests by prefix, and requests begin with the
    tools. Iteration gives the tools, `len` their number, and `in` looks for a name. A registry may
    be read and changed from any thread.
    """

    __slots__ = ("__weakref__", "_advertised", "_lock", "_revision", "_tools")

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        """Register tools in their order.

        Raises:
            TypeError: One of them is not a tool, for example a function without `@tool`.
            InvalidToolName: A name is not a valid tool name.
            DuplicateTool: Two tools have the same name.
        """
        self._lock = new_lock()
        # Replaced as a whole, never changed in place, so that readers need no lock.
        self._tools: Mapping[str, Tool] = {}
        self._revision = 0
        self._advertised: tuple[Mapping[str, Tool], tuple[ToolSpec, ...]] | None = None
        by_name = _by_name(tools)
        if by_name:
            self._tools, self._revision = by_name, len(by_name)

    @property
    def revision(self) -> int:
        """A number that grows with every change, so that readers notice changes."""
        return self._revision

    def register(self, tool: Tool, *, replace: bool = False) -> None:
        """Add a tool at the end.

        Args:
            tool: The tool.
            replace: Whether it may replace a tool of the same name; it then gets that tool's
                position.

        Raises:
            TypeError: It is not a tool, for example a function without `@tool`.
            InvalidToolName: The name is not a valid tool name.
            DuplicateTool: There is a tool of that name already, and `replace` is false.
        """
        tool = _bound(tool)
        name = _name_of(tool)
        with self._lock:
            if name in self._tools and not replace:
                raise DuplicateTool(name)
            self._exchange({**self._tools, name: tool})

    def remove(self, name: str) -> None:
        """Remove a tool; nothing happens if there is no tool of that name."""
        with self._lock:
            if name in self._tools:
                self._exchange({key: tool for key, tool in self._tools.items() if key != name})

    def replace_all(self, tools: Iterable[Tool]) -> None:
        """Replace all tools by these, in their order, in one step.

        Readers never see a state in between. If these are the same tools as before, nothing
        happens. If an error is raised, nothing changes.

        Raises:
            TypeError: One of them is not a tool, for example a function without `@tool`.
            InvalidToolName: A name is not a valid tool name.
            DuplicateTool: Two tools have the same name.
        """
        by_name = _by_name(tools)
        with self._lock:
            before = [(name, id(tool)) for name, tool in self._tools.items()]
            if before != [(name, id(tool)) for name, tool in by_name.items()]:
                self._exchange(by_name)

    def get(self, name: str) -> Tool | None:
        """Return the tool with this exact name; None if there is none."""
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in order."""
        return tuple(self._tools)

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the descriptions for the model, in order; the same object until a change."""
        tools = self._tools
        advertised = self._advertised
        if advertised is None or advertised[0] is not tools:
            advertised = (tools, tuple(tool.spec for tool in tools.values()))
            self._advertised = advertised
        return advertised[1]

    def _exchange(self, tools: Mapping[str, Tool]) -> None:
        # The tools first: a reader of the new revision must not get the old tools.
        self._tools = tools
        self._revision += 1

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)


def _by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    if not isinstance(tools, Iterable):
        raise TypeError(f"tools is {tools!r}; use a list, also for one tool: [weather]")
    by_name: dict[str, Tool] = {}
    for tool in map(_bound, tools):
        name = _name_of(tool)
        if name in by_name:
            raise DuplicateTool(name)
        by_name[name] = tool
    return by_name


def _bound(tool: Any) -> Any:
    # Newer releases of Python bind a tool below `@classmethod` as if it were a function.
    function: Any = tool.__func__ if isinstance(tool, MethodType) else None
    if isinstance(function, BindableTool):
        if not function.needs_object:
            reason = "name its first parameter `self` or `cls`, as for every method"
            raise InvalidToolFunction(_name_of(tool), reason)
        return function.bind_to(tool.__self__)
    if isinstance(tool, BindableTool) and tool.needs_object:
        reason = "it is a method without its object; give `files.read` instead of `Files.read`"
        raise InvalidToolFunction(_name_of(tool), reason)
    return tool


def _name_of(tool: Any) -> str:
    if not isinstance(getattr(tool, "spec", None), ToolSpec):
        raise TypeError(f"{tool!r} is not a tool; use `@tool` to make one of a function")
    name: str = tool.spec.name
    if not is_tool_name(name):
        raise InvalidToolName(name)
    return name


def source_of(tools: Iterable[Tool] | ToolSource) -> ToolSource:
    """Return a source of tools as it is, or a registry of some tools."""
    is_source = callable(getattr(tools, "specs", None))
    return cast("ToolSource", tools) if is_source else ToolRegistry(cast("Iterable[Tool]", tools))
