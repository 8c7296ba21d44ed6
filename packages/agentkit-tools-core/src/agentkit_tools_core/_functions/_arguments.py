"""The arguments of a function: their JSON Schema, their decoding, and errors for the model."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec
from msgspec import UNSET

from agentkit_core import JsonValue, to_json
from agentkit_core.json import canonical_json
from agentkit_tools_core._errors import InvalidToolFunction, InvalidToolInput, UnstableArguments
from agentkit_tools_core._functions._argument_errors import validation_error, with_choices
from agentkit_tools_core._functions._coercion import coerce, split_error
from agentkit_tools_core._functions._foreign_kinds import (
    REFERENCE,
    ForeignKind,
    join_definitions,
)
from agentkit_tools_core._functions._foreign_types import (
    decode_foreign,
    encode_argument,
    schema_of_foreign,
)
from agentkit_tools_core._functions._signature import Parameter

_NOTHING: Final = object()
_SCALARS: Final = (str, int, float, bool)
_MAX_INT: Final = 2**63
_PLAIN: Final = (str, int, float, bool, NoneType, Any, list, dict)
_PLAIN_CONTAINERS: Final = (list, dict, Union, UnionType)
_FIELD_ERROR: Final = re.compile(r"Object (?P<what>missing required|contains unknown) field `(.+)`")


class Arguments:
    """The arguments that one function takes."""

    def __init__(self, tool: str, parameters: Sequence[Parameter], *, lenient: bool = True) -> None:
        """Prepare the decoding of the parameters.

        Args:
            tool: The tool's name, for errors.
            parameters: The parameters that the model provides.
            lenient: Whether to convert values that almost fit.

        Raises:
            InvalidToolFunction: A parameter has a type that cannot be decoded from JSON.
        """
        self._tool = tool
        self._parameters = {parameter.name: parameter for parameter in parameters}
        self._lenient = lenient
        self._is_plain = all(_is_plain(parameter.type) for parameter in parameters)
        for parameter in parameters:
            _check_type(tool, parameter)
            kind = parameter.type
            if isinstance(kind, type) and issubclass(kind, ForeignKind):
                kind.strict = not lenient
        self._model = msgspec.defstruct(
            f"{tool}_arguments",
            # UNSET marks optional arguments; the function itself supplies its defaults.
            [
                (parameter.name, parameter.type, *(() if parameter.required else (UNSET,)))
                for parameter in parameters
            ],
            kw_only=True,
            forbid_unknown_fields=True,
        )
        self._decoder = msgspec.json.Decoder(self._model, dec_hook=decode_foreign)
        self._names = tuple(self._parameters)
        self._supplied = {
            parameter.name: parameter
            for parameter in parameters
            if parameter.is_supplied and not parameter.required
        }
        self._defaults = {
            parameter.name: value
            for parameter in parameters
            if not (parameter.required or parameter.is_supplied)
            and (value := _default(parameter.default)) is not _NOTHING
        }
        # The JSON of such a default is not read as the default itself, such as () for a list.
        self._unreadable = {
            name: canonical_json(value)
            for name, value in self._defaults.items()
            if not self._reads_default(name, value)
        }
        kinds = tuple(parameter.type for parameter in parameters)
        are_scalars = all(kind in _SCALARS for kind in kinds) and not self._unreadable
        self._scalars: tuple[Any, ...] | None = kinds if are_scalars else None

    def schema(self, descriptions: Mapping[str, str]) -> dict[str, JsonValue]:
        """Return the JSON Schema of all arguments: an object, with `$defs` at the top level.

        Args:
            descriptions: Texts for parameters whose annotation has none, by name; unknown names
                are ignored.
        """
        foreign: dict[str, JsonValue] = {}
        (reference,), definitions = msgspec.json.schema_components(
            [self._model],
            schema_hook=lambda kind: schema_of_foreign(kind, foreign),
            ref_template=REFERENCE,
        )
        own = definitions.pop(reference["$ref"].removeprefix(REFERENCE.format(name="")))
        properties: dict[str, Any] = own["properties"]
        for name, parameter in self._parameters.items():
            text = parameter.description or descriptions.get(name)
            if text:
                properties[name] = {**properties[name], "description": text}
            if (
                not parameter.required
                and (default := _shown_default(parameter.shown_default)) is not None
            ):
                properties[name]["default"] = default
        schema: dict[str, JsonValue] = {
            "type": "object",
            "properties": properties,
            "required": own.get("required", []),
            "additionalProperties": False,
        }
        return join_definitions(schema, definitions, foreign)

    def decode(self, arguments: Mapping[str, JsonValue]) -> dict[str, Any]:
        """Decode JSON arguments into what the function takes, by name.

        The result shares nothing with `arguments`, so that a function may change it.

        Raises:
            InvalidToolInput: The arguments are not valid.
        """
        if self._are_exact(arguments):
            return dict(arguments)
        try:
            data = to_json(arguments)
        except (TypeError, ValueError) as error:
            raise InvalidToolInput(f"The arguments are not JSON: {error}") from None
        try:
            decoded = self._decoder.decode(data)
        except msgspec.ValidationError:
            values = self._decode_each(data)
        else:
            values = {
                name: value
                for name in self._names
                if (value := getattr(decoded, name)) is not UNSET
            }
        for name, default in self._unreadable.items():
            if name in values and canonical_json(arguments[name]) == default:
                del values[name]
        for name, parameter in self._supplied.items():
            if name not in values:
                values[name] = parameter.make_default()
        return values

    def normalize(self, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the arguments as the function gets them: converted, with defaults, as JSON.

        They are in the order of the parameters, and decoding them gives the same values. A default
        that JSON cannot express is left out. Where nothing is to be converted, it is the same
        object.

        Raises:
            InvalidToolInput: The arguments are not valid.
            UnstableArguments: Decoding the result gives other values.
        """
        if isinstance(arguments, dict) and self._are_exact(arguments):
            return arguments
        decoded = self.decode(arguments)
        normal: dict[str, JsonValue] = {}
        for name in self._names:
            if name in decoded:
                try:
                    normal[name] = encode_argument(decoded[name], in_order=self._is_plain)
                except (TypeError, ValueError, NotImplementedError):
                    # A class that can be read from JSON only: there is no other spelling.
                    normal[name] = msgspec.json.decode(to_json(arguments[name]))
            elif name in self._defaults:
                normal[name] = deepcopy(self._defaults[name])
        if not self._is_plain and not self._decodes_to(normal, decoded):
            raise UnstableArguments(self._tool, normal)
        return normal

    def _are_exact(self, arguments: Mapping[str, JsonValue]) -> bool:
        """Whether these are all arguments, in order, and each is a scalar of its type.

        Most calls are such, and JSON would give the same values: they need no conversion.
        """
        if self._scalars is None or tuple(arguments) != self._names:
            return False
        for value, kind in zip(arguments.values(), self._scalars, strict=True):
            if type(value) is not kind:
                return False
            if kind is not bool and not _CAN_BE_WRITTEN[kind](value):
                return False
        return True

    def _decodes_to(self, normal: dict[str, JsonValue], decoded: dict[str, Any]) -> bool:
        try:
            again = self.decode(normal)
            return all(bool(again.get(name, UNSET) == value) for name, value in decoded.items())
        except Exception:
            return False

    def _reads_default(self, name: str, value: JsonValue) -> bool:
        parameter = self._parameters[name]
        try:
            read = msgspec.convert(value, parameter.type, dec_hook=decode_foreign)
            return type(read) is type(parameter.default) and bool(read == parameter.default)
        except Exception:
            return False

    def _decode_each(self, data: bytes) -> dict[str, Any]:
        """Decode each parameter alone, to convert or report every value that does not fit."""
        arguments: dict[str, Any] = msgspec.json.decode(data)
        decoded: dict[str, Any] = {}
        errors: dict[str, str] = {}
        for name, parameter in self._parameters.items():
            if name not in arguments:
                if parameter.required:
                    errors[name] = "is required"
                continue
            try:
                decoded[name] = coerce(arguments[name], parameter.type, lenient=self._lenient)
            except msgspec.ValidationError as error:
                # Many hosts send null for optional arguments that the model left out.
                if arguments[name] is not None or parameter.required:
                    where, what = _describe_error(name, str(error))
                    errors[where] = with_choices(what, parameter.type) if where == name else what
        known = ", ".join(self._names) or "none"
        for name in arguments:
            if name not in self._parameters:
                errors[name] = f"is not a parameter (there are: {known})"
        if errors:
            raise validation_error(self._tool, errors, data)
        return decoded


def _is_unicode(text: str) -> bool:
    try:
        return text.isascii() or text.encode() is not None
    except UnicodeEncodeError:  # a lone surrogate
        return False


_CAN_BE_WRITTEN: Final[Mapping[type, Callable[[Any], bool]]] = {
    str: _is_unicode,
    int: lambda number: -_MAX_INT <= number < _MAX_INT,
    float: math.isfinite,
}
"""Whether JSON can express a value of a type."""


def _check_type(tool: str, parameter: Parameter) -> None:
    """Check that a parameter's type can be decoded and described, so that errors name it."""
    try:
        msgspec.json.Decoder(parameter.type, dec_hook=decode_foreign)
        msgspec.json.schema_components(
            [parameter.type],
            schema_hook=lambda kind: schema_of_foreign(kind, {}),
            ref_template=REFERENCE,
        )
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidToolFunction(
            tool,
            f"its type {parameter.type!r} cannot be decoded from JSON: {reason}",
            parameter=parameter.name,
        ) from None


def _shown_default(default: Any) -> JsonValue:
    """Return a default as JSON, for the schema; None if it is None or cannot be written."""
    try:
        value: JsonValue = msgspec.json.decode(to_json(default))
    except Exception:
        return None
    return value


def _default(default: Any) -> Any:
    """Return a default as JSON; `_NOTHING` if it cannot be written, or is a secret of the host."""
    try:
        return msgspec.json.decode(to_json(encode_argument(default, reveal=False)))
    except Exception:
        return _NOTHING


def _is_plain(kind: Any) -> bool:
    """Whether values of a type are JSON values, which no code of the host converts."""
    if kind in _PLAIN:
        return True
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _is_plain(inside[0])
    if origin is Literal:
        return True
    return origin in _PLAIN_CONTAINERS and all(map(_is_plain, inside))


def _describe_error(name: str, message: str) -> tuple[str, str]:
    """Return the place of an error, and what is wrong there."""
    path, what = split_error(message)
    where = f"{name}.{path}" if path else name
    if field := _FIELD_ERROR.fullmatch(what):
        where = f"{where}.{field[2]}"
        what = "is required" if field["what"].startswith("missing") else "is not a known field"
    return where, what
