"""The tools that are at hand, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from agentkit_core import ToolSpec
from agentkit_tools_core._contract._names import is_tool_name
from agentkit_tools_core._contract._tool import Tool
from agentkit_tools_core._errors import DuplicateTool, InvalidToolName
from agentkit_tools_core._lock import new_lock


class ToolRegistry:
    """Tools by name, in the order in which they were registered.

    The order is kept because providers cache a request by its prefix, of which the tools are
    the first part. Iterating gives the tools, `len` their number, `in` looks for a name. It may
    be read and changed from any thread.
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        """Register `tools` in their order.

        Raises:
            TypeError: One is no tool, such as a function without `@tool`.
            InvalidToolName: A name is not one that every provider takes.
            DuplicateTool: Two have one name.
        """
        self._lock = new_lock()
        # Never changed, only exchanged: whoever reads has a whole one, without the lock.
        self._tools: Mapping[str, Tool] = {}
        self._revision = 0
        self._advertised: tuple[Mapping[str, Tool], tuple[ToolSpec, ...]] | None = None
        for tool in tools:
            self.register(tool)

    @property
    def revision(self) -> int:
        """Grows with every change, so that a reader can tell whether it missed one."""
        return self._revision

    def register(self, tool: Tool, *, replace: bool = False) -> None:
        """Add a tool at the end.

        Args:
            tool: The tool.
            replace: Whether it may take the place of a tool of the same name; it then stands
                where that one stood.

        Raises:
            TypeError: It is no tool, such as a function without `@tool`.
            InvalidToolName: The name is not one that every provider takes.
            DuplicateTool: There is one of that name, and it is not to be replaced.
        """
        name = _name_of(tool)
        with self._lock:
            if name in self._tools and not replace:
                raise DuplicateTool(name)
            self._exchange({**self._tools, name: tool})

    def remove(self, name: str) -> None:
        """Take a tool away; nothing happens when there is none of that name."""
        with self._lock:
            if name in self._tools:
                self._exchange({key: tool for key, tool in self._tools.items() if key != name})

    def replace_all(self, tools: Iterable[Tool]) -> None:
        """Have these tools and no others, in their order, by one step of the revision.

        Nobody sees a state in between, and nothing happens when these are the very tools that
        are there. Where one is refused, all stays as it was.

        Raises:
            TypeError: One is no tool, such as a function without `@tool`.
            InvalidToolName: A name is not one that every provider takes.
            DuplicateTool: Two have one name.
        """
        found: dict[str, Tool] = {}
        for tool in tools:
            name = _name_of(tool)
            if name in found:
                raise DuplicateTool(name)
            found[name] = tool
        with self._lock:
            before = [(name, id(tool)) for name, tool in self._tools.items()]
            if before != [(name, id(tool)) for name, tool in found.items()]:
                self._exchange(found)

    def get(self, name: str) -> Tool | None:
        """Find a tool by its exact name; None when there is none."""
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in order."""
        return tuple(self._tools)

    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told, in order; the same object until something changes."""
        tools = self._tools
        told = self._advertised
        if told is None or told[0] is not tools:
            told = (tools, tuple(tool.spec for tool in tools.values()))
            self._advertised = told
        return told[1]

    def _exchange(self, tools: Mapping[str, Tool]) -> None:
        # The tools before the number: who reads the new number must not get the old tools.
        self._tools = tools
        self._revision += 1

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)


def _name_of(tool: Tool) -> str:
    if not isinstance(getattr(tool, "spec", None), ToolSpec):
        raise TypeError(f"{tool!r} is no tool; make one of a function with `@tool`")
    name = tool.spec.name
    if not is_tool_name(name):
        raise InvalidToolName(name)
    return name
