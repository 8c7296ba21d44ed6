"""Tools that bring a JSON Schema of their own instead of a typed function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from agentkit_core import JsonValue, ToolSpec, to_json
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._names import is_tool_name
from agentkit_tools_core._contract._permissions import PermissionRequest
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._errors import InvalidToolInput, InvalidToolName
from agentkit_tools_core._functions._argument_errors import misfits
from agentkit_tools_core._functions._decorator import Propose, is_async_function

EXTERNAL_TOOL_KIND: Final = "host_tool"
"""The kind of the question that an external tool asks.

Approval ids are made of it, and stored sessions hold such ids: it must not change.
"""

Validate = Callable[[Mapping[str, JsonValue]], None]
"""Checks arguments and changes nothing; raises `InvalidToolInput` where they do not fit."""


class SchemaTool:
    """A tool whose arguments a JSON Schema describes, as those of a foreign server."""

    def __init__(
        self,
        spec: ToolSpec,
        function: Callable[[dict[str, JsonValue], ToolContext], Any],
        *,
        is_async: bool | None = None,
        inline: bool = False,
        validate: Validate | None = None,
        permissions: Propose | None = None,
    ) -> None:
        """Make a tool.

        Args:
            spec: What a model is told.
            function: Takes the arguments, as JSON values that are its own, and the context; gives
                what a tool may give.
            is_async: Whether it returns an awaitable; None means to look whether it is an
                `async def`.
            inline: Whether a sync function is to run on the thread of the event loop.
            validate: Checks arguments, such as `agentkit_tools_core.jsonschema.validator(schema)`;
                without it only what the schema requires is looked for.
            permissions: Says what a call would do that someone may object to.

        Raises:
            InvalidToolName: The name is not one that every provider takes.
        """
        if not is_tool_name(spec.name):
            raise InvalidToolName(spec.name)
        self._spec = spec
        self._function = function
        self._is_async = is_async_function(function) if is_async is None else is_async
        self._inline = inline
        self._validate = validate
        self._propose = permissions

    @property
    def spec(self) -> ToolSpec:
        """What a model is told of it."""
        return self._spec

    @property
    def is_async(self) -> bool:
        """Whether `invoke` returns an awaitable."""
        return self._is_async

    @property
    def inline(self) -> bool:
        """Whether a sync function is to run on the thread of the event loop."""
        return self._inline

    def permissions(self, request: ToolInvocation, /) -> Sequence[PermissionRequest]:
        """Say what the call would do that someone may object to; empty if nothing."""
        return () if self._propose is None else tuple(self._propose(request))

    def bind(self, given: Mapping[str, JsonValue], /) -> dict[str, JsonValue]:
        """Check the arguments, and copy them.

        Raises:
            InvalidToolInput: They do not fit.
        """
        if not isinstance(given, Mapping):
            raise InvalidToolInput(f'The arguments of "{self._spec.name}" are no JSON object.')
        if self._validate is not None:
            self._validate(given)
        required = self._spec.input_schema.get("required")
        names = required if isinstance(required, list) else []
        if missing := {str(name): "is required" for name in names if name not in given}:
            raise misfits(self._spec.name, missing, to_json(given))
        return deepcopy(dict(given))

    def invoke(self, arguments: dict[str, JsonValue], context: ToolContext, /) -> Any:
        """Call the function."""
        return self._function(arguments, context)


def external_tool(spec: ToolSpec, *, validate: Validate | None = None) -> SchemaTool:
    """Make a tool that the host carries out itself.

    Each call waits like a question of kind `host_tool`, with the arguments under `tool.input`
    in its metadata; the answer to it is what the tool gives. So it may be answered at any time,
    in any process, and a denial is an error result.

    Args:
        spec: What a model is told.
        validate: Checks arguments; see `SchemaTool`.

    Raises:
        InvalidToolName: The name is not one that every provider takes.
    """

    def wait(arguments: dict[str, JsonValue], context: ToolContext) -> JsonValue:
        return context.ask(spec.name, kind=EXTERNAL_TOOL_KIND, metadata={"tool.input": arguments})

    return SchemaTool(spec, wait, is_async=False, inline=True, validate=validate)
