"""Checks arguments against a JSON Schema; needs the extra `jsonschema`.

For tools with a schema instead of types: `SchemaTool(…, validate=validator(schema))`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NoReturn

from agentkit_core import JsonValue, to_json
from agentkit_tools_core._errors import InvalidToolInput
from agentkit_tools_core._functions._argument_errors import validation_error
from agentkit_tools_core._functions._schema_tool import Validate
from agentkit_tools_core._log import logger

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
    """Make a function that checks arguments against a JSON Schema, of any draft up to 2020-12.

    Nothing is ever fetched: a schema with a `$ref` to another document cannot be used. For a schema
    that cannot be used, or is not valid, one warning is logged, and the function accepts all
    arguments: the tool can then check them itself, instead of being impossible to call.

    Args:
        schema: The schema of the arguments; it is copied.
        tool: The tool's name, for the errors and the warning.

    Returns:
        The function. It raises `InvalidToolInput`, whose message names at most five places, each
        by its path (`edits.0.old_text`, or `root`); `paths` contains all of them.
    """
    try:
        compiled = jsonschema_rs.validator_for(dict(schema), retriever=_refuse_to_fetch)
    except ValueError as error:
        _warn(tool, error)
        return _accept_all

    def check(arguments: Mapping[str, JsonValue]) -> None:
        errors: dict[str, str] = {}
        try:
            for error in compiled.iter_errors(dict(arguments)):
                path, what = _describe(error)
                errors[path] = f"{errors[path]}; {what}" if path in errors else what
        except ValueError as error:  # a number outside the range of the checker
            raise InvalidToolInput(f"The arguments cannot be checked: {error}") from None
        if errors:
            raise validation_error(tool, errors, to_json(arguments))

    return check


def _describe(error: jsonschema_rs.ValidationError) -> tuple[str, str]:
    path = [str(step) for step in error.instance_path]
    what = error.message
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required):
        # The place is the missing property, not the object that lacks it.
        path.append(str(error.kind.property))
        what = "is required"
    if len(what) > _MAX_MESSAGE:
        what = what[:_MAX_MESSAGE] + "…"
    return ".".join(path) or "root", what


def _refuse_to_fetch(uri: str) -> NoReturn:
    raise ValueError(f"it refers to another document, {uri}, which is not fetched")


def _accept_all(arguments: Mapping[str, JsonValue]) -> None:
    pass


def _warn(tool: str | None, error: Exception) -> None:
    subject = "a schema" if tool is None else f"the schema of tool {tool!r}"
    reason = str(error).partition("\n")[0]
    logger().warning("%s cannot be used, so the arguments are not checked: %s", subject, reason)
