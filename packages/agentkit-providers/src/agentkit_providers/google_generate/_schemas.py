"""JSON Schema in the vendor's older dialect, that of OpenAPI 3.0 without references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import JsonValue
from agentkit_providers._protocol_kit._schema_dialects import Schema, without_refs

# fmt: off
_KEYWORDS: Final = frozenset(
    [
        "type", "format", "title", "description", "nullable", "enum", "items", "maxItems",
        "minItems", "properties", "required", "minProperties", "maxProperties", "minLength",
        "maxLength", "pattern", "example", "anyOf", "propertyOrdering", "default", "minimum",
        "maximum",
    ]
)
# fmt: on


def openapi_schema(schema: Mapping[str, JsonValue]) -> Schema:
    """Write a JSON Schema in that dialect.

    References are replaced by their definitions (see `without_refs`), null becomes `nullable`, a
    constant becomes an `enum` with one value, and `oneOf` becomes `anyOf`. Keywords that the
    dialect does not have are left out.

    Args:
        schema: A JSON Schema; it is not changed.
    """
    return _translate(without_refs(schema))


def _translate(schema: Mapping[str, JsonValue]) -> Schema:
    result: Schema = {}
    merged = schema.get("allOf")
    for part in merged if isinstance(merged, list) else ():
        if isinstance(part, dict):
            result |= _translate(part)
    result |= {key: value for key, value in schema.items() if key in _KEYWORDS}
    alternatives = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(alternatives, list):
        _translate_alternatives(result, alternatives)
    _translate_type(result)
    if "const" in schema:
        result["enum"] = [schema["const"]]
        result.setdefault("type", "string")
    if isinstance(values := result.get("enum"), list):
        # Enums of the dialect hold only texts.
        result["enum"] = [
            value if isinstance(value, str) else str(value) for value in values if value is not None
        ]
        if result.get("type") in ("integer", "number", "boolean"):
            del result["enum"]
        else:
            result["type"] = "string"
    if isinstance(properties := result.get("properties"), dict):
        result["properties"] = {
            name: _translate(value) if isinstance(value, dict) else {}
            for name, value in properties.items()
        }
    if isinstance(items := result.get("items"), dict):
        result["items"] = _translate(items)
    elif result.get("type") == "array":
        result["items"] = {}
    return result


def _translate_alternatives(result: Schema, alternatives: list[JsonValue]) -> None:
    schemas = [_translate(schema) for schema in alternatives if isinstance(schema, dict)]
    rest = [
        schema
        for schema in schemas
        if schema.get("type") != "null" and schema != {"nullable": True}
    ]
    result.pop("anyOf", None)
    if len(rest) < len(schemas):
        result["nullable"] = True
    if len(rest) == 1:
        for key, value in rest[0].items():
            result.setdefault(key, value)
    elif rest:
        result["anyOf"] = list[JsonValue](rest)


def _is_null(schema: Schema) -> bool:
    return schema.get("type") == "null" or schema == {"nullable": True}


def _translate_type(result: Schema) -> None:
    types = result.get("type")
    if not isinstance(types, list):
        return
    others = [name for name in types if name != "null"]
    if len(others) < len(types):
        result["nullable"] = True
    if len(others) == 1:
        result["type"] = others[0]
    else:
        del result["type"]
        if others:
            result["anyOf"] = [{"type": name} for name in others]
