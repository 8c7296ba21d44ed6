"""Typed results: a turn's result as a checked value of a type, with a limited number of retries.

    FORMAT   the request has a response format: the response's text has to be JSON of a schema
    TOOL     the model gives the value by calling a tool, which ends the turn

In both modes the schema is an object with the one field `result`, so that every type is possible.
The model is told why a value is not valid and tries again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from agentkit_core import Item, JsonSchemaFormat, ModelRequest, ModelResponse
from agentkit_core.json import decode_json
from agentkit_core.settings import member_of, number_of
from agentkit_core.values import StringEnum
from agentkit_loop._errors import InvalidResultType, NoResult
from agentkit_loop._result import TurnEnd, TurnResult
from agentkit_loop.extensions._hooks import EndTurn, Hook, RetryAnswer, RunFacts
from agentkit_tools_core import (
    InvalidToolFunction,
    InvalidToolInput,
    ToolRegistry,
    ToolReturn,
    tool,
)

T = TypeVar("T")

TOOL_NAME: Final = "final_result"
_FENCED: Final = re.compile(r"\A\s*```[a-zA-Z]*[^\S\n]*\n(?P<body>.*?)\n?```\s*\Z", re.DOTALL)
_FIELD: Final = "result"
_TAKEN: Final = (
    "The result was taken. If another call of the same answer failed, it does not count: give it "
    "again, in the light of that failure."
)
_TOO_EARLY: Final = "the result was given beside another call, which failed"


class ResultMode(StringEnum):
    """How a model is told the type of the result."""

    FORMAT = "format"
    """By a response format, for models that support JSON schemas."""
    TOOL = "tool"
    """By a tool to call, for all other models."""


class TypedResult(Generic[T]):
    """The result of a turn, and the value that it was asked for.

    Args:
        turn: The result of the last turn.
        type_name: The name of the value's type.
        values: The valid values that came, the one that counts last; empty if none came.
        problem: What was wrong with the last attempt; None if nothing was.

    Attributes:
        turn: The result of the last turn.
        problem: What was wrong with the last attempt; None if nothing was.
    """

    __slots__ = ("__weakref__", "_type_name", "_values", "problem", "turn")

    def __init__(
        self, turn: TurnResult, type_name: str, values: tuple[T, ...], problem: str | None
    ) -> None:
        self.turn = turn
        self.problem = problem
        self._type_name = type_name
        self._values = values

    @property
    def has_value(self) -> bool:
        """Whether a valid value came."""
        return bool(self._values)

    @property
    def conversation(self) -> tuple[Item, ...]:
        """The whole conversation at the end of the turn; see `TurnResult.conversation`."""
        return self.turn.conversation

    @property
    def value(self) -> T:
        """The value.

        Raises:
            NoResult: No valid value came: the turn failed, reached a limit or was cancelled, or the
                model had no retries left.
        """
        if not self._values:
            raise NoResult(self.turn, self._type_name, self.problem)
        return self._values[-1]

    def __repr__(self) -> str:
        value = repr(self._values[-1]) if self._values else "no value"
        return f"TypedResult({value}, {self.turn.end})"


class ResultRequest(Hook, Generic[T]):
    """Requests a value of a type from the turns of one prompt, and checks what comes.

    Args:
        kind: The type.
        mode: How the model is told the type.
        retries: How often the model may try again.

    Raises:
        InvalidResultType: Values of the type cannot be read from JSON.
    """

    def __init__(self, kind: type[T], mode: ResultMode, retries: int) -> None:
        self._mode = member_of(ResultMode, mode, "result_mode")
        self._retries_left = int(number_of(retries, "result_retries", whole=True, least=0))
        self._type_name = kind.__name__ if isinstance(kind, type) else str(kind)
        self._values: list[T] = []
        self._problem: str | None = None

        def final_result(result: Any) -> Any:
            self._values.append(result)
            self._problem = None
            return ToolReturn(output=_TAKEN, stop_unless_failed=True)

        final_result.__annotations__ = {_FIELD: kind}
        make_tool = tool(
            name=TOOL_NAME,
            description="Give the final result. Call this once, when everything else is done.",
            inline=True,
        )
        try:
            self._tool = make_tool(final_result)
        except InvalidToolFunction as error:  # it speaks of a tool that the caller never made
            raise InvalidResultType(self._type_name, error.reason) from error

    @property
    def tools(self) -> ToolRegistry | None:
        """The tool by which the model gives the value; None in mode `FORMAT`."""
        return ToolRegistry([self._tool]) if self._mode is ResultMode.TOOL else None

    def result(self, turn: TurnResult) -> TypedResult[T]:
        """Build the typed result from the result of the last turn."""
        values = () if turn.end is not TurnEnd.COMPLETED else tuple(self._values)
        if turn.end is TurnEnd.COMPLETED and not values and self._mode is ResultMode.TOOL:
            values = self._values_in(turn)
        return TypedResult(turn, self._type_name, values, self._problem)

    def _values_in(self, turn: TurnResult) -> tuple[T, ...]:
        """Read the value from the turn's items: its tool ran in a process that is gone."""
        good = {
            result.call_id
            for item in turn.items[-1:]
            for result in item.tool_results
            if not result.is_error
        }
        return tuple(
            self._tool.bind(call.input)[_FIELD]
            for item in turn.items[-2:-1]
            for call in item.tool_calls
            if call.name == TOOL_NAME and call.id in good
        )

    def before_request(
        self, request: ModelRequest, facts: RunFacts, /
    ) -> ModelRequest | EndTurn | None:
        """Set the response format; end the turn if there are no retries left."""
        if self._values:
            # The model is called again: what it gave before does not count.
            self._values.clear()
            if self._mode is ResultMode.TOOL:
                self._problem = _TOO_EARLY
        if self._retries_left < 0:
            return EndTurn()
        if self._mode is ResultMode.TOOL:
            return None
        response_format = JsonSchemaFormat(self._tool.spec.input_schema, name=TOOL_NAME)
        return replace(request, options=replace(request.options, response_format=response_format))

    def after_response(
        self, response: ModelResponse, facts: RunFacts, /
    ) -> ModelResponse | RetryAnswer | None:
        """Read the value from the response, or reject the response and say what is wrong."""
        item = response.item
        if not item.tool_calls:
            self._values.clear()  # a later response counts, even if an earlier one was valid
        if self._mode is ResultMode.TOOL:
            for call in item.tool_calls:
                if call.name == TOOL_NAME:
                    self._check(call.input)
            if item.tool_calls:
                return None
            self._count_failure("nothing came: the tool was not called")
            return self._retry(f"Give the final result by calling {TOOL_NAME}.")
        if item.tool_calls:
            return None
        self._read_text(item.text)
        if self._values:
            return None
        return self._retry(
            f"{self._problem}\n\nAnswer again, with nothing but JSON that follows the schema."
        )

    def _read_text(self, text: str) -> None:
        fenced = _FENCED.match(text)
        try:
            answer = decode_json(fenced["body"] if fenced else text)
        except msgspec.DecodeError as error:
            return self._count_failure(f"The answer is not JSON: {error}")
        if not isinstance(answer, dict) or _FIELD not in answer:
            answer = {_FIELD: answer}
        elif len(answer) > 1 and self._is_valid({_FIELD: answer}):
            answer = {_FIELD: answer}  # the type has a field of that name itself
        value = self._check(answer)
        if value is not None:
            self._values.append(value[_FIELD])
            self._problem = None

    def _is_valid(self, answer: Any) -> bool:
        try:
            self._tool.bind(answer)
        except InvalidToolInput:
            return False
        return True

    def _check(self, answer: Any) -> Mapping[str, T] | None:
        """Return the arguments of the result tool, converted; None if they are not valid."""
        try:
            return self._tool.bind(answer)
        except InvalidToolInput as error:
            self._count_failure(error.message)
            return None

    def _count_failure(self, problem: str) -> None:
        self._retries_left -= 1
        self._problem = problem

    def _retry(self, text: str) -> RetryAnswer | None:
        return RetryAnswer((Item.user(text),)) if self._retries_left >= 0 else None
