"""JSON Schema in the dialects that providers take: without references, and strict.

Pure functions of a schema, which is left as it is. What a dialect cannot say without changing
the meaning is refused with None rather than bent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from agentkit_core import JsonValue

Schema = dict[str, JsonValue]

REPEATS: Final = 1
"""How often `without_refs` writes a definition inside itself before it stops."""
_MOST_NODES: Final = 20_000
"""How large a schema may become: references into references multiply."""

_DEFINITIONS: Final = ("$defs", "definitions")
_OF_SCHEMAS: Final = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
"""Keywords whose value holds schemas by name; names there are no keywords."""
_AS_THEY_ARE: Final = ("const", "default", "enum", "example", "examples", "required")
"""Keywords whose value is data and no schema."""


def without_refs(schema: Mapping[str, JsonValue], *, repeats: int = REPEATS) -> Schema:
    """Write every reference out, for dialects that have none.

    A definition that contains itself is written inside itself `repeats` times and then ends as
    a plain object, `{"type": "object"}`; so does what would make the schema too large, and a
    reference that leads nowhere. What stands beside a reference (a description, a default)
    stays, and goes before what the definition says.

    Args:
        schema: A JSON Schema; it is not changed.
        repeats: How often a definition is written inside itself.

    Returns:
        An equal schema without `$ref`, `$defs` and `definitions`.
    """
    return _Inlining(schema, repeats).written(schema, ())


class _Inlining:
    def __init__(self, root: Mapping[str, JsonValue], repeats: int) -> None:
        self._root = root
        self._repeats = repeats
        self._nodes = 0

    def written(self, schema: Mapping[str, JsonValue], inside: tuple[str, ...]) -> Schema:
        self._nodes += 1
        rest = {
            key: self._value(key, value, inside)
            for key, value in schema.items()
            if key not in _DEFINITIONS and key != "$ref"
        }
        ref = schema.get("$ref")
        if not isinstance(ref, str):
            return rest
        found = self._definition(ref)
        again = inside.count(ref) > self._repeats
        if found is None or again or self._nodes > _MOST_NODES:
            return {"type": "object", **rest}
        return {**self.written(found, (*inside, ref)), **rest}

    def _value(self, key: str, value: JsonValue, inside: tuple[str, ...]) -> JsonValue:
        if key in _AS_THEY_ARE:
            return value
        if isinstance(value, list):
            return [self.written(one, inside) if isinstance(one, dict) else one for one in value]
        if not isinstance(value, dict):
            return value
        if key in _OF_SCHEMAS:
            return {
                name: self.written(one, inside) if isinstance(one, dict) else one
                for name, one in value.items()
            }
        return self.written(value, inside)

    def _definition(self, ref: str) -> Mapping[str, JsonValue] | None:
        """Follow a reference inside the schema; others are not looked up."""
        if not ref.startswith("#"):
            return None
        found: Any = self._root
        for step in filter(None, ref[1:].split("/")):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            elif isinstance(found, dict) and name in found:
                found = found[name]
            else:
                return None
        return found if isinstance(found, dict) else None


_STRICT_FORMATS: Final = frozenset(
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]
)
# fmt: off
_STRICT_KEYWORDS: Final = frozenset(
    [
        "type", "properties", "required", "additionalProperties", "items", "enum", "const",
        "anyOf", "$ref", "$defs", "definitions", "title", "description", "pattern", "format",
        "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "minItems",
        "maxItems",
    ]
)
# fmt: on
_DROPPED: Final = frozenset(("default", "examples", "example", "$schema", "$comment", "deprecated"))
"""Keywords that say nothing of which values are valid."""


class _NotStrict(Exception):
    pass


def strict_schema(schema: Mapping[str, JsonValue]) -> Schema | None:
    """Write a schema so that a provider can follow it to the letter.

    In every object all properties are required and no others are allowed; a property that was
    optional may be null instead, and whoever takes the arguments reads null as "not given".

    Args:
        schema: The JSON Schema of an object; it is not changed.

    Returns:
        The strict form; None where there is none that means the same: free-form objects, values
        of any type, `oneOf`, `allOf` of several, `not`, formats and keywords that strict mode
        does not have. Strict mode is off then, for this schema only.
    """
    try:
        strict = _strict(dict(schema))
    except (_NotStrict, RecursionError):
        return None
    return strict if strict.get("type") == "object" and "anyOf" not in strict else None


def _strict(schema: JsonValue) -> Schema:
    if not isinstance(schema, dict):
        raise _NotStrict
    kept = {key: value for key, value in schema.items() if key not in _DROPPED}
    merged = kept.pop("allOf", None)
    if merged is not None:
        if not (isinstance(merged, list) and len(merged) == 1 and isinstance(merged[0], dict)):
            raise _NotStrict
        if set(merged[0]) & set(kept) - {"title", "description"}:
            raise _NotStrict
        kept = {**merged[0], **kept}
        kept = {key: value for key, value in kept.items() if key not in _DROPPED}
    if set(kept) - _STRICT_KEYWORDS:
        raise _NotStrict
    if "format" in kept and kept["format"] not in _STRICT_FORMATS:
        raise _NotStrict
    for name in _DEFINITIONS:
        if isinstance(definitions := kept.get(name), dict):
            kept[name] = {key: _strict(one) for key, one in definitions.items()}
    if "$ref" in kept:
        return _strict_ref(kept)
    if isinstance(alternatives := kept.get("anyOf"), list):
        kept["anyOf"] = [_strict(one) for one in alternatives]
    types = kept.get("type")
    if types is None and not {"anyOf", "enum", "const"} & set(kept):
        raise _NotStrict
    named = types if isinstance(types, list) else [types]
    if "object" in named or "properties" in kept:
        _close_object(kept)
    if "array" in named:
        kept["items"] = _strict(kept.get("items"))
    return kept


def _strict_ref(schema: Schema) -> Schema:
    """A reference may have nothing beside it; what describes it goes around it."""
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
    if "properties" not in schema and "additionalProperties" not in schema:
        raise _NotStrict  # any object at all
    wanted = schema.get("required", [])
    required = set(map(str, wanted)) if isinstance(wanted, list) else set()
    if required - set(properties):
        raise _NotStrict
    schema["properties"] = {
        name: _strict(one) if name in required else _nullable(_strict(one))
        for name, one in properties.items()
    }
    schema["required"] = list(properties)
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
