"""The contract of a tool: any object with these members is one; `@tool` makes functions tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeGuard, runtime_checkable

from agentkit_core import JsonValue, ToolSpec, to_json
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._permissions import PermissionRequest
from agentkit_tools_core._contract._request import ToolInvocation


class Tool(Protocol):
    """A tool that a model can call.

    All calls share the tool object, including calls that run at the same time. Data of one call is
    in its arguments and its context.
    """

    @property
    def spec(self) -> ToolSpec:
        """The description for the model. It must always be equal, because providers cache it."""
        ...

    @property
    def is_async(self) -> bool:
        """Whether `invoke` returns an awaitable."""
        ...

    @property
    def inline(self) -> bool:
        """Whether a sync `invoke` runs on the thread of the event loop.

        This is for quick tools, which never wait, and for tools that are bound to that thread.
        Otherwise a driver with an event loop runs `invoke` in a worker thread. It has no meaning
        for async tools.
        """
        ...

    def permissions(self, request: ToolInvocation, /) -> Sequence[PermissionRequest]:
        """Return the permissions that a call needs; empty if it needs none.

        For a tool of which every call needs approval, set `spec.annotations.needs_approval`
        instead. This method is called after `bind` has accepted the arguments, possibly several
        times; it must have no side effects and do no I/O. `request.input` has the arguments as the
        tool will get them; see `NormalizingTool`.

        Raises:
            InvalidToolInput: The arguments are not valid; the call gets an error result.
        """
        ...

    def bind(self, arguments: Mapping[str, JsonValue], /) -> Any:
        """Check the arguments, and convert them to the form that `invoke` takes.

        Called once or more before each call; it must have no side effects and not change
        `arguments`.

        Raises:
            InvalidToolInput: The arguments are not valid. The model gets the error's message.
        """
        ...

    def invoke(self, arguments: Any, context: ToolContext, /) -> Any:
        """Run the tool.

        Args:
            arguments: What `bind` returned.
            context: The context of the call.

        Returns:
            Any value that `output_of` can convert, a `ToolReturn` or a `ToolResult`; an awaitable
            of these if `is_async`.

        Raises:
            ToolSuspended: The tool waits for a person; the methods of the context raise it. The
                tool is invoked again after the answer.
            ToolError: The tool failed; the model gets the message.
            Exception: The tool failed; the model gets the type and the message.
        """
        ...


@runtime_checkable
class NormalizingTool(Protocol):
    """A tool that says how the arguments will look that it gets: optional, beside `Tool`.

    Without it, permissions, hooks and approvals see the arguments as they were given.
    """

    def normalize(self, arguments: Mapping[str, JsonValue], /) -> dict[str, JsonValue]:
        """Return the arguments as `bind` converts them, with all defaults, as JSON.

        It may return the same object if nothing changes. Everything that judges, shows or compares
        a call sees the result, and `bind` then gets it. So `bind` has to return the same for the
        result as for `arguments`.

        Raises:
            InvalidToolInput: The arguments are not valid.
            UnstableArguments: `bind` returns something else for the result.
        """
        ...


@runtime_checkable
class BindableTool(Protocol):
    """A tool of a method, which is bound to an object or a class: optional, beside `Tool`."""

    @property
    def needs_object(self) -> bool:
        """Whether it is not bound yet."""
        ...

    def bind_to(self, target: object, /) -> Tool:
        """Return the tool of an object or a class."""
        ...


def _is_normalizing(tool: object) -> TypeGuard[NormalizingTool]:
    # `isinstance` with a protocol takes 20 µs in Python 3.11, and this is asked in every call.
    return hasattr(tool, "normalize")


def normalize_arguments(tool: Tool, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the arguments of a call as its tool will get them, as JSON.

    The same object if nothing changes.

    Raises:
        InvalidToolInput: The arguments are not valid.
        UnstableArguments: The tool converts its own arguments to something else.
    """
    if not _is_normalizing(tool):
        tool.bind(arguments)
        normal = dict(arguments)
    else:
        normal = tool.normalize(arguments)
    if normal is arguments:
        return normal
    same = isinstance(arguments, dict) and to_json(normal) == to_json(arguments)
    return arguments if same else normal  # type: ignore[return-value]
