"""Arguments: their JSON Schema, their decoding, and errors that a model can act on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET

from agentkit_core import JsonValue, to_json
from agentkit_tools_core._errors import InvalidToolFunction, InvalidToolInput
from agentkit_tools_core._functions._argument_errors import misfits
from agentkit_tools_core._functions._coercion import fit, split_error
from agentkit_tools_core._functions._foreign_types import decode_foreign, schema_of_foreign
from agentkit_tools_core._functions._signature import Parameter

_REFERENCE: Final = "#/$defs/{name}"
_FIELD_ERROR: Final = re.compile(r"Object (?P<what>missing required|contains unknown) field `(.+)`")


class Arguments:
    """What the parameters of one function take."""

    def __init__(self, tool: str, parameters: Sequence[Parameter], *, lenient: bool = True) -> None:
        """Work out how to decode the parameters.

        Args:
            tool: The tool's name, for errors.
            parameters: What a model fills in.
            lenient: Whether values that almost fit are made to fit.

        Raises:
            InvalidToolFunction: A parameter has a type that JSON cannot be decoded into.
        """
        self._tool = tool
        self._parameters = {one.name: one for one in parameters}
        self._lenient = lenient
        for one in parameters:
            _check(tool, one)
        self._model = msgspec.defstruct(
            f"{tool}_arguments",
            # A default marks what may be left out; the function knows its own.
            [(one.name, one.type, *(() if one.required else (UNSET,))) for one in parameters],
            kw_only=True,
            forbid_unknown_fields=True,
        )
        self._decoder = msgspec.json.Decoder(self._model, dec_hook=decode_foreign)
        self._names = tuple(self._parameters)

    def schema(self, descriptions: Mapping[str, str]) -> dict[str, JsonValue]:
        """Write the JSON Schema of all arguments: an object, `$defs` at its top.

        Args:
            descriptions: Texts for parameters whose annotation has none; names that are no
                parameter are passed over.
        """
        foreign: dict[str, JsonValue] = {}
        (reference,), definitions = msgspec.json.schema_components(
            [self._model],
            schema_hook=lambda kind: schema_of_foreign(kind, foreign),
            ref_template=_REFERENCE,
        )
        own = definitions.pop(reference["$ref"].removeprefix(_REFERENCE.format(name="")))
        properties: dict[str, Any] = own["properties"]
        for name, one in self._parameters.items():
            text = one.description or descriptions.get(name)
            if text:
                properties[name] = {**properties[name], "description": text}
            if not one.required and (default := _written(one.default)) is not None:
                properties[name]["default"] = default
        schema: dict[str, JsonValue] = {
            "type": "object",
            "properties": properties,
            "required": own.get("required", []),
            "additionalProperties": False,
        }
        if definitions or foreign:
            schema["$defs"] = {**definitions, **foreign}
        return schema

    def decode(self, given: Mapping[str, JsonValue]) -> dict[str, Any]:
        """Decode arguments into what the function takes, by name.

        What comes out shares nothing with `given`, so a function may change its arguments.

        Raises:
            InvalidToolInput: They do not fit.
        """
        try:
            written = to_json(given)
        except (TypeError, ValueError) as error:
            raise InvalidToolInput(f"The arguments are not JSON: {error}") from None
        try:
            decoded = self._decoder.decode(written)
        except msgspec.ValidationError:
            return self._decode_each(written)
        return {
            name: value for name in self._names if (value := getattr(decoded, name)) is not UNSET
        }

    def _decode_each(self, written: bytes) -> dict[str, Any]:
        """Decode parameter by parameter, so that every misfit can be mended or told."""
        given: dict[str, Any] = msgspec.json.decode(written)
        decoded: dict[str, Any] = {}
        errors: dict[str, str] = {}
        for name, one in self._parameters.items():
            if name not in given:
                if one.required:
                    errors[name] = "is required"
                continue
            try:
                decoded[name] = fit(given[name], one.type, lenient=self._lenient)
            except msgspec.ValidationError as error:
                # Many hosts fill in null for whatever is not given.
                if given[name] is not None or one.required:
                    errors |= dict([_told(name, str(error))])
        known = ", ".join(self._names) or "none"
        for name in [one for one in given if one not in self._parameters]:
            errors[name] = f"is not a parameter (there are: {known})"
        if errors:
            raise misfits(self._tool, errors, written)
        return decoded


def _check(tool: str, parameter: Parameter) -> None:
    """Find out now, and by name, whether a type can be decoded and described."""
    try:
        msgspec.json.Decoder(parameter.type, dec_hook=decode_foreign)
        msgspec.json.schema_components(
            [parameter.type],
            schema_hook=lambda kind: schema_of_foreign(kind, {}),
            ref_template=_REFERENCE,
        )
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidToolFunction(
            tool,
            f"its type {parameter.type!r} cannot be read from JSON: {reason}",
            parameter=parameter.name,
        ) from None


def _written(default: Any) -> JsonValue:
    """Write a default for the schema; None where it cannot, or need not, be written."""
    try:
        written: JsonValue = msgspec.json.decode(to_json(default))
    except Exception:
        return None
    return written


def _told(name: str, message: str) -> tuple[str, str]:
    path, what = split_error(message)
    where = f"{name}.{path}" if path else name
    if field := _FIELD_ERROR.fullmatch(what):
        where = f"{where}.{field[2]}"
        what = "is required" if field["what"].startswith("missing") else "is not known"
    return where, what
