"""A tool under another name; the tool itself still gets its own name in invocations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from msgspec.structs import replace

from agentkit_core import JsonValue, ToolSpec
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._permissions import PermissionRequest
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._tool import Tool, normalize_arguments


def rename_tool(tool: Tool, name: str) -> Tool:
    """Return a tool that models call by another name; the tool gets its own in invocations."""
    return tool if tool.spec.name == name else _RenamedTool(tool, name)


class _RenamedTool:
    def __init__(self, tool: Tool, outer_name: str) -> None:
        self._tool = tool
        self._name = tool.spec.name
        self._outer_name = outer_name

    @property
    def spec(self) -> ToolSpec:
        return replace(self._tool.spec, name=self._outer_name)

    @property
    def is_async(self) -> bool:
        return self._tool.is_async

    @property
    def inline(self) -> bool:
        return self._tool.inline

    @property
    def implementation(self) -> Tool:
        return self._tool

    def permissions(self, request: ToolInvocation, /) -> Sequence[PermissionRequest]:
        return self._tool.permissions(replace(request, name=self._name))

    def bind(self, arguments: Mapping[str, JsonValue], /) -> Any:
        return self._tool.bind(arguments)

    def normalize(self, arguments: Mapping[str, JsonValue], /) -> dict[str, JsonValue]:
        return normalize_arguments(self._tool, arguments)

    def invoke(self, arguments: Any, context: ToolContext, /) -> Any:
        # A copy, because other code may use the caller's context.
        inner_context = copy(context)
        inner_context.request = replace(context.request, name=self._name)
        return self._tool.invoke(arguments, inner_context)

    def __getattr__(self, name: str) -> Any:
        # Members beyond the contract are available under the new name too. Private ones are not:
        # copying would look for `_tool` before it is set, and recurse without end.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._tool, name)
