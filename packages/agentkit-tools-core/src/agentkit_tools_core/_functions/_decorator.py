"""`@tool`: it makes a tool of a typed function."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import getdoc, iscoroutinefunction
from types import FrameType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from msgspec.structs import replace

from agentkit_core import JsonValue, ToolAnnotations, ToolSpec
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._names import is_tool_name
from agentkit_tools_core._contract._permissions import PermissionRequest, permissions_of
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._errors import InvalidToolFunction, InvalidToolName
from agentkit_tools_core._functions._arguments import Arguments
from agentkit_tools_core._functions._docstring import read_docstring
from agentkit_tools_core._functions._signature import Signature, read_signature, underlying

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")

Propose = Callable[[ToolInvocation], Iterable[PermissionRequest]]
"""Returns the permissions that a call needs; see `Tool.permissions`."""


class FunctionTool(Generic[P, R]):
    """A function that a model can call as a tool. Programs can still call it as a function.

    A method becomes a tool of each object: give the model `files.read`, not `Files.read`.
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
        binds_class: bool = False,
        rebuild: Callable[[], FunctionTool[..., Any]] | None = None,
    ) -> None:
        """Use `tool` to make one."""
        self.__wrapped__ = function
        self.__name__ = getattr(function, "__name__", spec.name)
        self.__doc__ = function.__doc__
        self._spec = spec
        self._arguments = arguments
        self._signature = signature
        self._inline = inline
        self._propose = propose
        self._binds_class = binds_class
        self._rebuild = rebuild
        self._is_async = is_async_function(function)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"{name!r} of a tool cannot be set; make another one with `tool`")
        super().__setattr__(name, value)

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
        return self.__wrapped__

    def permissions(self, request: ToolInvocation, /) -> Sequence[PermissionRequest]:
        """Return the permissions that the call needs; empty if it needs none."""
        return () if self._propose is None else permissions_of(self._propose(request), request.name)

    def bind(self, arguments: Mapping[str, JsonValue], /) -> dict[str, Any]:
        """Decode the arguments.

        Raises:
            InvalidToolInput: The arguments are not valid.
        """
        return self._arguments.decode(arguments)

    def normalize(self, arguments: Mapping[str, JsonValue], /) -> dict[str, JsonValue]:
        """Return the arguments as the function gets them: converted, with defaults, as JSON.

        Raises:
            InvalidToolInput: The arguments are not valid.
            UnstableArguments: Converting the result again gives other values.
        """
        return self._arguments.normalize(arguments)

    def invoke(self, arguments: dict[str, Any], context: ToolContext, /) -> Any:
        """Call the function, and return or raise what it returns or raises."""
        contexts = dict.fromkeys(self._signature.context_parameters, context)
        function: Callable[..., Any] = self.__wrapped__
        return function(**arguments, **contexts)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself; defaults that stand in field objects are passed to it."""
        supplied = [one for one in self._signature.supplied if not one.required]
        if supplied:
            signature = inspect.signature(self.__wrapped__)
            present = signature.bind_partial(*args, **kwargs).arguments
            for parameter in supplied:
                if parameter.name not in present:
                    kwargs[parameter.name] = parameter.make_default()
        return self.__wrapped__(*args, **kwargs)

    @property
    def needs_object(self) -> bool:
        """Whether it is a method that is not bound to an object or a class yet."""
        return self._signature.is_method

    def __set_name__(self, owner: type, name: str) -> None:
        # In the body of a class, a function is a method, whatever its first parameter is called.
        function = self.__wrapped__
        is_own = getattr(function, "__qualname__", "") == f"{owner.__qualname__}.{name}"
        if is_own and not self.needs_object and self._rebuild is not None:
            vars(self).update(vars(self._rebuild()))

    @overload
    def __get__(self, instance: None, owner: type, /) -> FunctionTool[P, R]: ...
    @overload
    def __get__(
        self: FunctionTool[Concatenate[Any, Q], R], instance: object, owner: type | None = None, /
    ) -> FunctionTool[Q, R]: ...
    def __get__(self, instance: object, owner: type | None = None, /) -> FunctionTool[..., R]:
        """Bind a method to its object, as Python does for functions."""
        target = (type(instance) if owner is None else owner) if self._binds_class else instance
        return self if target is None or not self.needs_object else self.bind_to(target)

    def bind_to(self, target: object, /) -> FunctionTool[..., R]:
        """Return the tool of a method's object, or of its class for a class method."""
        return FunctionTool(
            partial(self.__wrapped__, target),  # type: ignore[arg-type]
            self._spec,
            self._arguments,
            replace(self._signature, is_method=False),
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

    The annotations of the parameters give the JSON Schema, and the function receives arguments of
    those types. Descriptions of parameters come from `Annotated[T, "text"]` or from the docstring.
    A parameter of type `ToolContext` receives the context; the model does not see it. `output_of`
    says what a function may return.

    Args:
        function: The function; without it, a decorator is returned.
        name: The tool's name for the model; by default the function's name.
        description: What the tool does, for the model; by default the docstring without the
            descriptions of parameters.
        label: A name for people.
        read_only: Whether the tool changes nothing.
        destructive: Whether it may destroy something that cannot be restored.
        idempotent: Whether running it twice with the same arguments has the effect of running it
            once.
        needs_approval: Whether a person must approve each call.
        exclusive: Whether no other call of the same round may run at the same time.
        timeout_s: How long a call may run, in seconds; None means no limit. Without an event loop a
            call cannot be stopped: if it takes longer, it has timed out all the same, and its
            result is dropped.
        detach_after_s: After how many seconds a call continues in the background, so that the model
            can go on; 0 means immediately, None never.
        strict: Whether the provider must enforce the schema exactly; None leaves it to the
            provider's default.
        strict_arguments: Whether to reject arguments that almost fit (a number as text, the text of
            a list) instead of converting them.
        inline: Whether a sync function runs on the thread of the event loop, which is right for
            quick functions and those bound to that thread; by default it runs in a worker thread.
        permissions: Returns the permissions that a call needs:
            `lambda call: [permission_to_read(call.argument("path", str))]`.

    Raises:
        InvalidToolName: The name is not a valid tool name.
        InvalidToolFunction: A parameter cannot be described to a model, or a time is not valid.
    """

    def make(
        function: Any, frame: FrameType, is_method: bool | None = None
    ) -> FunctionTool[..., Any]:
        binds_class = isinstance(function, classmethod)
        if isinstance(function, (classmethod, staticmethod)):
            function, is_method = function.__func__, binds_class
        if isinstance(function, FunctionTool):
            function = function.__wrapped__
        if not callable(function):
            raise InvalidToolFunction(name or repr(function), "it cannot be called")
        tool_name = _name_of(function) if name is None else name
        if not is_tool_name(tool_name):
            raise InvalidToolName(tool_name)
        _check_times(tool_name, timeout_s, detach_after_s)
        if permissions is not None and is_async_function(permissions):
            reason = "`permissions` is asynchronous, and nobody awaits it; use a plain function"
            raise InvalidToolFunction(tool_name, reason)
        annotations = ToolAnnotations(
            read_only=read_only,
            destructive=destructive,
            idempotent=idempotent,
            needs_approval=needs_approval,
            exclusive=exclusive,
            timeout_s=timeout_s,
            detach_after_s=detach_after_s,
        )
        signature = read_signature(function, tool=tool_name, frame=frame, is_method=is_method)
        arguments = Arguments(tool_name, signature.parameters, lenient=not strict_arguments)
        docstring = read_docstring(_doc_of(function))
        spec = ToolSpec(
            name=tool_name,
            description=docstring.description if description is None else description,
            input_schema=arguments.schema(docstring.parameters),
            strict=strict,
            annotations=annotations,
            label=label,
        )
        return FunctionTool(
            function,
            spec,
            arguments,
            signature,
            inline=inline,
            propose=permissions,
            binds_class=binds_class,
            rebuild=(lambda: make(function, frame, True)) if is_method is None else None,
        )

    if function is not None:
        return make(function, sys._getframe(1))
    return lambda function: make(function, sys._getframe(1))


def _check_times(tool: str, timeout_s: float | None, detach_after_s: float | None) -> None:
    for name, value in (("timeout_s", timeout_s), ("detach_after_s", detach_after_s)):
        if value is not None and not isinstance(value, (int, float)):
            raise InvalidToolFunction(tool, f"{name}={value!r} is not a number of seconds")
    # These conditions also reject NaN.
    if timeout_s is not None and not timeout_s > 0:
        raise InvalidToolFunction(
            tool, f"timeout_s={timeout_s} is not valid; use a number above 0, or None"
        )
    if detach_after_s is not None and not detach_after_s >= 0:
        raise InvalidToolFunction(
            tool, f"detach_after_s={detach_after_s} is not valid; use 0 or more, or None"
        )


def _name_of(function: Callable[..., Any]) -> str:
    inner = function
    while isinstance(inner, partial):
        inner = inner.func
    return getattr(inner, "__name__", None) or type(inner).__name__


def _doc_of(function: Callable[..., Any]) -> str | None:
    # The docstring of a partial, or of an object's class, does not describe the function.
    own = getdoc(underlying(function))
    if own is None and not isinstance(function, partial):
        return getdoc(function)
    return own


def is_async_function(function: Callable[..., Any]) -> bool:
    """Whether a function, or the `__call__` of an object, is an `async def`."""
    while isinstance(function, partial):
        function = function.func
    return iscoroutinefunction(function) or iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )
