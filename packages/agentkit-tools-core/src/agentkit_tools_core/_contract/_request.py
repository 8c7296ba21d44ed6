"""Tool invocations: one tool call, on its way from the model to the tool."""

from __future__ import annotations

from typing import TypeVar, overload

import msgspec
from msgspec import UNSET, field

from agentkit_core import JsonValue, MetadataMap, SessionId, ToolCall, ToolCallId, TurnId
from agentkit_core.values import Record
from agentkit_tools_core._errors import InvalidToolInput

T = TypeVar("T")
D = TypeVar("D")


class ToolInvocation(Record, frozen=True, omit_defaults=True):
    """One call of a tool.

    Attributes:
        call_id: The id of the call.
        name: The name of the tool, as the model wrote it; there may be no such tool.
        input: The arguments by name: for permissions, policies, hooks and the tool itself as the
            tool gets them, converted and with defaults. Do not change them: the transcript may
            contain the same object.
        session_id: The session of the call; None outside a session.
        turn_id: The turn of the call; None outside a session.
        metadata: The metadata of the tool call in the transcript; often empty.
    """

    call_id: ToolCallId
    name: str
    input: dict[str, JsonValue] = field(default_factory=dict)
    session_id: SessionId | None = None
    turn_id: TurnId | None = None
    metadata: MetadataMap = field(default_factory=dict)

    @property
    def call(self) -> ToolCall:
        """The call as a part, with the arguments that the tool would run with."""
        return ToolCall(self.call_id, self.name, self.input, metadata=self.metadata)

    @overload
    def argument(self, name: str, kind: type[T], /) -> T: ...
    @overload
    def argument(self, name: str, kind: type[T], /, *, default: D) -> T | D: ...
    def argument(self, name: str, kind: type[T], /, *, default: object = UNSET) -> object:
        """Return one argument as a type, for functions that read `input` themselves.

            @tool(permissions=lambda call: [permission_to_read(call.argument("path", str))])

        Args:
            name: The name of the argument.
            kind: What it has to be: `str`, `int`, `list[str]`, … Nothing is converted: `1` is
                not a `str`.
            default: Returned where the model gave no such argument.

        Raises:
            InvalidToolInput: The argument is missing and has no default, or is of another type.
                The call then gets an error result that tells the model what is wrong.
        """
        if name not in self.input:
            if default is UNSET:
                raise InvalidToolInput(f"{name}: is required", paths=(name,))
            return default
        try:
            return msgspec.convert(self.input[name], kind)
        except msgspec.ValidationError as error:
            raise InvalidToolInput(f"{name}: {error}", paths=(name,)) from None
