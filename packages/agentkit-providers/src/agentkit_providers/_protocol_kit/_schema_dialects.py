"""JSON Schema in the dialects that providers accept: without references, and strict.

Pure functions, which do not change the schema that they are given. Where a dialect cannot express a
schema without changing its meaning, the result is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from agentkit_core import JsonValue

Schema = dict[str, JsonValue]

REPEATS: Final = 1
"""How often `without_refs` writes a definition inside itself before it stops."""
_MAX_NODES: Final = 20_000
"""How many schemas the result may hold: references within references multiply."""

_DEFINITIONS: Final = ("$defs", "definitions")
_NAMED_SCHEMAS: Final = (
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
)
"""Keywords whose value holds schemas by name; the names are not keywords."""
_DATA: Final = ("const", "default", "enum", "example", "examples", "required")
"""Keywords whose value is data, not a schema."""


def without_refs(schema: Mapping[str, JsonValue], *, repeats: int = REPEATS) -> Schema:
    """Replace every reference by its definition, for dialects without references.

    A definition that contains itself is written inside itself `repeats` times; the next reference
    to it becomes a plain object, `{"type": "object"}`. So does a reference that would make the
    schema too large, or that leads nowhere. Keywords beside a reference (a description, a default)
    are kept, and win over those of the definition.

    Args:
        schema: A JSON Schema.
        repeats: How often a definition is written inside itself.

    Returns:
        An equal schema without `$ref`, `$defs` and `definitions`.
    """
    return _Inliner(schema, repeats).inline(schema, ())


class _Inliner:
    def __init__(self, root: Mapping[str, JsonValue], repeats: int) -> None:
        self._root = root
        self._repeats = repeats
        self._nodes = 0

    def inline(self, schema: Mapping[str, JsonValue], inside: tuple[str, ...]) -> Schema:
        self._nodes += 1
        rest = {
            key: self._value(key, value, inside)
            for key, value in schema.items()
            if key not in _DEFINITIONS and key != "$ref"
        }
        ref = schema.get("$ref")
        if not isinstance(ref, str):
            return rest
        definition = self._definition(ref)
        repeats_too_often = inside.count(ref) > self._repeats
        if definition is None or repeats_too_often or self._nodes > _MAX_NODES:
            return {"type": "object", **rest}
        return {**self.inline(definition, (*inside, ref)), **rest}

    def _value(self, key: str, value: JsonValue, inside: tuple[str, ...]) -> JsonValue:
        if key in _DATA:
            return value
        if isinstance(value, list):
            return [self._inline_if_schema(entry, inside) for entry in value]
        if not isinstance(value, dict):
            return value
        if key in _NAMED_SCHEMAS:
            return {name: self._inline_if_schema(entry, inside) for name, entry in value.items()}
        return self.inline(value, inside)

    def _inline_if_schema(self, value: JsonValue, inside: tuple[str, ...]) -> JsonValue:
        return self.inline(value, inside) if isinstance(value, dict) else value

    def _definition(self, ref: str) -> Mapping[str, JsonValue] | None:
        """Follow a reference inside the schema; None where it leads nowhere, or outside."""
        if not ref.startswith("#"):
            return None
        node: Any = self._root
        for step in filter(None, ref[1:].split("/")):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and name.isdecimal() and int(name) < len(node):
                node = node[int(name)]
            elif isinstance(node, dict) and name in node:
                node = node[name]
            else:
                return None
        return node if isinstance(node, dict) else None


_STRICT_FORMATS: Final = frozenset(
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]
)
# fmt: off
_STRICT_KEYWORDS: Final = frozenset(
    [
        "type", "properties", "required", "additionalProperties", "items", "enum", "const",
        "anyOf", "$ref", "$defs", "definitions", "title", "description", "pattern", "format",
        "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "minItems",
        "maxItems", "minLength", "maxLength",
    ]
)
# fmt: on
_DROPPED: Final = frozenset(("default", "examples", "example", "$schema", "$comment", "deprecated"))
"""Keywords that do not affect which values are valid."""


class _NotStrict(Exception):
    pass


def strict_schema(
    schema: Mapping[str, JsonValue], *, optional_as_null: bool = True
) -> Schema | None:
    """Write a schema in the strict dialect, in which providers guarantee that arguments fit.

    In every object all properties are required and no others are allowed. A property that was
    optional may be null instead; the reader of the arguments takes null as "not given".

    Args:
        schema: The JSON Schema of an object.
        optional_as_null: Whether optional properties may become required ones that may be null;
            else a schema with optional properties has no strict form.

    Returns:
        The strict form; None where no strict form means the same: for free-form objects, values of
        any type, `oneOf`, `allOf` of several, `not`, and formats and keywords that strict mode does
        not have.
    """
    top = dict(schema)
    if top.get("properties") == {} and "additionalProperties" not in top:
        top["additionalProperties"] = False  # a tool without arguments
    try:
        result = _strict(top)
    except (_NotStrict, RecursionError):
        return None
    if result.get("type") != "object" or "anyOf" in result:
        return None
    if not optional_as_null and not _requires_all(dict(schema)):
        return None
    return result


def strict_or_same(
    schema: Mapping[str, JsonValue], *, optional_as_null: bool = True
) -> Mapping[str, JsonValue] | None:
    """Do the same as `strict_schema`, but leave a schema as it is that differs in notes only."""
    strict = strict_schema(schema, optional_as_null=optional_as_null)
    return schema if strict == _without_notes(dict(schema)) else strict


def _without_notes(schema: JsonValue) -> JsonValue:
    """A schema without the keywords that do not affect which values are valid."""
    if isinstance(schema, list):
        return [_without_notes(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _without_notes(entry) for name, entry in value.items()}
        if key in _NAMED_SCHEMAS and isinstance(value, dict)
        else value
        if key in _DATA
        else _without_notes(value)
        for key, value in schema.items()
        if key not in _DROPPED
    }


def _requires_all(schema: JsonValue) -> bool:
    """Whether no schema inside a schema has an optional property."""
    if isinstance(schema, list):
        return all(map(_requires_all, schema))
    if not isinstance(schema, dict):
        return True
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict):
        names = required if isinstance(required, list) else []
        if any(name not in names for name in properties):
            return False
    return all(_requires_all(value) for key, value in schema.items() if key not in _DATA)


def _strict(schema: JsonValue) -> Schema:
    if not isinstance(schema, dict):
        raise _NotStrict
    strict = {key: value for key, value in schema.items() if key not in _DROPPED}
    merged = strict.pop("allOf", None)
    if merged is not None:
        if not (isinstance(merged, list) and len(merged) == 1 and isinstance(merged[0], dict)):
            raise _NotStrict
        if set(merged[0]) & set(strict) - {"title", "description"}:
            raise _NotStrict
        strict = {**merged[0], **strict}
        strict = {key: value for key, value in strict.items() if key not in _DROPPED}
    if set(strict) - _STRICT_KEYWORDS:
        raise _NotStrict
    if "format" in strict and strict["format"] not in _STRICT_FORMATS:
        raise _NotStrict
    for name in _DEFINITIONS:
        if isinstance(definitions := strict.get(name), dict):
            strict[name] = {key: _strict(entry) for key, entry in definitions.items()}
    if "$ref" in strict:
        return _strict_ref(strict)
    if isinstance(alternatives := strict.get("anyOf"), list):
        strict["anyOf"] = [_strict(alternative) for alternative in alternatives]
    types = strict.get("type")
    if types is None and not {"anyOf", "enum", "const"} & set(strict):
        raise _NotStrict
    named = types if isinstance(types, list) else [types]
    if "object" in named or "properties" in strict:
        _close_object(strict)
    if "array" in named:
        strict["items"] = _strict(strict.get("items"))
    return strict


def _strict_ref(schema: Schema) -> Schema:
    """A strict reference has no keywords beside it, so its description goes around it."""
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    if not beside:
        return schema
    if set(beside) - {"title", "description", *_DEFINITIONS}:
        raise _NotStrict
    return {**beside, "anyOf": [{"$ref": schema["$ref"]}]}


def _close_object(schema: Schema) -> None:
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or schema.get("additionalProperties", False) is not False:
        raise _NotStrict
    if not properties and "additionalProperties" not in schema:
        raise _NotStrict  # any object at all: closed, only {} would be valid
    wanted = schema.get("required", [])
    required = set(map(str, wanted)) if isinstance(wanted, list) else set()
    if required - set(properties):
        raise _NotStrict
    schema["properties"] = {
        name: _strict(value) if name in required else _nullable(_strict(value))
        for name, value in properties.items()
    }
    schema["required"] = wanted if required == set(properties) else list(properties)
    schema["additionalProperties"] = False


def _nullable(schema: Schema) -> Schema:
    if isinstance(alternatives := schema.get("anyOf"), list):
        if {"type": "null"} in alternatives:
            return schema
        return {**schema, "anyOf": [*alternatives, {"type": "null"}]}
    types = schema.get("type")
    named = types if isinstance(types, list) else [types]
    if "null" in named:
        return schema
    if types is None or "const" in schema or "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    nullable = {**schema, "type": [*named, "null"]}
    if isinstance(values := schema.get("enum"), list):
        nullable["enum"] = [*values, None]
    return nullable
