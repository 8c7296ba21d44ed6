"""agentkit_tools_core.jsonschema: arguments checked by a JSON Schema; needs the extra.

For tools that bring a schema instead of types: `SchemaTool(…, validate=validator(schema))`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NoReturn

from agentkit_core import JsonValue, to_json
from agentkit_tools_core._errors import InvalidToolInput
from agentkit_tools_core._functions._argument_errors import misfits
from agentkit_tools_core._functions._schema_tool import Validate

try:
    import jsonschema_rs
except ImportError as error:
    raise ImportError(
        "agentkit_tools_core.jsonschema needs jsonschema-rs: "
        "pip install 'agentkit-tools-core[jsonschema]'"
    ) from error

__all__ = ["validator"]

_MAX_MESSAGE: Final = 300


def validator(schema: Mapping[str, JsonValue], *, tool: str | None = None) -> Validate:
    """Make a check of a JSON Schema, of any draft up to 2020-12.

    Nothing is ever fetched: a `$ref` to another document makes a schema that cannot be used. Of
    such a schema, and of any other that is broken, one warning is logged, and the check lets
    everything pass: better a call whose tool judges it than a tool that can never be called.

    Args:
        schema: The schema of the arguments; a copy is kept.
        tool: The tool's name, for the errors and the warning.

    Returns:
        The check. It raises `InvalidToolInput`, which names at most five places, each by the
        path to it (`edits.0.old_text`, or `root`); `paths` has all of them.
    """
    try:
        compiled = jsonschema_rs.validator_for(dict(schema), retriever=_refuse)
    except ValueError as error:
        _warn(tool, error)
        return _anything

    def check(given: Mapping[str, JsonValue]) -> None:
        errors: dict[str, str] = {}
        try:
            for error in compiled.iter_errors(dict(given)):
                path, what = _told(error)
                errors[path] = f"{errors[path]}; {what}" if path in errors else what
        except ValueError as error:  # a number that it cannot hold
            raise InvalidToolInput(f"The arguments cannot be checked: {error}") from None
        if errors:
            raise misfits(tool, errors, to_json(given))

    return check


def _told(error: jsonschema_rs.ValidationError) -> tuple[str, str]:
    path = [str(one) for one in error.instance_path]
    what = error.message
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required):
        # The place is the property that is missing, not the object that it is missing from.
        path.append(str(error.kind.property))
        what = "is required"
    if len(what) > _MAX_MESSAGE:
        what = what[:_MAX_MESSAGE] + "…"
    return ".".join(path) or "root", what


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is another document, and none is fetched")


def _anything(given: Mapping[str, JsonValue]) -> None:
    pass


def _warn(tool: str | None, error: Exception) -> None:
    import logging  # takes long to load, and a schema that works needs none

    whose = "a schema" if tool is None else f"the schema of tool {tool!r}"
    reason = str(error).partition("\n")[0]
    logging.getLogger("agentkit_tools_core").warning(
        "%s cannot be used, its arguments are not checked: %s", whose, reason
    )
