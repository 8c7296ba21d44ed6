"""A tool that is called by another name and sees its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from msgspec.structs import replace

from agentkit_core import JsonValue, ToolSpec
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._permissions import PermissionRequest
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._tool import Tool


def under_its_own_name(tool: Tool, *, called: str) -> Tool:
    """Make a tool that models call `called`, while `tool` sees its own name in the request."""
    return tool if tool.spec.name == called else _Renaming(tool, called)


class _Renaming:
    def __init__(self, tool: Tool, called: str) -> None:
        self._tool = tool
        self._name = tool.spec.name
        self._called = called

    @property
    def spec(self) -> ToolSpec:
        return replace(self._tool.spec, name=self._called)

    @property
    def is_async(self) -> bool:
        return self._tool.is_async

    @property
    def inline(self) -> bool:
        return self._tool.inline

    def permissions(self, request: ToolInvocation, /) -> Sequence[PermissionRequest]:
        return self._tool.permissions(replace(request, name=self._name))

    def bind(self, given: Mapping[str, JsonValue], /) -> Any:
        return self._tool.bind(given)

    def invoke(self, arguments: Any, context: ToolContext, /) -> Any:
        # The caller's context stays as it is: others may look at it.
        own = copy(context)
        own.request = replace(context.request, name=self._name)
        return self._tool.invoke(arguments, own)

    def __getattr__(self, name: str) -> Any:
        # What a tool has beyond the contract is found through another name as well; what is
        # private is not, or copying would look for `_tool` before it is there, for ever.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._tool, name)
