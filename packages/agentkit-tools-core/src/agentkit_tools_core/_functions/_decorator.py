"""`@tool`: a typed function becomes a tool."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import getdoc, iscoroutinefunction
from types import FrameType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from agentkit_core import JsonValue, ToolAnnotations, ToolSpec
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._names import is_tool_name
from agentkit_tools_core._contract._permissions import PermissionRequest
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._errors import InvalidToolFunction, InvalidToolName
from agentkit_tools_core._functions._arguments import Arguments
from agentkit_tools_core._functions._docstring import read_docstring
from agentkit_tools_core._functions._signature import Signature, read_signature, underlying

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")

Propose = Callable[[ToolInvocation], Iterable[PermissionRequest]]
"""Says what a call would do that someone may object to; see `Tool.permissions`."""


class FunctionTool(Generic[P, R]):
    """A function that a model can call; called by a program, it is that function.

    One that was written as a method is a tool of each object: give the model `files.read`,
    not `Files.read`.
    """

    def __init__(
        self,
        function: Callable[P, R],
        spec: ToolSpec,
        arguments: Arguments,
        signature: Signature,
        *,
        inline: bool = False,
        propose: Propose | None = None,
    ) -> None:
        """Made by `tool`."""
        self.__wrapped__ = function
        self.__doc__ = function.__doc__
        self._spec = spec
        self._arguments = arguments
        self._signature = signature
        self._inline = inline
        self._propose = propose
        self._is_async = is_async_function(function)

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

    def bind(self, given: Mapping[str, JsonValue], /) -> dict[str, Any]:
        """Decode the arguments.

        Raises:
            InvalidToolInput: They do not fit.
        """
        return self._arguments.decode(given)

    def invoke(self, arguments: dict[str, Any], context: ToolContext, /) -> Any:
        """Call the function; what it returns or raises is left as it is."""
        contexts = dict.fromkeys(self._signature.context_parameters, context)
        function: Callable[..., Any] = self.__wrapped__
        return function(**arguments, **contexts)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, as if it were no tool."""
        return self.__wrapped__(*args, **kwargs)

    @overload
    def __get__(self, instance: None, owner: type, /) -> FunctionTool[P, R]: ...
    @overload
    def __get__(
        self: FunctionTool[Concatenate[Any, Q], R], instance: object, owner: type | None = None, /
    ) -> FunctionTool[Q, R]: ...
    def __get__(self, instance: object, owner: type | None = None, /) -> FunctionTool[..., R]:
        """Bind a method to its object, as Python does for functions."""
        if instance is None or not self._signature.is_method:
            return self
        return FunctionTool(
            partial(self.__wrapped__, instance),  # type: ignore[arg-type]
            self._spec,
            self._arguments,
            Signature(self._signature.parameters, self._signature.context_parameters, False),
            inline=self._inline,
            propose=self._propose,
        )

    def __repr__(self) -> str:
        return f"<tool {self._spec.name}>"


@overload
def tool(
    function: Callable[P, R],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    label: str | None = None,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    needs_approval: bool = False,
    exclusive: bool = False,
    timeout_s: float | None = None,
    detach_after_s: float | None = None,
    strict: bool | None = None,
    strict_arguments: bool = False,
    inline: bool = False,
    permissions: Propose | None = None,
) -> FunctionTool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    label: str | None = None,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    needs_approval: bool = False,
    exclusive: bool = False,
    timeout_s: float | None = None,
    detach_after_s: float | None = None,
    strict: bool | None = None,
    strict_arguments: bool = False,
    inline: bool = False,
    permissions: Propose | None = None,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    label: str | None = None,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    needs_approval: bool = False,
    exclusive: bool = False,
    timeout_s: float | None = None,
    detach_after_s: float | None = None,
    strict: bool | None = None,
    strict_arguments: bool = False,
    inline: bool = False,
    permissions: Propose | None = None,
) -> Any:
    """Make a tool of a function, a method, a partial or a callable object, sync or async.

    The parameters' annotations give the schema, and arguments arrive as those types; their
    texts come from `Annotated[T, "text"]` or from the docstring. A parameter of type
    `ToolContext` takes the context and is not shown to the model. What a function may return
    says `output_of`.

    Args:
        function: The function; without it a decorator is returned.
        name: What the model calls it; the function's name by default.
        description: What it is for; the docstring without its parameters by default.
        label: A name for people.
        read_only: It changes nothing.
        destructive: It may destroy what cannot be brought back.
        idempotent: Running it twice with the same arguments does no more than running it once.
        needs_approval: Someone must agree before it runs.
        exclusive: No other tool may run beside it.
        timeout_s: How long a call may run, in seconds; None means as long as it likes. Where
            there is no event loop nothing can stop a call: one that took longer keeps its result.
        detach_after_s: After how many seconds a call goes on in the background, so that the
            model is heard meanwhile; 0 means at once, None never.
        strict: Whether the provider must follow the schema to the letter; None leaves it to
            the target.
        strict_arguments: Refuse arguments that almost fit (a number as text, a list as the
            text of a list) instead of making them fit.
        inline: Run a sync function on the thread of the event loop, for what is quick or bound
            to that thread; by default it runs in a worker thread there.
        permissions: Says what a call would do that someone may object to.

    Raises:
        InvalidToolName: The name is not one that every provider takes.
        InvalidToolFunction: A parameter cannot be put to a model, or a time makes no sense.
    """
    annotations = ToolAnnotations(
        read_only=read_only,
        destructive=destructive,
        idempotent=idempotent,
        needs_approval=needs_approval,
        exclusive=exclusive,
        timeout_s=timeout_s,
        detach_after_s=detach_after_s,
    )

    def make(function: Callable[..., Any], frame: FrameType) -> FunctionTool[..., Any]:
        tool_name = _name_of(function) if name is None else name
        if not is_tool_name(tool_name):
            raise InvalidToolName(tool_name)
        _check_times(tool_name, timeout_s, detach_after_s)
        signature = read_signature(function, tool=tool_name, frame=frame)
        arguments = Arguments(tool_name, signature.parameters, lenient=not strict_arguments)
        documented = read_docstring(_doc_of(function))
        spec = ToolSpec(
            name=tool_name,
            description=documented.description if description is None else description,
            input_schema=arguments.schema(documented.parameters),
            strict=strict,
            annotations=annotations,
            label=label,
        )
        return FunctionTool(
            function, spec, arguments, signature, inline=inline, propose=permissions
        )

    if function is not None:
        return make(function, sys._getframe(1))
    return lambda function: make(function, sys._getframe(1))


def _check_times(tool: str, timeout_s: float | None, detach_after_s: float | None) -> None:
    # Written so that NaN, which compares with nothing, is refused too.
    if timeout_s is not None and not timeout_s > 0:
        raise InvalidToolFunction(tool, f"timeout_s is {timeout_s}; give more than 0, or None")
    if detach_after_s is not None and not detach_after_s >= 0:
        raise InvalidToolFunction(
            tool, f"detach_after_s is {detach_after_s}; give 0 or more, or None"
        )


def _name_of(function: Callable[..., Any]) -> str:
    found = function
    while isinstance(found, partial):
        found = found.func
    return getattr(found, "__name__", None) or type(found).__name__


def _doc_of(function: Callable[..., Any]) -> str | None:
    # A partial's own docstring, and that of an object's class, say nothing of the function.
    own = getdoc(underlying(function))
    if own is None and not isinstance(function, partial):
        return getdoc(function)
    return own


def is_async_function(function: Callable[..., Any]) -> bool:
    """Whether a function, or an object that is called like one, is an `async def`."""
    return iscoroutinefunction(function) or iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )
