"""Converts annotations to types that can be decoded from JSON.

    annotation                            decoded as
    Iterable[T]                           list[T]
    object                                Any
    str | Path                            str
    datetime, time                        the same; the schema says which format
    Annotated[T, Ge(1), MaxLen(3), …]     Annotated[T, msgspec.Meta(ge=1, max_length=3)]
    Annotated[T | None, Meta(ge=1)]       Annotated[T, Meta(ge=1)] | None

    Cat | Dog                             a kind that tells them apart: see `_foreign_kinds`
    what pydantic alone understands       a kind that asks pydantic

Constraints are recognized by their attributes (`gt ge lt le multiple_of min_length max_length
pattern`), which the objects of annotated-types and pydantic have, so that neither has to be
imported. Nothing in an `Annotated` is dropped: what is not understood is an error, in the fields of
classes too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import is_dataclass
from datetime import datetime, time
from pathlib import PurePath
from types import GenericAlias, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, is_typeddict

import msgspec
from msgspec import Meta

from agentkit_tools_core._functions._foreign_kinds import (
    ForeignKind,
    class_kind,
    fields_of,
    pydantic_kind,
    union_kind,
)
from agentkit_tools_core._functions._foreign_types import decode_foreign, schema_of_foreign

_NUMBERS: Final = ("gt", "ge", "lt", "le", "multiple_of")
_LENGTHS: Final = ("min_length", "max_length")
_CONTAINERS: Final = (list, dict, tuple, set, frozenset)
_OF_FIELDS: Final = frozenset(
    {"annotation", "default", "default_factory", "description", "title", "examples"}
)
"""What pydantic's `Field` may say that means the same without pydantic."""
_HOOKS: Final = (decode_foreign, schema_of_foreign)


def to_json_type(kind: Any) -> Any:
    """Convert an annotation; the same object if nothing has to change.

    Raises:
        ValueError: A constraint is not valid, such as a length below 0, or not understood.
        TypeError: A constraint has an invalid type.
    """
    if needs_pydantic(kind):
        return pydantic_kind(kind)
    return _convert(kind)


def _convert(kind: Any) -> Any:
    if kind is object:
        return Any
    if kind is Iterable:
        return list
    if kind is datetime or kind is time:
        name = "date-time" if kind is datetime else "time"
        return Annotated[kind, Meta(extra_json_schema={"format": name})]
    origin, inside = get_origin(kind), get_args(kind)
    if origin is None:
        return _convert_class(kind)
    if origin is Literal:
        return kind
    if origin is Annotated:
        return _convert_annotated(inside[0], kind.__metadata__)
    if origin in (Union, UnionType):
        return _convert_union(inside)
    if origin is Iterable:
        return GenericAlias(list, tuple(map(_convert, inside)))
    if origin in _CONTAINERS:
        converted = tuple(arg if arg is ... else _convert(arg) for arg in inside)
        return kind if converted == inside else GenericAlias(origin, converted)
    return kind


def _convert_union(members: tuple[Any, ...]) -> Any:
    # A function that takes both strings and paths gets the string.
    if str in members:
        members = tuple(member for member in members if not _is_path(member))
    converted = tuple(map(_convert, members))
    union: Any = Union.__getitem__(converted)
    # Of other types that JSON cannot tell apart, the first one would always count.
    if any(map(_has_fields, converted)) and not _is_decodable(union):
        return union_kind(converted, _HOOKS)
    return union


def _has_fields(kind: Any) -> bool:
    if get_origin(kind) is Annotated:
        return _has_fields(get_args(kind)[0])
    if not isinstance(kind, type):
        return any(map(_has_fields, get_args(kind)))
    return (
        is_dataclass(kind)
        or is_typeddict(kind)
        or issubclass(kind, ForeignKind)
        or hasattr(kind, "__struct_fields__")
        or hasattr(kind, "__attrs_attrs__")
    )


def _convert_class(kind: Any) -> Any:
    """Convert a class whose fields msgspec cannot decode alone; the same object if it can."""
    if not isinstance(kind, type) or hasattr(kind, "model_json_schema"):
        return kind
    is_convertible = is_dataclass(kind) or is_typeddict(kind)
    if not (is_convertible or hasattr(kind, "__struct_fields__") or hasattr(kind, "_fields")):
        return kind
    try:
        fields = fields_of(kind)
    except Exception:
        return kind  # the error names the parameter when the type is checked
    if not any(map(_has_foreign_note, fields.values())) and _is_decodable(kind):
        return kind
    if not is_convertible:
        raise ValueError(f"a field of {kind.__name__} has metadata that msgspec does not know")
    return class_kind(kind, {name: _convert(type_) for name, type_ in fields.items()}, _HOOKS)


def _is_decodable(kind: Any) -> bool:
    try:
        msgspec.json.Decoder(kind, dec_hook=decode_foreign)
    except TypeError:
        return False
    return True


def _has_foreign_note(kind: Any) -> bool:
    notes = kind.__metadata__ if get_origin(kind) is Annotated else ()
    if any(not isinstance(note, (Meta, str, NoneType)) for note in notes):
        return True
    return any(map(_has_foreign_note, get_args(kind)))


def needs_pydantic(kind: Any, seen: tuple[Any, ...] = ()) -> bool:
    """Whether only pydantic can read a type: its constraints, its types, unions of its models."""
    if isinstance(kind, type) and get_origin(kind) is None:
        if _is_model(kind) or kind in seen:
            return False
        if hasattr(kind, "__pydantic_validator__"):
            return True
        own = getattr(kind, "__get_pydantic_core_schema__", None)
        if own is not None and kind.__module__.startswith("pydantic"):
            return True
        if not (is_dataclass(kind) or is_typeddict(kind)):
            return False
        try:
            fields = fields_of(kind)
        except Exception:
            return False
        return any(needs_pydantic(field, (*seen, kind)) for field in fields.values())
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        notes = kind.__metadata__
        return any(map(_is_pydantic_only, notes)) or needs_pydantic(inside[0], seen)
    if origin in (Union, UnionType):
        members = [member for member in inside if member is not NoneType]
        if len(members) > 1 and any(map(_is_model, members)):
            return True
    return any(needs_pydantic(member, seen) for member in inside if not isinstance(member, list))


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and hasattr(kind, "model_json_schema")


def _is_pydantic_only(note: Any) -> bool:
    if isinstance(note, type) or not any(
        kind.__module__.startswith("pydantic") for kind in type(note).__mro__
    ):
        return False
    said = getattr(note, "_attributes_set", None)
    if not isinstance(said, dict) or not _OF_FIELDS.issuperset(said):
        return True
    return any(not _is_understood(inner) for inner in note.metadata)


def _is_understood(note: Any) -> bool:
    if type(note).__module__.startswith("annotated_types"):
        return bool(_constraints_of(note))
    said = getattr(note, "__dict__", {})
    return bool(said) and set(said) <= {"pattern"}


def _convert_annotated(kind: Any, notes: tuple[Any, ...]) -> Any:
    converted = [meta for note in notes if (meta := _to_meta(note)) is not None]
    texts = [note for note in converted if isinstance(note, str)]
    if len(texts) > 1:
        converted = [note for note in converted if not isinstance(note, str)] + [" ".join(texts)]
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
    others = [member for member in members if member is not NoneType]
    constrained = any(isinstance(note, Meta) for note in converted)
    if not (constrained and len(others) == 1 < len(members)):
        return _with_notes(_convert(kind), converted)
    inner = _with_notes(_convert(others[0]), converted)
    # The texts are repeated outside, because they describe the parameter.
    texts_outside = [note.description if isinstance(note, Meta) else note for note in converted]
    return _with_notes(inner | None, [text for text in texts_outside if text is not None])


def _with_notes(kind: Any, notes: Sequence[Any]) -> Any:
    return Annotated[(kind, *notes)] if notes else kind


def _to_meta(note: Any) -> Any:
    if note is None or isinstance(note, (Meta, str)):
        return note
    constraints: dict[str, Any] = {}
    # Some objects keep their constraints in a list: pydantic's `Field`.
    nested = getattr(note, "metadata", None)
    for source in (note, *(nested if isinstance(nested, list) else ())):
        constraints |= _constraints_of(source)
    for name in ("description", "documentation"):
        text = getattr(note, name, None)
        if isinstance(text, str):
            constraints["description"] = text
    for name, kind in (("title", str), ("examples", list)):
        value = getattr(note, name, None)
        if isinstance(value, kind):
            constraints[name] = value
    if constraints:
        return Meta(**constraints)
    if isinstance(nested, list):  # a field that says nothing
        return None
    raise ValueError(
        f"{note!r} is not understood; use a constraint that JSON Schema has, or a text"
    )


def _constraints_of(source: Any) -> dict[str, Any]:
    constraints: dict[str, Any] = {}
    for name in _NUMBERS:
        value = getattr(source, name, None)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            constraints[name] = value
    for name in _LENGTHS:
        value = getattr(source, name, None)
        # A minimum of 0 is not a constraint, and some of these objects always have it.
        if isinstance(value, int) and (value or name == "max_length"):
            constraints[name] = value
    pattern = getattr(source, "pattern", None)
    if isinstance(pattern, (str, re.Pattern)):
        constraints["pattern"] = pattern if isinstance(pattern, str) else pattern.pattern
    return constraints


def _is_path(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, PurePath)
