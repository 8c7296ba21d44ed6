"""The signature of a function, as a tool needs it: its parameters with resolved types.

Annotations may be strings (with `from __future__ import annotations`, all are). They are resolved
with the names of the module that defines the function, and with the local names of the functions
around it that are still running.
"""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from types import FrameType, FunctionType, NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

from msgspec import UNSET

from agentkit_core.values import Record
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._errors import InvalidToolFunction
from agentkit_tools_core._functions._annotations import to_json_type
from agentkit_tools_core._functions._field_defaults import read_field

_UNSUPPORTED: Final[Mapping[Any, str]] = {
    inspect.Parameter.VAR_POSITIONAL: "models pass arguments by name; use a list instead",
    inspect.Parameter.VAR_KEYWORD: "a model has to know all names; use a dict instead",
    inspect.Parameter.POSITIONAL_ONLY: "models pass arguments by name; remove the `/`",
}


_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_POSITIONAL: Final = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


class Parameter(Record, frozen=True):
    """A parameter that the model provides.

    Attributes:
        name: The parameter's name.
        type: The resolved type; Any without an annotation.
        default: The default; UNSET if there is none.
        factory: Makes the default, for each call; None if there is none.
        is_supplied: Whether the default is passed to the function, which has none itself: it stands
            in a field object.
    """

    name: str
    type: Any
    default: Any = UNSET
    factory: Callable[[], Any] | None = None
    is_supplied: bool = False

    @property
    def required(self) -> bool:
        """Whether the model has to provide it."""
        return self.default is UNSET and self.factory is None

    @property
    def shown_default(self) -> Any:
        """The default for the schema; None if it is made for each call."""
        return self.default if self.factory is None else None

    def make_default(self) -> Any:
        """Return the default that is passed to the function, for one call."""
        return deepcopy(self.default) if self.factory is None else self.factory()

    @property
    def description(self) -> str | None:
        """The text in its `Annotated`; None if there is none."""
        if get_origin(self.type) is Annotated:
            for note in get_args(self.type)[1:]:
                text = note if isinstance(note, str) else getattr(note, "description", None)
                if isinstance(text, str):
                    return text
        return None


class Signature(Record, frozen=True):
    """The parameters of a function.

    Attributes:
        parameters: The parameters that the model provides, in order.
        context_parameters: The names of the parameters that take the `ToolContext`.
        is_method: Whether the function is a method that is not yet bound to an object.
    """

    parameters: tuple[Parameter, ...]
    context_parameters: tuple[str, ...]
    is_method: bool

    @property
    def supplied(self) -> tuple[Parameter, ...]:
        """The parameters whose default stands in a field object; mostly empty."""
        return tuple(parameter for parameter in self.parameters if parameter.is_supplied)


def read_signature(
    function: Callable[..., Any],
    *,
    tool: str,
    frame: FrameType | None = None,
    is_method: bool | None = None,
) -> Signature:
    """Read the parameters of a function, method, partial or callable object.

    Args:
        function: The function that becomes a tool.
        tool: The tool's name, for errors.
        frame: The caller's frame; annotations may use the local names of the functions that run
            there.
        is_method: Whether the first parameter takes the object or class of a method; None decides
            by its name.

    Raises:
        InvalidToolFunction: The function has no signature, a parameter cannot be passed by name,
            or an annotation cannot be resolved.
    """
    if isinstance(function, type):
        raise InvalidToolFunction(tool, "a class cannot be a tool; write a function that calls it")
    origin = underlying(function)
    if inspect.isgeneratorfunction(origin) or inspect.isasyncgenfunction(origin):
        raise InvalidToolFunction(
            tool, "a generator cannot be a tool; return a list, or report with context.progress"
        )
    try:
        signature_parameters = call_parameters(function)
    except (TypeError, ValueError) as error:
        raise InvalidToolFunction(tool, f"its signature cannot be read: {error}") from None
    if is_method is None:
        is_method = _is_unbound_method(function, signature_parameters)
    names = _Names(origin, frame)
    parameters: list[Parameter] = []
    contexts: list[str] = []
    for parameter in signature_parameters[1:] if is_method else signature_parameters:
        name = parameter.name
        if (reason := _UNSUPPORTED.get(parameter.kind)) is not None:
            raise InvalidToolFunction(tool, reason, parameter=name)
        annotation = names.resolve(parameter.annotation, tool=tool, parameter=name)
        if _is_context(annotation):
            contexts.append(name)
            continue
        try:
            parameters.append(_read_parameter(name, annotation, parameter.default))
        except Exception as error:
            reason = f"its annotation {parameter.annotation!r} is not valid: {error}"
            raise InvalidToolFunction(tool, reason, parameter=name) from None
    return Signature(tuple(parameters), tuple(contexts), is_method)


def _read_parameter(name: str, annotation: Any, default: Any) -> Parameter:
    field = read_field(default)
    if field is not None and field.note is not None:
        annotation = Annotated[annotation, field.note]
    if field is None and default is inspect.Parameter.empty:
        for note in get_args(annotation)[1:] if get_origin(annotation) is Annotated else ():
            in_note = read_field(note)
            if in_note is not None and (in_note.default is not UNSET or in_note.factory):
                field = in_note
    kind = to_json_type(annotation)
    if field is not None:
        return Parameter(name, kind, field.default, field.factory, is_supplied=True)
    return Parameter(name, kind, UNSET if default is inspect.Parameter.empty else default)


def call_parameters(function: Any) -> list[inspect.Parameter]:
    """List the parameters that a call of a function can give, and that nobody has bound.

    What a partial has bound is the host's. A wrapper is read as it is called: with its own
    parameters, and those of the function inside only if it passes any name on.

    Raises:
        TypeError: The signature cannot be read.
        ValueError: The signature cannot be read, or a wrapper takes no arguments by name.
    """
    if isinstance(function, partial):
        inner = call_parameters(function.func)
        positional = [p for p in inner if p.kind in _POSITIONAL][: len(function.args)]
        bound = {p.name for p in positional} | function.keywords.keys()
        return [p for p in inner if p.name not in bound]
    if inspect.ismethod(function):
        return call_parameters(function.__func__)[1:]
    inner_function = getattr(function, "__wrapped__", None)
    if inner_function is None or "__signature__" in getattr(function, "__dict__", {}):
        return list(inspect.signature(function).parameters.values())
    try:
        own = list(inspect.signature(function, follow_wrapped=False).parameters.values())
    except ValueError:  # written in C, such as a cache: it passes everything on
        return call_parameters(inner_function)
    kinds = {parameter.kind for parameter in own}
    named = {p.name: p for p in own if p.kind not in _VARIADIC}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        if inspect.Parameter.VAR_POSITIONAL in kinds:
            raise ValueError("its wrapper takes no arguments by name; add **kwargs to it")
        return own
    inner = call_parameters(inner_function)
    names = {parameter.name for parameter in inner}
    extra = [parameter for name, parameter in named.items() if name not in names]
    return [*extra, *(named.get(parameter.name, parameter) for parameter in inner)]


def underlying(function: Callable[..., Any]) -> Any:
    """Return the innermost function of a partial, wrapper, method or callable object."""
    inner: Any = function
    while True:
        if isinstance(inner, partial):
            inner = inner.func
        elif hasattr(inner, "__wrapped__"):
            inner = inner.__wrapped__
        elif inspect.ismethod(inner):
            inner = inner.__func__
        elif isinstance(inner, FunctionType) or not hasattr(type(inner).__call__, "__globals__"):
            return inner
        else:
            inner = type(inner).__call__


class _Names:
    """The names that a function's annotations may use."""

    def __init__(self, function: Any, frame: FrameType | None) -> None:
        self._function = function
        self._frame = frame
        self._namespaces: tuple[dict[str, Any], ChainMap[str, Any]] | None = None

    def resolve(self, annotation: Any, *, tool: str, parameter: str) -> Any:
        if annotation is inspect.Parameter.empty:
            return Any
        if self._namespaces is None:
            self._namespaces = self._find_namespaces()

        def holder() -> None: ...

        holder.__annotations__ = {"it": annotation}
        try:
            return get_type_hints(holder, *self._namespaces, include_extras=True)["it"]
        except NameError as error:
            raise InvalidToolFunction(
                tool,
                f"its annotation {annotation!r} uses {error.name!r}, which is not defined; define "
                f"or import it before the tool, and not only under `if TYPE_CHECKING`",
                parameter=parameter,
            ) from None
        except Exception as error:
            raise InvalidToolFunction(
                tool,
                f"its annotation {annotation!r} is not a valid type: {error}",
                parameter=parameter,
            ) from None

    def _find_namespaces(self) -> tuple[dict[str, Any], ChainMap[str, Any]]:
        function = self._function
        module_names: dict[str, Any] = getattr(function, "__globals__", {})
        local: ChainMap[str, Any] = ChainMap()
        code = getattr(function, "__code__", None)
        if code is not None:
            cells = zip(code.co_freevars, function.__closure__ or (), strict=False)
            local.maps.append({name: cell.cell_contents for name, cell in cells if _is_set(cell)})
            frame = self._frame
            while frame is not None:
                around = frame.f_code.co_qualname
                if frame.f_globals is module_names and code.co_qualname.startswith(f"{around}."):
                    local.maps.append(dict(frame.f_locals))
                frame = frame.f_back
        # Linters move imports that only annotations use under `if TYPE_CHECKING`; for our own class
        # the meaning is clear.
        if "ToolContext" not in module_names:
            local.maps.append({"ToolContext": ToolContext})
        return module_names, local


def _is_set(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _is_unbound_method(function: Any, parameters: list[inspect.Parameter]) -> bool:
    if not isinstance(function, FunctionType) or not parameters:
        return False
    if parameters[0].name not in ("self", "cls"):
        return False
    around = function.__qualname__.rpartition(".")[0]
    return bool(around) and not around.endswith("<locals>")


def _is_context(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _is_context(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        members = get_args(annotation)
        return any(_is_context(member) for member in members if member is not NoneType)
    return isinstance(annotation, type) and issubclass(annotation, ToolContext)
