"""Types that msgspec does not support: paths, and classes with a schema of their own.

Such classes are recognized by pydantic's methods (`model_json_schema`, `model_validate`), so that
pydantic does not have to be imported.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from agentkit_core import JsonValue

_TYPE_ERROR = "Expected `{}`, got `{}`"


def schema_of_foreign(kind: Any, definitions: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the JSON Schema of a path type or of a class with its own schema.

    Args:
        kind: The type.
        definitions: The function adds the schemas that the result refers to as `#/$defs/<name>`.

    Raises:
        TypeError: The type is neither a path nor a class with a schema.
    """
    if _is_path(kind):
        return {"type": "string"}
    describe = getattr(kind, "model_json_schema", None)
    if describe is None:
        # Not NotImplementedError: msgspec would explain how to configure msgspec.
        raise TypeError("use a dataclass, a TypedDict or a class with a schema of its own")
    schema: dict[str, JsonValue] = dict(describe())
    definitions |= schema.pop("$defs", {})  # type: ignore[arg-type]
    return schema


def decode_foreign(kind: Any, value: Any) -> Any:
    """Convert a JSON value to a path or to an object of a class with its own schema.

    Raises:
        NotImplementedError: The type is neither a path nor a class with a schema.
        TypeError: The value has the wrong JSON type.
        ValueError: The value is not valid.
    """
    if _is_path(kind):
        if isinstance(value, str):
            return kind(value)
        raise TypeError(_TYPE_ERROR.format("str", json_type(value)))
    validate = getattr(kind, "model_validate", None)
    if validate is None:
        raise NotImplementedError
    try:
        return validate(value)
    except ValueError:
        if isinstance(value, str):
            # The wording of msgspec, which `_coercion` understands: the text may be JSON.
            raise TypeError(_TYPE_ERROR.format("object", "str")) from None
        raise


def json_type(value: object) -> str:
    """Return msgspec's name of a value's JSON type: null, bool, int, float, str, array, object."""
    if value is None:
        return "null"
    names: dict[type, str] = {list: "array", dict: "object"}
    return names.get(type(value), type(value).__name__)


def _is_path(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, PurePath)
