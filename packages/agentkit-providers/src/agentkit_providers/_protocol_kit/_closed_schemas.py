"""JSON Schema in Anthropic's dialect, for answers by schema and for strict tools.

From https://platform.claude.com/docs/en/build-with-claude/structured-outputs (JSON Schema
limitations): every object is closed; there are no limits on numbers, texts and lists but `minItems`
of 0 and 1, no recursion, no references outside, no enums of objects; at most 24 optional arguments
and 16 unions in a request. See also BerriAI/litellm#35811 and ax-llm/ax#458.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from agentkit_core import JsonValue
from agentkit_providers._protocol_kit._schema_dialects import Schema

# fmt: off
_KEPT: Final = frozenset(
    ["type", "title", "description", "enum", "const", "default", "properties", "required", "items",
     "anyOf", "additionalProperties", "format", "minItems", "$defs", "definitions"]
)
_FORMATS: Final = frozenset(
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]
)
_UNSAYABLE: Final = (
    "patternProperties", "prefixItems", "unevaluatedProperties", "$dynamicRef", "$recursiveRef",
    "additionalItems", "unevaluatedItems",
)
# fmt: on
_MOST_OPTIONAL: Final = 24
_MOST_UNIONS: Final = 16


class _Unsayable(Exception):
    pass


class Size(Struct):
    """How much of what the vendor counts a request's schemas have.

    Attributes:
        optional: Arguments that are not required.
        unions: Schemas with alternatives.
    """

    optional: int = 0
    unions: int = 0

    @property
    def fits(self) -> bool:
        """Whether the vendor takes so many."""
        return self.optional <= _MOST_OPTIONAL and self.unions <= _MOST_UNIONS


def closed_schema(
    schema: Mapping[str, JsonValue], size: Size | None = None, *, of_tool: bool = False
) -> Schema | None:
    """Write a schema in that dialect.

    Keywords that only narrow what is valid are left out: whoever reads the answer checks them.

    Args:
        schema: A JSON Schema; it is not changed.
        size: What the request's other schemas have; grows by this one. None counts this one only.
        of_tool: Whether it is a tool's; then an object without properties has no arguments.

    Returns:
        The schema in the dialect; None where the dialect cannot say what it means: for objects of
        any content, values of any type, tuples, recursion, and too many alternatives.
    """
    counted = Size() if size is None else Size(size.optional, size.unions)
    writer = _Writer(schema, counted)
    try:
        top = dict(schema)
        if of_tool and top.get("properties") == {}:
            top.setdefault("additionalProperties", False)
        closed = writer.write(top, ())
    except (_Unsayable, RecursionError):
        return None
    if not counted.fits:
        return None
    if size is not None:
        size.optional, size.unions = counted.optional, counted.unions
    return closed


class _Writer:
    def __init__(self, root: Mapping[str, JsonValue], size: Size) -> None:
        self._root = root
        self._size = size

    def write(self, schema: Any, inside: tuple[str, ...]) -> Schema:
        if not isinstance(schema, dict) or any(name in schema for name in _UNSAYABLE):
            raise _Unsayable
        source = _without_all_of(schema)
        if isinstance(ref := source.get("$ref"), str):
            return self._reference(ref, source, inside)
        closed = {key: value for key, value in source.items() if key in _KEPT}
        if isinstance(alternatives := source.get("oneOf"), list) and "anyOf" not in closed:
            closed["anyOf"] = alternatives
        for key in ("$defs", "definitions"):
            if isinstance(definitions := closed.get(key), dict):
                closed[key] = {
                    name: self.write(entry, (*inside, f"#/{key}/{name}"))
                    for name, entry in definitions.items()
                }
        if isinstance(alternatives := closed.get("anyOf"), list):
            self._size.unions += 1
            closed["anyOf"] = [self.write(entry, inside) for entry in alternatives]
        self._check_values(closed)
        if closed.get("format") not in _FORMATS:
            closed.pop("format", None)
        if closed.get("minItems") not in (0, 1):
            closed.pop("minItems", None)
        types = closed.get("type")
        named = types if isinstance(types, list) else [types]
        if isinstance(types, list) and len(types) > 1:
            self._size.unions += 1
        if types is None and not {"anyOf", "enum", "const", "properties"} & set(closed):
            raise _Unsayable  # any value
        if "object" in named or "properties" in closed:
            self._close(closed, source, inside)
        if "array" in named:
            closed["items"] = self.write(closed.get("items"), inside)
        return closed

    def _reference(self, ref: str, schema: Schema, inside: tuple[str, ...]) -> Schema:
        if not ref.startswith(("#/$defs/", "#/definitions/")) or ref in inside:
            raise _Unsayable  # outside, or recursive
        target: Any = self._root
        for step in ref[2:].split("/"):
            target = target.get(step) if isinstance(target, dict) else None
        self._check_recursion(target, (*inside, ref))
        written: Schema = {"$ref": ref}
        for key in ("$defs", "definitions"):
            if isinstance(definitions := schema.get(key), dict):
                written[key] = {
                    name: self.write(entry, (*inside, f"#/{key}/{name}"))
                    for name, entry in definitions.items()
                }
        return written

    def _check_recursion(self, node: Any, inside: tuple[str, ...]) -> None:
        """Raise where a definition leads to itself, or nowhere."""
        if node is None:
            raise _Unsayable
        if isinstance(node, list):
            for entry in node:
                self._check_recursion(entry if entry is not None else {}, inside)
        if not isinstance(node, dict):
            return
        ref = node.get("$ref")
        if isinstance(ref, str):
            if ref in inside:
                raise _Unsayable
            self._reference(ref, {}, inside)
        for key, value in node.items():
            if key not in ("enum", "const", "default", "examples") and value is not None:
                self._check_recursion(value, inside)

    def _close(self, closed: Schema, source: Schema, inside: tuple[str, ...]) -> None:
        properties = closed.get("properties", {})
        if not isinstance(properties, dict):
            raise _Unsayable
        is_closed = source.get("additionalProperties") is False
        if source.get("additionalProperties", False) is not False or not (properties or is_closed):
            raise _Unsayable  # an object of any content
        closed["properties"] = {
            name: self.write(entry, inside) for name, entry in properties.items()
        }
        wanted = closed.pop("required", None)
        names = wanted if isinstance(wanted, list) else []
        required: list[JsonValue] = [name for name in names if name in properties]
        if required:
            closed["required"] = required
        self._size.optional += len(properties) - len(set(map(str, required)))
        closed["additionalProperties"] = False

    def _check_values(self, closed: Schema) -> None:
        values = closed.get("enum", [])
        constant = closed.get("const")
        if any(isinstance(value, dict | list) for value in (*_entries(values), constant)):
            raise _Unsayable


def _without_all_of(schema: Schema) -> Schema:
    parts = schema.get("allOf")
    if parts is None:
        return schema
    rest = {key: value for key, value in schema.items() if key != "allOf"}
    if not isinstance(parts, list) or len(parts) != 1 or not isinstance(parts[0], dict):
        raise _Unsayable
    if "$ref" in parts[0] and set(rest) - {"title", "description", "default"}:
        raise _Unsayable
    return {**parts[0], **rest}


def _entries(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
