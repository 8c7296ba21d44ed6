"""A function's signature, as far as a tool needs it: its parameters with their real types.

Annotations may be strings (`from __future__ import annotations` makes them all so). They are
read with the names of the module in which the innermost function was written, and with those
of the functions around it that are still running.
"""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable, Mapping
from functools import partial
from types import FrameType, FunctionType, NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

from msgspec import UNSET

from agentkit_core.values import Record
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._errors import InvalidToolFunction
from agentkit_tools_core._functions._annotations import readable

_REFUSED: Final[Mapping[Any, str]] = {
    inspect.Parameter.VAR_POSITIONAL: "a model gives arguments by name; take a list instead",
    inspect.Parameter.VAR_KEYWORD: "a model has to know the names; take a dict instead",
    inspect.Parameter.POSITIONAL_ONLY: "a model gives arguments by name; remove the `/`",
}


class Parameter(Record, frozen=True):
    """A parameter that a model fills in.

    Attributes:
        type: Its type, with no string left in it; Any where there is no annotation.
        default: What the function takes it for when it is not given; UNSET where it must be given.
    """

    name: str
    type: Any
    default: Any = UNSET

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is UNSET

    @property
    def description(self) -> str | None:
        """The text in its `Annotated`, if there is one."""
        if get_origin(self.type) is Annotated:
            for note in get_args(self.type)[1:]:
                text = note if isinstance(note, str) else getattr(note, "description", None)
                if isinstance(text, str):
                    return text
        return None


class Signature(Record, frozen=True):
    """The parameters of a function.

    Attributes:
        parameters: Those that a model fills in, in order.
        context_parameters: Those that take the `ToolContext`.
        is_method: Whether the function was written in a class and has yet to be bound to an object.
    """

    parameters: tuple[Parameter, ...]
    context_parameters: tuple[str, ...]
    is_method: bool


def read_signature(
    function: Callable[..., Any], *, tool: str, frame: FrameType | None = None
) -> Signature:
    """Read the parameters of a function, method, partial or callable object.

    Args:
        function: What is to become a tool.
        tool: The tool's name, for errors.
        frame: Where it becomes one; names of the functions that run there can be used in
            annotations.

    Raises:
        InvalidToolFunction: There is no signature, a parameter cannot be given by name, or an
            annotation cannot be resolved.
    """
    if isinstance(function, type):
        raise InvalidToolFunction(tool, "a class is no function; give a function that makes one")
    origin = underlying(function)
    if inspect.isgeneratorfunction(origin) or inspect.isasyncgenfunction(origin):
        raise InvalidToolFunction(
            tool, "a generator has no result; return a list, or tell progress to the context"
        )
    try:
        listed = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise InvalidToolFunction(tool, f"its signature cannot be read: {error}") from None
    is_method = _is_unbound_method(function, listed)
    names = _Names(origin, frame)
    parameters: list[Parameter] = []
    contexts: list[str] = []
    for one in listed[1:] if is_method else listed:
        if (reason := _REFUSED.get(one.kind)) is not None:
            raise InvalidToolFunction(tool, reason, parameter=one.name)
        resolved = names.resolve(one.annotation, tool=tool, parameter=one.name)
        if _is_context(resolved):
            contexts.append(one.name)
            continue
        default = UNSET if one.default is inspect.Parameter.empty else one.default
        try:
            kind = readable(resolved)
        except (TypeError, ValueError) as error:
            reason = f"its annotation {one.annotation!r} cannot be read: {error}"
            raise InvalidToolFunction(tool, reason, parameter=one.name) from None
        parameters.append(Parameter(one.name, kind, default))
    return Signature(tuple(parameters), tuple(contexts), is_method)


def underlying(function: Callable[..., Any]) -> Any:
    """Find the function that someone wrote inside partials, wrappers, methods and objects."""
    found: Any = function
    while True:
        if isinstance(found, partial):
            found = found.func
        elif hasattr(found, "__wrapped__"):
            found = found.__wrapped__
        elif inspect.ismethod(found):
            found = found.__func__
        elif isinstance(found, FunctionType) or not hasattr(type(found).__call__, "__globals__"):
            return found
        else:
            found = type(found).__call__


class _Names:
    """The names that a function's annotations may use."""

    def __init__(self, function: Any, frame: FrameType | None) -> None:
        self._function = function
        self._frame = frame
        self._found: tuple[dict[str, Any], ChainMap[str, Any]] | None = None

    def resolve(self, annotation: Any, *, tool: str, parameter: str) -> Any:
        if annotation is inspect.Parameter.empty:
            return Any
        if self._found is None:
            self._found = self._look()

        def holder() -> None: ...

        holder.__annotations__ = {"it": annotation}
        try:
            return get_type_hints(holder, *self._found, include_extras=True)["it"]
        except NameError as error:
            raise InvalidToolFunction(
                tool,
                f"its annotation {annotation!r} speaks of {error.name!r}, which is not to be "
                f"found; define or import it before the tool, and not only for type checkers",
                parameter=parameter,
            ) from None
        except Exception as error:
            raise InvalidToolFunction(
                tool, f"its annotation {annotation!r} is no type: {error}", parameter=parameter
            ) from None

    def _look(self) -> tuple[dict[str, Any], ChainMap[str, Any]]:
        function = self._function
        module_names: dict[str, Any] = getattr(function, "__globals__", {})
        local: ChainMap[str, Any] = ChainMap()
        code = getattr(function, "__code__", None)
        if code is not None:
            cells = zip(code.co_freevars, function.__closure__ or (), strict=False)
            local.maps.append({name: cell.cell_contents for name, cell in cells if _filled(cell)})
            frame = self._frame
            while frame is not None:
                around = frame.f_code.co_qualname
                if frame.f_globals is module_names and code.co_qualname.startswith(f"{around}."):
                    local.maps.append(dict(frame.f_locals))
                frame = frame.f_back
        # Linters move an import that only annotations use under `if TYPE_CHECKING`; of our own
        # class we know what is meant.
        if "ToolContext" not in module_names:
            local.maps.append({"ToolContext": ToolContext})
        return module_names, local


def _filled(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _is_unbound_method(function: Any, listed: list[inspect.Parameter]) -> bool:
    if not isinstance(function, FunctionType) or not listed or listed[0].name != "self":
        return False
    around = function.__qualname__.rpartition(".")[0]
    return bool(around) and not around.endswith("<locals>")


def _is_context(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _is_context(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return any(_is_context(one) for one in get_args(annotation) if one is not NoneType)
    return isinstance(annotation, type) and issubclass(annotation, ToolContext)
