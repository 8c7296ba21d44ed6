"""Tool schemas in which each schema names its type, as Moonshot wants them.

"When using anyOf, type should be defined in anyOf items instead of the parent schema", "type is not
defined", "conflicting keywords found after $ref expansion" (MoonshotAI/kimi-code#2661,
MoonshotAI/kimi-cli#1595, #2061, earendil-works/pi#5822).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentkit_core import JsonValue
from agentkit_providers._protocol_kit._schema_dialects import Schema, without_refs

_LEFT_OUT: Final = ("if", "then", "else", "not", "dependentSchemas")
_ANY: Final[Schema] = {
    "anyOf": [
        {"type": "string"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "object"},
        {"type": "array", "items": {"type": "string"}},
    ]
}
_NAMES: Final = {
    str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"
}  # fmt: skip


def typed_schema(schema: Mapping[str, JsonValue]) -> Schema:
    """Write a schema without references, with a type in each schema and in each alternative."""
    return _typed(without_refs(schema))


def _typed(schema: Mapping[str, JsonValue]) -> Schema:
    typed = {key: value for key, value in schema.items() if key not in _LEFT_OUT}
    if isinstance(alternatives := typed.pop("oneOf", None), list):
        typed.setdefault("anyOf", alternatives)
    if isinstance(merged := typed.pop("allOf", None), list):
        for part in merged:
            if isinstance(part, dict):
                typed = {**part, **typed}
    if isinstance(properties := typed.get("properties"), dict):
        typed["properties"] = {name: _typed_entry(entry) for name, entry in properties.items()}
    for key in ("items", "additionalProperties"):
        if isinstance(typed.get(key), dict):
            typed[key] = _typed_entry(typed[key])
    if isinstance(alternatives := typed.get("anyOf"), list):
        kind = typed.pop("type", None)
        beside = {} if kind is None else {"type": kind}
        typed["anyOf"] = [
            _typed_entry({**beside, **entry}) for entry in alternatives if isinstance(entry, dict)
        ]
    elif "type" not in typed:
        kind = _type_of(typed)
        if kind is None:
            return {**typed, **_ANY}
        typed["type"] = kind
    return typed


def _typed_entry(entry: Any) -> JsonValue:
    return _typed(entry if isinstance(entry, dict) else {})


def _type_of(schema: Mapping[str, JsonValue]) -> str | None:
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, list) and values:
        names = {_NAMES.get(type(value)) for value in values}
        if len(names) == 1:
            return names.pop()
    return None
