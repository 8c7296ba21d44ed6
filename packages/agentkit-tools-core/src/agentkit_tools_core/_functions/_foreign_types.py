"""Types that msgspec does not support: paths, and classes with a schema of their own.

Such classes are recognized by pydantic's methods (`model_json_schema`, `model_validate`), so that
pydantic does not have to be imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Any

import msgspec

from agentkit_core import JsonValue
from agentkit_tools_core._functions._foreign_kinds import ForeignKind, merge_definitions

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
    if isinstance(kind, type) and issubclass(kind, ForeignKind):
        own: dict[str, JsonValue] = merge_definitions(kind.describe(), definitions)
        return own
    describe = getattr(kind, "model_json_schema", None)
    if describe is None:
        # Not NotImplementedError: msgspec would explain how to configure msgspec.
        raise TypeError("use a dataclass, a TypedDict or a class with a schema of its own")
    schema: dict[str, JsonValue] = merge_definitions(deepcopy(describe()), definitions)
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
    if isinstance(kind, type) and issubclass(kind, ForeignKind):
        return kind.read(value)
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


def encode_argument(value: Any, *, in_order: bool = False, reveal: bool = True) -> JsonValue:
    """Return a decoded argument as JSON, so that decoding it gives an equal value.

    Args:
        value: The value.
        in_order: Whether mappings keep their order. Otherwise they are sorted, like sets, whose
            order differs from process to process.
        reveal: Whether secrets are written, which a tool has to get; otherwise they are an error.

    Raises:
        TypeError: The value, or something in it, cannot be written as JSON.
    """
    if not in_order:
        _set_defaults(value)
    encoded: JsonValue = msgspec.to_builtins(
        value,
        enc_hook=_reveal_foreign if reveal else _encode_foreign,
        str_keys=True,
        order=None if in_order else "deterministic",
    )
    return encoded


def _set_defaults(value: Any) -> None:
    # msgspec leaves the defaults of a dataclass to the class, and does not write them then.
    if isinstance(value, dict):
        members: Iterable[Any] = value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        members = value
    elif isinstance(value, msgspec.Struct):
        members = [getattr(value, name) for name in value.__struct_fields__]
    elif is_dataclass(value) and not isinstance(value, type):
        own = vars(value) if hasattr(value, "__dict__") else None
        members = []
        for field in fields(value):
            if not hasattr(value, field.name):
                continue
            member = getattr(value, field.name)
            members.append(member)
            if own is not None:
                own.setdefault(field.name, member)
    else:
        return
    for member in members:
        _set_defaults(member)


def _reveal_foreign(value: Any) -> Any:
    reveal = getattr(value, "get_secret_value", None)
    return _encode_foreign(value) if reveal is None else reveal()


def _encode_foreign(value: Any) -> Any:
    if isinstance(value, PurePath):
        return str(value)
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError(f"{type(value).__name__} cannot be written as JSON")
    return dump(mode="python", by_alias=True, round_trip=True)


def json_type(value: object) -> str:
    """Return msgspec's name of a value's JSON type: null, bool, int, float, str, array, object."""
    if value is None:
        return "null"
    names: dict[type, str] = {list: "array", dict: "object"}
    return names.get(type(value), type(value).__name__)


def _is_path(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, PurePath)
