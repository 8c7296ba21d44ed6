"""Kinds of types that msgspec cannot decode alone: unions of classes, and types of pydantic.

Each becomes a class of its own, which msgspec hands to `decode_foreign` and `schema_of_foreign`. It
has a schema, and reads a JSON value.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final, get_type_hints, is_typeddict

import msgspec
from msgspec import UNSET

from agentkit_core import JsonValue

FOREIGN: Final = "foreign:"
"""Marks the names of definitions that are not those of msgspec, until all are known."""
REFERENCE: Final = "#/$defs/{name}"
_TEXT_TYPES: Final = ("_type", "model_attributes_type")

_Describe = Callable[[Any, dict[str, JsonValue]], dict[str, JsonValue]]
Hooks = tuple[Callable[[Any, Any], Any], _Describe]
"""`decode_foreign` and `schema_of_foreign`, which use this module."""


class _KindType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        # msgspec checks what `decode_foreign` returns; the members of a union have other classes.
        return True


class ForeignKind(metaclass=_KindType):
    """Base of the classes that stand for such types; they have no instances."""

    strict = False
    """Whether values that almost fit are rejected."""

    @classmethod
    def read(cls, value: Any) -> Any:
        """Read a JSON value.

        Raises:
            TypeError: The value has the wrong JSON type; worded like an error of msgspec.
            ValueError: The value is not valid.
        """
        raise NotImplementedError

    @classmethod
    def describe(cls) -> dict[str, Any]:
        """Return the JSON Schema, with its own `$defs`."""
        raise NotImplementedError


def union_kind(members: tuple[Any, ...], hooks: Hooks) -> type[ForeignKind]:
    """Make a kind for a union of types of which msgspec can tell only one from JSON.

    The member counts that fits and knows most of the keys, of equals the first one.

    Raises:
        TypeError: A member cannot be decoded.
    """
    decode, schema_of = hooks
    schemas = [_schema_of(member, schema_of) for member in members]
    names = " | ".join(getattr(member, "__name__", str(member)) for member in members)

    class Union(ForeignKind):
        @classmethod
        def read(cls, value: Any) -> Any:
            best: tuple[int, Any] | None = None
            problems: list[str] = []
            for member in members:
                try:
                    read = msgspec.convert(deepcopy(value), member, dec_hook=decode)
                except msgspec.ValidationError as error:
                    problems.append(str(error))
                    continue
                unknown = _count_unknown(value, read)
                if best is None or unknown < best[0]:
                    best = unknown, read
            if best is not None:
                return best[1]
            if isinstance(value, str):
                raise TypeError("Expected `array | object | int | float | bool | null`, got `str`")
            raise ValueError(f"fits none of {names}: {'; '.join(dict.fromkeys(problems))}")

        @classmethod
        def describe(cls) -> dict[str, Any]:
            definitions: dict[str, Any] = {}
            options: list[Any] = []
            for schema in schemas:
                options.append(merge_definitions(deepcopy(schema), definitions))
            return {"anyOf": options, "$defs": definitions}

    return Union


def class_kind(kind: Any, fields: Mapping[str, Any], hooks: Hooks) -> type[ForeignKind]:
    """Make a kind for a dataclass or a `TypedDict` with fields that msgspec cannot decode.

    Args:
        kind: The class.
        fields: The converted types of its fields, by name.
        hooks: For the types of the fields.
    """
    decode, schema_of = hooks
    required = _required_fields(kind)
    struct = msgspec.defstruct(
        kind.__name__,
        [(name, type_, *(() if name in required else (UNSET,))) for name, type_ in fields.items()],
        kw_only=True,
    )
    schema = _schema_of(struct, schema_of)

    class Class(ForeignKind):
        @classmethod
        def read(cls, value: Any) -> Any:
            read = msgspec.convert(value, struct, dec_hook=decode)
            values = {
                name: member for name in fields if (member := getattr(read, name)) is not UNSET
            }
            return kind(**values)

        @classmethod
        def describe(cls) -> dict[str, Any]:
            return deepcopy(schema)

    return Class


def pydantic_kind(annotation: Any) -> type[ForeignKind]:
    """Make a kind for a type that only pydantic can read.

    Raises:
        Exception: pydantic cannot read it either.
    """
    # Whoever uses a type of pydantic has imported it.
    pydantic: Any = sys.modules["pydantic"]
    adapter = pydantic.TypeAdapter(annotation)
    schema = adapter.json_schema(ref_template="#/$defs/{model}")

    class Pydantic(ForeignKind):
        @classmethod
        def read(cls, value: Any) -> Any:
            try:
                # As JSON, so that strict reading takes dates and the like as text.
                text = msgspec.json.encode(value)
                return adapter.validate_json(text, strict=True if cls.strict else None)
            except pydantic.ValidationError as error:
                problems = error.errors(include_url=False, include_input=False)
                if isinstance(value, str) and any(
                    problem["type"].endswith(_TEXT_TYPES) for problem in problems
                ):
                    raise TypeError("Expected `array | object`, got `str`") from None
                raise ValueError("; ".join(map(_describe_problem, problems))) from None

        @classmethod
        def describe(cls) -> dict[str, Any]:
            return deepcopy(schema)

    return Pydantic


def fields_of(kind: Any) -> dict[str, Any]:
    """Return the resolved annotations of the fields that a dataclass or a `TypedDict` takes."""
    hints = get_type_hints(kind, include_extras=True)
    if dataclasses.is_dataclass(kind):
        return {field.name: hints[field.name] for field in dataclasses.fields(kind) if field.init}
    return hints


def merge_definitions(schema: Any, definitions: dict[str, Any]) -> Any:
    """Move the `$defs` of a schema to others; a name that is taken by another schema is changed.

    Returns:
        The schema without its `$defs`, with the changed names, all marked as `FOREIGN`.
    """
    own: dict[str, Any] = schema.pop("$defs", {})
    names: dict[str, str] = {}
    for name in own:
        base = new = name if name.startswith(FOREIGN) else FOREIGN + name
        number = 2
        while new in definitions and not _is_same_group(name, own, new, definitions):
            new, number = f"{base}_{number}", number + 1
        names[name] = new
    renamed = {old: new for old, new in names.items() if old != new}
    for name, definition in own.items():
        definitions.setdefault(names[name], _rename(definition, renamed))
    return _rename(schema, renamed)


def join_definitions(
    schema: dict[str, Any], own: Mapping[str, Any], foreign: Mapping[str, Any]
) -> dict[str, Any]:
    """Put the definitions of msgspec and those of other types into one schema.

    References to foreign definitions begin with `FOREIGN` until then, because the two were named
    apart from each other. A name that both have is changed.
    """
    names: dict[str, str] = {}
    for marked in foreign:
        name = base = marked.removeprefix(FOREIGN)
        number = 2
        while name in own or name in names.values():
            name, number = f"{base}_{number}", number + 1
        names[marked] = name
    definitions = {
        **{name: _rename(definition, names) for name, definition in own.items()},
        **{names[marked]: _rename(definition, names) for marked, definition in foreign.items()},
    }
    whole: dict[str, Any] = _rename(dict(schema), names)
    return {**whole, "$defs": definitions} if definitions else whole


def _is_same_group(
    name: str, own: Mapping[str, Any], other: str, definitions: Mapping[str, Any]
) -> bool:
    """Whether two definitions, and all that they refer to, are equal."""
    seen: set[tuple[str, str]] = set()
    waiting = [(name, other)]
    while waiting:
        pair = waiting.pop()
        if pair in seen:
            continue
        seen.add(pair)
        left, right = own.get(pair[0]), definitions.get(pair[1])
        ours, theirs = _references(left), _references(right)
        blank = dict.fromkeys((*ours, *theirs), "")
        if len(ours) != len(theirs) or _rename(left, blank) != _rename(right, blank):
            return False
        waiting += zip(ours, theirs, strict=True)
    return True


def _references(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        reference = schema.get("$ref")
        own = [reference.removeprefix("#/$defs/")] if isinstance(reference, str) else []
        return [*own, *(name for member in schema.values() for name in _references(member))]
    if isinstance(schema, list):
        return [name for member in schema for name in _references(member)]
    return []


def _rename(schema: Any, names: Mapping[str, str]) -> Any:
    if not names:
        return schema
    if isinstance(schema, dict):
        renamed = {key: _rename(member, names) for key, member in schema.items()}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            name = reference.removeprefix("#/$defs/")
            renamed["$ref"] = f"#/$defs/{names.get(name, name)}"
        mapping = schema.get("mapping")
        if isinstance(mapping, dict) and "propertyName" in schema:
            renamed["mapping"] = {
                key: _rename({"$ref": value}, names)["$ref"] for key, value in mapping.items()
            }
        return renamed
    if isinstance(schema, list):
        return [_rename(member, names) for member in schema]
    return schema


def _schema_of(kind: Any, schema_of: _Describe) -> dict[str, Any]:
    foreign: dict[str, JsonValue] = {}
    (schema,), definitions = msgspec.json.schema_components(
        [kind], schema_hook=lambda inner: schema_of(inner, foreign), ref_template=REFERENCE
    )
    return join_definitions(schema, definitions, foreign)


def _required_fields(kind: Any) -> frozenset[str]:
    if is_typeddict(kind):
        return frozenset(kind.__required_keys__)
    missing = dataclasses.MISSING
    return frozenset(
        field.name
        for field in dataclasses.fields(kind)
        if field.default is missing and field.default_factory is missing
    )


def _count_unknown(value: Any, read: Any) -> int:
    """Count the keys of an object that were not read, at any depth that can be compared."""
    if isinstance(value, list) and isinstance(read, (list, tuple)):
        return sum(map(_count_unknown, value, read))
    if not isinstance(value, dict):
        return 0
    if isinstance(read, dict):
        members: Mapping[Any, Any] = read
    elif hasattr(read, "model_dump"):
        members = vars(read)
    elif dataclasses.is_dataclass(read):
        members = {field.name: getattr(read, field.name) for field in dataclasses.fields(read)}
    else:
        names = getattr(read, "__struct_fields__", None) or vars(read)
        members = {name: getattr(read, name) for name in names}
    unknown = sum(key not in members for key in value)
    return unknown + sum(
        _count_unknown(value[key], members[key]) for key in value if key in members
    )


def _describe_problem(problem: Mapping[str, Any]) -> str:
    place = ".".join(map(str, problem["loc"]))
    return f"{place}: {problem['msg']}" if place else str(problem["msg"])
