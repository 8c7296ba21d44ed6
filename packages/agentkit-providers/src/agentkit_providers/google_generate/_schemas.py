"""JSON Schema in the vendor's older dialect, which is that of OpenAPI 3.0 without references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import JsonValue
from agentkit_providers._protocol_kit._schema_dialects import Schema, without_refs

# fmt: off
_KEPT: Final = frozenset(
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

    References are written out (see `without_refs`), null becomes `nullable`, one constant an
    `enum` of one, `oneOf` becomes `anyOf`; keywords that the dialect does not have are left out.

    Args:
        schema: A JSON Schema; it is not changed.
    """
    return _translated(without_refs(schema))


def _translated(schema: Mapping[str, JsonValue]) -> Schema:
    kept: Schema = {}
    merged = schema.get("allOf")
    for one in merged if isinstance(merged, list) else ():
        if isinstance(one, dict):
            kept |= _translated(one)
    kept |= {key: value for key, value in schema.items() if key in _KEPT}
    alternatives = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(alternatives, list):
        _translate_alternatives(kept, alternatives)
    _translate_type(kept)
    if "const" in schema:
        kept["enum"] = [schema["const"]]
        kept.setdefault("type", "string")
    if isinstance(values := kept.get("enum"), list):
        # The dialect's enums are texts.
        kept["enum"] = [
            one if isinstance(one, str) else str(one) for one in values if one is not None
        ]
        if kept.get("type") in ("integer", "number", "boolean"):
            del kept["enum"]
        else:
            kept["type"] = "string"
    if isinstance(properties := kept.get("properties"), dict):
        kept["properties"] = {
            name: _translated(one) if isinstance(one, dict) else {}
            for name, one in properties.items()
        }
    if isinstance(items := kept.get("items"), dict):
        kept["items"] = _translated(items)
    elif kept.get("type") == "array":
        kept["items"] = {}
    return kept


def _translate_alternatives(kept: Schema, alternatives: list[JsonValue]) -> None:
    written = [_translated(one) for one in alternatives if isinstance(one, dict)]
    rest = [one for one in written if one.get("type") != "null" and one != {"nullable": True}]
    kept.pop("anyOf", None)
    if len(rest) < len(written):
        kept["nullable"] = True
    if len(rest) == 1:
        for key, value in rest[0].items():
            kept.setdefault(key, value)
    elif rest:
        kept["anyOf"] = list[JsonValue](rest)


def _translate_type(kept: Schema) -> None:
    types = kept.get("type")
    if not isinstance(types, list):
        return
    named = [one for one in types if one != "null"]
    if len(named) < len(types):
        kept["nullable"] = True
    if len(named) == 1:
        kept["type"] = named[0]
    else:
        del kept["type"]
        if named:
            kept["anyOf"] = [{"type": one} for one in named]
