"""The contract of a tool. Whatever has these members is one; `@tool` makes them of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from agentkit_core import JsonValue, ToolSpec
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._permissions import PermissionRequest
from agentkit_tools_core._contract._request import ToolInvocation


class Tool(Protocol):
    """Something that a model can call.

    A tool is shared by all calls, also by calls that run at the same time; what belongs to one
    call travels in the arguments and the context.
    """

    @property
    def spec(self) -> ToolSpec:
        """What a model is told of it. The same at each call: providers cache by prefix."""
        ...

    @property
    def is_async(self) -> bool:
        """Whether `invoke` returns an awaitable."""
        ...

    @property
    def inline(self) -> bool:
        """Whether a sync `invoke` is to run on the thread of the event loop.

        For what is quick (it must not wait for anything) or bound to that thread. If not, a
        driver with an event loop runs it in a worker thread. Means nothing for async tools.
        """
        ...

    def permissions(self, request: ToolInvocation, /) -> Sequence[PermissionRequest]:
        """Say what the call would do that someone may object to; empty if nothing.

        That a tool needs approval as a whole is said by `spec.annotations.needs_approval`
        instead. Called once `bind` has accepted the arguments, maybe more than once: no side
        effects, no I/O.
        """
        ...

    def bind(self, given: Mapping[str, JsonValue], /) -> Any:
        """Check the arguments and bring them into the form that `invoke` takes.

        Called once or more before each call: no side effects, and `given` stays as it is.

        Raises:
            InvalidToolInput: They do not fit. Its text is what the model is told.
        """
        ...

    def invoke(self, arguments: Any, context: ToolContext, /) -> Any:
        """Do it.

        Args:
            arguments: What `bind` returned.
            context: The call and its surroundings.

        Returns:
            Any value that `output_of` can express, a `ToolReturn` or a `ToolResult`; if
            `is_async`, an awaitable of one.

        Raises:
            ToolSuspended: It has to ask; by the methods of the context. It is invoked again
                once that is answered.
            ToolError: It failed; the model is told the message as it is.
            Exception: It failed; the model is told the type and the message.
        """
        ...
