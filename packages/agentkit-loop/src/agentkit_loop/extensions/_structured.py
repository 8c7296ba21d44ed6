"""Structured results: a value of a type as what comes of a turn, checked, with a bounded retry.

    FORMAT   the request says of which JSON the answer's text has to be
    TOOL     the model gives the value by calling a tool, which ends the turn

Either way what is asked for is an object with the one field `result`, so that any type will do. A
value that does not fit goes back to the model with what is wrong about it.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from agentkit_core import Item, JsonSchemaFormat, ModelRequest, ModelResponse
from agentkit_core.json import decode_json
from agentkit_loop._errors import NoResult
from agentkit_loop._result import TurnEnd, TurnResult
from agentkit_loop.extensions._hooks import EndTurn, Hook, RetryAnswer, RunFacts
from agentkit_tools_core import InvalidToolInput, ToolRegistry, ToolReturn, tool

T = TypeVar("T")

TOOL_NAME: Final = "final_result"
_FENCED: Final = re.compile(r"\A\s*```[a-zA-Z]*\s*\n(?P<body>.*?)\n?```\s*\Z", re.DOTALL)
_FIELD: Final = "result"


class ResultMode(StrEnum):
    """How a model is told of which type the result has to be."""

    FORMAT = "format"
    """By the response format; for providers and models that know JSON schemas."""
    TOOL = "tool"
    """By a tool to call; for all others, and where the model has tools to call as well."""


class TypedResult(Generic[T]):
    """What a turn came to, and the value that was wanted of it.

    Args:
        turn: The last turn.
        wanted: The name of the type.
        values: The value, if one came.
        problem: What was wrong with the last thing that came for one.
    """

    def __init__(
        self, turn: TurnResult, wanted: str, values: tuple[T, ...], problem: str | None
    ) -> None:
        self.turn = turn
        self.problem = problem
        self._wanted = wanted
        self._values = values

    @property
    def has_value(self) -> bool:
        """Whether the value came."""
        return bool(self._values)

    @property
    def value(self) -> T:
        """The value.

        Raises:
            NoResult: None came that fits: the turn failed, reached a limit or was cancelled, or
                the model could not do it in as many tries.
        """
        if not self._values:
            raise NoResult(self.turn, self._wanted, self.problem)
        return self._values[-1]

    def __repr__(self) -> str:
        value = repr(self._values[-1]) if self._values else "no value"
        return f"TypedResult({value}, {self.turn.end})"


class ResultRequest(Hook, Generic[T]):
    """A result of a type that is wanted of one prompt; looks at answers until it has come."""

    def __init__(self, kind: type[T], mode: ResultMode, retries: int) -> None:
        """Work out the schema.

        Args:
            kind: The type.
            mode: How the model is told.
            retries: How often it may try again.

        Raises:
            InvalidToolFunction: The type cannot be read from JSON.
        """
        self._mode = mode
        self._left = retries
        self._name = getattr(kind, "__name__", None) or str(kind)
        self._values: list[T] = []
        self._problem: str | None = None

        def final_result(result: Any) -> Any:
            self._values.append(result)
            return ToolReturn(output="The result was taken.", stop=True)

        final_result.__annotations__ = {_FIELD: kind}
        self._tool = tool(
            name=TOOL_NAME,
            description="Give the final result. Call this once, when everything else is done.",
            inline=True,
        )(final_result)

    @property
    def tools(self) -> ToolRegistry | None:
        """What the model is offered besides the session's tools, if anything."""
        return ToolRegistry([self._tool]) if self._mode is ResultMode.TOOL else None

    def result(self, turn: TurnResult) -> TypedResult[T]:
        """Say what came."""
        values = () if turn.end is not TurnEnd.COMPLETED else tuple(self._values)
        return TypedResult(turn, self._name, values, self._problem)

    # as a hook

    def before_request(
        self, request: ModelRequest, facts: RunFacts, /
    ) -> ModelRequest | EndTurn | None:
        """Tell the model of which type the result has to be, or give up."""
        if self._left < 0:
            return EndTurn()
        if self._mode is ResultMode.TOOL:
            return None
        wanted = JsonSchemaFormat(self._tool.spec.input_schema, name=TOOL_NAME)
        return replace(request, options=replace(request.options, response_format=wanted))

    def after_response(
        self, response: ModelResponse, facts: RunFacts, /
    ) -> ModelResponse | RetryAnswer | None:
        """Take the value, or say what is wrong with it."""
        item = response.item
        if not item.tool_calls:
            self._values.clear()  # whoever was content with them was not content with that answer
        if self._mode is ResultMode.TOOL:
            for call in item.tool_calls:
                if call.name == TOOL_NAME:
                    self._look_at(call.input, keep=False)
            if item.tool_calls:
                return None
            self._missed("nothing came: the tool was not called")
            return self._again(f"Give the final result by calling {TOOL_NAME}.")
        if item.tool_calls:
            return None
        self._read(item.text)
        if self._values:
            return None
        return self._again(
            f"{self._problem}\n\nAnswer again, with nothing but JSON that follows the schema."
        )

    def _read(self, text: str) -> None:
        fenced = _FENCED.match(text)
        try:
            given = decode_json(fenced["body"] if fenced else text)
        except msgspec.DecodeError as error:
            return self._missed(f"The answer is not JSON: {error}")
        if not isinstance(given, dict) or _FIELD not in given:
            given = {_FIELD: given}
        elif len(given) > 1 and self._fits({_FIELD: given}):
            given = {_FIELD: given}  # a type that has such a field itself, and came bare
        self._look_at(given, keep=True)

    def _fits(self, given: Any) -> bool:
        try:
            self._tool.bind(given)
        except InvalidToolInput:
            return False
        return True

    def _look_at(self, given: Any, *, keep: bool) -> None:
        try:
            value = self._tool.bind(given)[_FIELD]
        except InvalidToolInput as error:
            return self._missed(error.message)
        if keep:
            self._values.append(value)

    def _missed(self, problem: str) -> None:
        self._left -= 1
        self._problem = problem

    def _again(self, text: str) -> RetryAnswer | None:
        return RetryAnswer((Item.user(text),)) if self._left >= 0 else None
