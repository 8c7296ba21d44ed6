"""Errors of tools: those of whoever offers a tool are raised at once, long before a call.

Those beside what they are about are named here too.

AgentkitError
├── ToolDefinitionError       a tool cannot be offered as it is
│   ├── InvalidToolName       the name is not one that every provider takes
│   ├── InvalidToolFunction   a function's signature cannot be put to a model
│   └── DuplicateTool         two tools have one name
├── InvalidToolInput          arguments do not fit; becomes an error result
├── UnwritableOutput          a value cannot be a tool's output; becomes an error result
├── MissingDependency         a tool asked for what the host did not give
├── UnknownArtifact           a store has no text of that id (`_artifacts`)
├── InvalidOffset             a piece of a text cannot begin there (`_artifacts`)
├── UnresolvablePath          nobody can say where a path leads (`_paths`)
└── ToolError                 for tools to raise: an error in the tool's own words
    ├── ApprovalDenied        what a tool asked for in its run was denied (`_suspension`)
    ├── TokenRefused          the token of a suspension cannot be stored (`_suspension`)
    └── ChildCallsDiffer      a tool that is run again called other children (`_children`)
"""

from __future__ import annotations

from agentkit_core import AgentkitError, JsonValue, ToolFailure


class ToolDefinitionError(AgentkitError):
    """A tool cannot be offered as it is."""


class InvalidToolName(ToolDefinitionError):
    """A tool's name is not one that every provider takes."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} cannot be the name of a tool; use 1 to 64 of the characters A-Z a-z 0-9 _ -"
        )
        self.name = name


class InvalidToolFunction(ToolDefinitionError):
    """A function cannot be a tool: its signature cannot be put to a model."""

    def __init__(self, tool: str, reason: str, *, parameter: str | None = None) -> None:
        where = "" if parameter is None else f", parameter {parameter!r}"
        super().__init__(f"tool {tool!r}{where}: {reason}")
        self.tool = tool
        self.parameter = parameter
        self.reason = reason


class DuplicateTool(ToolDefinitionError):
    """Two tools have one name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is a tool {name!r} already; give one of the two another name, "
            f"or say replace=True"
        )
        self.name = name


class InvalidToolInput(AgentkitError):
    """The arguments of a call do not fit; the message is what the model is told."""

    def __init__(self, message: str, *, paths: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.paths = paths
        """Where they do not fit: `edits.0.old_text`."""


class UnwritableOutput(AgentkitError):
    """A value cannot be a tool's output."""

    def __init__(self, tool: str, kind: str, reason: str) -> None:
        super().__init__(
            f"tool {tool!r} returned something that cannot be given to a model: {kind} ({reason})"
        )
        self.tool = tool
        self.kind = kind
        """The type of the value that is in the way."""
        self.reason = reason


class MissingDependency(AgentkitError):
    """A tool asked for an object that the host did not give."""

    def __init__(self, kind: type, *, tool: str) -> None:
        name = f"{kind.__module__}.{kind.__qualname__}"
        super().__init__(
            f"tool {tool!r} needs a {name}, and none was given; "
            f"add it to the dependencies under that type"
        )
        self.kind = name
        self.tool = tool


class ToolError(AgentkitError):
    """For tools to raise: the model is told the message as it is, without a type before it."""

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
        """For people and logs; becomes `ToolResult.details`."""
