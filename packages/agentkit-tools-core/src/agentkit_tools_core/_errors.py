"""Errors of tools. Mistakes in the definition of a tool raise immediately, before any call.

Errors that are defined beside what they are about are listed here too.

AgentkitError
├── ToolDefinitionError       the definition of a tool is not valid
│   ├── InvalidToolName       the name is not a valid tool name
│   ├── InvalidToolFunction   the signature of a function cannot be described to a model
│   └── DuplicateTool         two tools have the same name
├── InvalidToolInput          arguments are not valid; becomes an error result
├── UnwritableOutput          a value cannot be a tool's output; becomes an error result
├── MissingDependency         the host did not provide an object that a tool needs
├── UnknownArtifact           a store has no text with this id (`_artifacts`)
├── InvalidOffset             a slice of a text cannot begin there (`_artifacts`)
├── UnresolvablePath          a path cannot be resolved (`_paths`)
└── ToolError                 for tools to raise, with a message for the model
    ├── UnstableArguments     arguments change each time they are converted
    ├── ApprovalDenied        a person denied what a tool requested (`_suspension`)
    ├── TokenRefused          the token of a suspension cannot be stored (`_suspension`)
    └── ChildCallsDiffer      a tool that was run again made other child calls (`_child_calls`)
"""

from __future__ import annotations

from agentkit_core import AgentkitError, JsonValue, ToolFailure


class ToolDefinitionError(AgentkitError):
    """The definition of a tool is not valid."""


class InvalidToolName(ToolDefinitionError):
    """The name of a tool is not valid for every provider."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} is not a valid tool name; use 1 to 64 of the characters A-Z a-z 0-9 _ -"
        )
        self.name = name


class InvalidToolFunction(ToolDefinitionError):
    """A function cannot be a tool, because its signature cannot be described to a model."""

    def __init__(self, tool: str, reason: str, *, parameter: str | None = None) -> None:
        where = "" if parameter is None else f", parameter {parameter!r}"
        super().__init__(f"tool {tool!r}{where}: {reason}")
        self.tool = tool
        self.parameter = parameter
        self.reason = reason


class DuplicateTool(ToolDefinitionError):
    """Two tools have the same name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is already a tool named {name!r}; rename one of the two, or pass replace=True "
            f"to ToolRegistry.register"
        )
        self.name = name


class InvalidToolInput(AgentkitError):
    """The arguments of a call are not valid; the message is for the model."""

    def __init__(self, message: str, *, paths: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.paths = paths
        """The places of the invalid values: `edits.0.old_text`."""


class UnwritableOutput(AgentkitError):
    """A value cannot be a tool's output."""

    def __init__(self, tool: str, kind: str, reason: str) -> None:
        super().__init__(
            f"tool {tool!r} returned a value that cannot be its output: {kind} ({reason}); return "
            f"text, JSON values, bytes or parts"
        )
        self.tool = tool
        self.kind = kind
        """The type of the invalid value."""
        self.reason = reason


class MissingDependency(AgentkitError):
    """The host did not provide an object that a tool needs."""

    def __init__(self, kind: type, *, tool: str) -> None:
        name = f"{kind.__module__}.{kind.__qualname__}"
        super().__init__(
            f"tool {tool!r} needs a {name}, but the host provided none; "
            f"add one to the dependencies, under this type"
        )
        self.kind = name
        self.tool = tool


class ToolError(AgentkitError):
    """An error for tools to raise: the model gets the message, without the type."""

    def __init__(
        self,
        message: str,
        *,
        failure: ToolFailure = ToolFailure.EXECUTION_FAILED,
        result_details: JsonValue = None,
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.result_details = result_details
        """Data for people and logs; becomes `ToolResult.details`."""


class PolicyFailed(ToolError):
    """A policy raised an exception, so the call is denied."""

    def __init__(self, error: Exception) -> None:
        self.reason = f"the permission policy failed ({type(error).__name__})"
        super().__init__(f"Permission denied: {self.reason}", failure=ToolFailure.PERMISSION_DENIED)
        self.error = error


class UnstableArguments(ToolError):
    """Arguments change each time they are converted, so what is judged would not be what runs.

    A class whose validation changes its own output does that, such as one that adds a prefix. Make
    its validation accept its own output unchanged.
    """

    def __init__(self, tool: str, input: dict[str, JsonValue]) -> None:  # noqa: A002
        super().__init__(
            f"The arguments of {tool!r} cannot be checked: converting them a second time gives "
            f"other values. The author of the tool has to fix the types of its parameters."
        )
        self.tool = tool
        self.input = input
        """The arguments as the tool would get them, converted once."""
