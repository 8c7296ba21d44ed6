"""Types that msgspec does not know: paths, and classes that bring a schema of their own.

The latter are known by their methods (`model_json_schema`, `model_validate`: pydantic's), so
that nothing has to be imported for them.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from agentkit_core import JsonValue

_MISFIT = "Expected `{}`, got `{}`"


def schema_of_foreign(kind: Any, definitions: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Write the JSON Schema of such a type.

    Args:
        kind: The type.
        definitions: Takes the schemas that the result refers to as `#/$defs/<name>`.

    Raises:
        TypeError: The type is none of these.
    """
    if _is_path(kind):
        return {"type": "string"}
    describe = getattr(kind, "model_json_schema", None)
    if describe is None:
        # Not NotImplementedError: that is answered with how to configure the JSON library.
        raise TypeError("take a dataclass, a TypedDict or a class with a schema of its own")
    schema: dict[str, JsonValue] = dict(describe())
    definitions |= schema.pop("$defs", {})  # type: ignore[arg-type]
    return schema


def decode_foreign(kind: Any, value: Any) -> Any:
    """Make an object of such a type from a JSON value.

    Raises:
        NotImplementedError: The type is none of these.
        TypeError: The value is of the wrong JSON type.
        ValueError: The value does not fit.
    """
    if _is_path(kind):
        if isinstance(value, str):
            return kind(value)
        raise TypeError(_MISFIT.format("str", json_type(value)))
    validate = getattr(kind, "model_validate", None)
    if validate is None:
        raise NotImplementedError
    try:
        return validate(value)
    except ValueError:
        if isinstance(value, str):
            # In the words that are understood where misfits are mended: it may be JSON.
            raise TypeError(_MISFIT.format("object", "str")) from None
        raise


def json_type(value: object) -> str:
    """Name the JSON type of a value as msgspec does: null bool int float str array object."""
    if value is None:
        return "null"
    names: dict[type, str] = {list: "array", dict: "object"}
    return names.get(type(value), type(value).__name__)


def _is_path(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, PurePath)
