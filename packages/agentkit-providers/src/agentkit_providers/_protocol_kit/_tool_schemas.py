"""Tool schemas of other people's servers, as the objects that vendors take.

Vendors refuse a whole request for one schema that they do not take: one that is not an object's,
that combines schemas at its top, or that is not valid JSON Schema 2020-12
(anthropics/claude-code#5319, nspady/google-calendar-mcp#39, langchain-ai/langchain#39271). The
functions here do not change the schema that they are given, and return the same object where
nothing has to change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentkit_core import JsonValue, to_json
from agentkit_providers._protocol_kit._schema_dialects import Schema, without_refs

_COMBINATIONS: Final = ("allOf", "anyOf", "oneOf")
_ONLY_INSIDE: Final = ("not", "enum", "const", "if", "then", "else", "dependentSchemas")
"""Keywords that are refused at the top of a schema, or say nothing to a model there."""
_REWRITTEN: Final = frozenset({*_COMBINATIONS, *_ONLY_INSIDE, "$ref"})
_TYPES: Final = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_FOREIGN_TYPES: Final = {
    "int": "integer", "long": "integer", "float": "number", "double": "number", "decimal": "number",
    "str": "string", "text": "string", "bool": "boolean", "dict": "object", "map": "object",
    "list": "array", "tuple": "array", "none": "null",
}  # fmt: skip
"""Words of programming languages that servers write for types."""
_SCHEMAS: Final = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


class NotAnObject(Exception):
    """A tool's schema cannot be written as the schema of an object; the text says why."""


def object_schema(schema: Any) -> Mapping[str, JsonValue]:
    """Write a tool's schema as that of an object, without combinations at its top.

    The arguments of all alternatives become properties. Those that all alternatives require stay
    required, and the description says which go together. The tool still checks what it is given.

    Args:
        schema: What a server says of a tool's arguments.

    Raises:
        NotAnObject: The arguments are no object.
    """
    if schema is None or schema is True:
        schema = {}
    if not isinstance(schema, Mapping):
        raise NotAnObject(f"its schema is {schema!r}")
    valid = valid_schema(schema)
    if "$ref" in valid:
        valid = without_refs(valid)
    if any(name in valid for name in (*_COMBINATIONS, *_ONLY_INSIDE)):
        combined = [valid[name] for name in _COMBINATIONS if name in valid]
        if b'"$ref"' in to_json(combined):
            valid = without_refs(valid)
        valid = _flattened(valid)
    types = valid.get("type")
    if types != "object":
        if types is not None and not (isinstance(types, list) and "object" in types):
            raise NotAnObject(f"its arguments are of type {types!r} and not an object")
        valid = {**valid, "type": "object"}
    return valid


def is_plain_object(schema: Any) -> bool:
    """Whether `object_schema` leaves the arguments of a schema as they are."""
    if not isinstance(schema, Mapping):
        return False
    return schema.get("type") == "object" and not _REWRITTEN.intersection(schema)


def _flattened(schema: Mapping[str, JsonValue]) -> Schema:
    """Merge the combinations at the top of a schema into one object."""
    outer = {
        key: value
        for key, value in schema.items()
        if key not in _COMBINATIONS and key not in _ONLY_INSIDE
    }
    properties = dict(_object(outer.get("properties")))
    required = _names(outer.get("required"))
    closed = outer.get("additionalProperties") is False
    hints: list[str] = []
    for name in _COMBINATIONS:
        branches = [_flattened(entry) for entry in _dicts(schema.get(name))]
        branches = [branch for branch in branches if branch.get("type") != "null"]
        for branch in branches:
            if branch.get("type", "object") != "object":
                raise NotAnObject(f"one of its alternatives is of type {branch['type']!r}")
            for key, value in _object(branch.get("properties")).items():
                properties[key] = _either(properties.get(key), value)
        needs = [_names(branch.get("required")) for branch in branches]
        if name == "allOf":
            required += [key for need in needs for key in need if key not in required]
        elif needs:
            shared = [key for key in needs[0] if all(key in need for need in needs)]
            required += [key for key in shared if key not in required]
            if len(branches) > 1 and any(needs):
                sets = " or ".join(f"({', '.join(need) or 'none'})" for need in needs)
                count = "exactly one" if name == "oneOf" else "at least one"
                hints.append(f"Give {count} of these sets of arguments: {sets}.")
    for name in ("then", "else"):
        for branch in _dicts([schema.get(name)]):
            for key, value in _object(branch.get("properties")).items():
                properties.setdefault(key, value)
    for key in required:
        properties.setdefault(key, {})
    result: Schema = {**outer, "type": outer.get("type", "object"), "properties": properties}
    if required:
        result["required"] = list[JsonValue](required)
    if closed and any(key not in _object(outer.get("properties")) for key in properties):
        # Closed before its alternatives were merged, it had no place for their arguments.
        result["additionalProperties"] = False
    if hints:
        said = outer.get("description")
        result["description"] = " ".join([said, *hints] if isinstance(said, str) else hints)
    return result


def _either(known: JsonValue, other: JsonValue) -> JsonValue:
    """A schema for an argument that two alternatives describe."""
    if known is None or known == other:
        return other
    if other in ({}, None):
        return known
    if known == {}:
        return other
    constants = [_constants(entry) for entry in (known, other)]
    if constants[0] and constants[1]:
        values: list[JsonValue] = [
            *constants[0],
            *(value for value in constants[1] if value not in constants[0]),
        ]
        kept = {key: value for key, value in _object(known).items() if key not in ("const", "enum")}
        merged: Schema = {**kept, "enum": values}
        return merged
    options = _object(known).get("anyOf") if set(_object(known)) == {"anyOf"} else None
    alternatives: list[JsonValue] = list(options) if isinstance(options, list) else [known]
    if other not in alternatives:
        alternatives.append(other)
    return {"anyOf": alternatives}


def _constants(schema: JsonValue) -> list[JsonValue]:
    said = _object(schema)
    values: Any = [said["const"]] if "const" in said else said.get("enum")
    return list(values) if isinstance(values, list) else []


def valid_schema(schema: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Mend what is not JSON Schema 2020-12: older drafts, empty lists of PHP, foreign types.

    Returns:
        A valid schema of the same meaning; the same object where it is valid.
    """
    mended: Schema = {}
    for key, value in schema.items():
        if key in _MAPS:
            if isinstance(value, dict):
                mended[key] = {name: _valid_entry(entry) for name, entry in value.items()}
            else:
                mended[key] = {}  # PHP writes an empty object as a list
        elif key in _LISTS and isinstance(value, list):
            entries = [_valid_entry(entry) for entry in value]
            if entries:
                mended[key] = entries
        elif key == "items" and isinstance(value, list):  # before 2020-12
            if value:
                mended["prefixItems"] = [_valid_entry(entry) for entry in value]
        elif key in _SCHEMAS:
            if value is not None:
                mended[key] = _valid_entry(value)
        elif key == "required":
            names = _names(value)
            if names:
                mended[key] = list[JsonValue](names)
            elif isinstance(value, list):
                mended[key] = value if not value else []
        elif key == "type":
            if (kind := _valid_type(value)) is not None:
                mended[key] = kind
        elif key in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
            limit = key.replace("exclusiveM", "m")
            if value and limit in schema:  # draft 4
                mended[key] = schema[limit]
                mended.pop(limit, None)
        elif key == "enum":
            if isinstance(value, list) and value:
                mended[key] = value
        elif value is not None or key in ("const", "default", "example"):
            mended[key] = value
    for limit in ("minimum", "maximum"):
        if schema.get(limit.replace("m", "exclusiveM", 1)) is True:
            mended.pop(limit, None)
    _mend_required(schema, mended)
    types = mended.get("type")
    if types == "array" and not {"items", "prefixItems"} & set(mended):
        mended["items"] = {}
    return schema if mended == schema and list(mended) == list(schema) else mended


def _mend_required(schema: Mapping[str, JsonValue], mended: Schema) -> None:
    """Draft 3 says at each property whether it is required."""
    properties = _object(schema.get("properties"))
    marked = [name for name, entry in properties.items() if _object(entry).get("required") is True]
    if marked:
        known = _names(mended.get("required"))
        mended["required"] = list[JsonValue]([*known, *(n for n in marked if n not in known)])


def _valid_entry(entry: JsonValue) -> JsonValue:
    if isinstance(entry, dict):
        return dict(valid_schema(entry))
    if isinstance(entry, bool):
        return entry
    return {}


def _valid_type(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        kinds = [kind for entry in value if (kind := _valid_type(entry)) is not None]
        return list(dict.fromkeys(map(str, kinds))) if kinds else None
    if not isinstance(value, str):
        return None
    if value in _TYPES:
        return value
    word = _FOREIGN_TYPES.get(value.lower(), value.lower())
    return word if word in _TYPES else None


def _object(value: Any) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[Schema]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
