"""Tools with a JSON Schema instead of a typed function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from agentkit_core import JsonValue, ToolSpec, to_json
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._names import is_tool_name
from agentkit_tools_core._contract._permissions import PermissionRequest, permissions_of
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._errors import InvalidToolInput, InvalidToolName
from agentkit_tools_core._functions._argument_errors import validation_error
from agentkit_tools_core._functions._decorator import Propose, is_async_function

EXTERNAL_TOOL_KIND: Final = "host_tool"
"""The kind of the question that an external tool asks.

It must not change: approval ids contain it, and stored sessions contain approval ids.
"""

Validate = Callable[[Mapping[str, JsonValue]], None]
"""Checks arguments without changing them; raises `InvalidToolInput` if they are not valid."""


class SchemaTool:
    """A tool whose arguments are described by a JSON Schema, such as a tool of an MCP server."""

    __slots__ = (
        "__weakref__",
        "_function",
        "_inline",
        "_is_async",
        "_propose",
        "_spec",
        "_validate",
    )

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
            spec: The description for the model.
            function: Takes a copy of the arguments, as JSON values, and the context; returns what
                a tool may return.
            is_async: Whether the function returns an awaitable; None means whether it is an
                `async def`.
            inline: Whether a sync function runs on the thread of the event loop.
            validate: Checks arguments, for example
                `agentkit_tools_core.jsonschema.validator(schema)`; without it, only the presence
                of required arguments is checked.
            permissions: Returns the permissions that a call needs.

        Raises:
            InvalidToolName: The name is not a valid tool name.
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
        """The description for the model."""
        return self._spec

    @property
    def is_async(self) -> bool:
        """Whether `invoke` returns an awaitable."""
        return self._is_async

    @property
    def inline(self) -> bool:
        """Whether a sync function runs on the thread of the event loop."""
        return self._inline

    @property
    def implementation(self) -> Callable[..., Any]:
        """The function."""
        return self._function

    def permissions(self, request: ToolInvocation, /) -> Sequence[PermissionRequest]:
        """Return the permissions that the call needs; empty if it needs none."""
        return () if self._propose is None else permissions_of(self._propose(request), request.name)

    def bind(self, arguments: Mapping[str, JsonValue], /) -> dict[str, JsonValue]:
        """Check the arguments, and return a copy of them, with the defaults of the schema.

        Raises:
            InvalidToolInput: The arguments are not valid.
        """
        if not isinstance(arguments, Mapping):
            raise InvalidToolInput(
                f'The arguments of "{self._spec.name}" must be a JSON object, not '
                f"{type(arguments).__name__}."
            )
        if self._validate is not None:
            self._validate(arguments)
        required = self._spec.input_schema.get("required")
        names = required if isinstance(required, list) else []
        if missing := {str(name): "is required" for name in names if name not in arguments}:
            raise validation_error(self._spec.name, missing, to_json(arguments))
        return {**deepcopy(dict(arguments)), **deepcopy(self._missing_defaults(arguments))}

    def normalize(self, arguments: Mapping[str, JsonValue], /) -> dict[str, JsonValue]:
        """Return the arguments with the defaults of the schema: what the function gets.

        Raises:
            InvalidToolInput: The arguments are not valid.
        """
        return self.bind(arguments)

    def _missing_defaults(self, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        properties = self._spec.input_schema.get("properties")
        if not isinstance(properties, dict):
            return {}
        return {
            name: schema["default"]
            for name, schema in properties.items()
            if name not in arguments and isinstance(schema, dict) and "default" in schema
        }

    def invoke(self, arguments: dict[str, JsonValue], context: ToolContext, /) -> Any:
        """Call the function."""
        return self._function(arguments, context)


def external_tool(spec: ToolSpec, *, validate: Validate | None = None) -> SchemaTool:
    """Make a tool that the host runs itself, outside of the executor.

    Each call waits for an answer, as a question of kind `host_tool` with the arguments under
    `tool.input` in its metadata. The answer becomes the tool's output. The host can answer at any
    time and in any process; a denial becomes an error result.

    Args:
        spec: The description for the model.
        validate: Checks arguments; see `SchemaTool`.

    Raises:
        InvalidToolName: The name is not a valid tool name.
    """

    def wait_for_host(arguments: dict[str, JsonValue], context: ToolContext) -> JsonValue:
        return context.ask(spec.name, kind=EXTERNAL_TOOL_KIND, metadata={"tool.input": arguments})

    return SchemaTool(spec, wait_for_host, is_async=False, inline=True, validate=validate)
