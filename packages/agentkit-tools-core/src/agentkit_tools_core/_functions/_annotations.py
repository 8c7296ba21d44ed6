"""Converts annotations to types that can be decoded from JSON.

    annotation                            decoded as
    Iterable[T]                           list[T]
    object                                Any
    str | Path                            str
    datetime, time                        the same; the schema says which format
    Annotated[T, Ge(1), MaxLen(3), …]     Annotated[T, msgspec.Meta(ge=1, max_length=3)]
    Annotated[T | None, Meta(ge=1)]       Annotated[T, Meta(ge=1)] | None

Constraints are recognized by their attributes (`gt ge lt le multiple_of min_length max_length`),
which the objects of annotated-types and pydantic have, so that neither has to be imported. Other
metadata in `Annotated` is kept. Only the annotation of a parameter is converted; msgspec alone
handles the fields of classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, time
from pathlib import PurePath
from types import GenericAlias, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from msgspec import Meta

_NUMBERS: Final = ("gt", "ge", "lt", "le", "multiple_of")
_LENGTHS: Final = ("min_length", "max_length")
_CONTAINERS: Final = (list, dict, tuple, set, frozenset)


def to_json_type(kind: Any) -> Any:
    """Convert an annotation; the same object if nothing has to change.

    Raises:
        ValueError: A constraint is not valid, such as a length below 0.
        TypeError: A constraint has an invalid type.
    """
    if kind is object:
        return Any
    if kind is Iterable:
        return list
    if kind is datetime or kind is time:
        name = "date-time" if kind is datetime else "time"
        return Annotated[kind, Meta(extra_json_schema={"format": name})]
    origin, inside = get_origin(kind), get_args(kind)
    if origin is None or origin is Literal:
        return kind
    if origin is Annotated:
        return _convert_annotated(inside[0], kind.__metadata__)
    if origin in (Union, UnionType):
        return _convert_union(inside)
    if origin is Iterable:
        return GenericAlias(list, tuple(map(to_json_type, inside)))
    if origin in _CONTAINERS:
        converted = tuple(arg if arg is ... else to_json_type(arg) for arg in inside)
        return kind if converted == inside else GenericAlias(origin, converted)
    return kind


def _convert_union(members: tuple[Any, ...]) -> Any:
    # A function that takes both strings and paths gets the string.
    if str in members:
        members = tuple(member for member in members if not _is_path(member))
    return Union[tuple(map(to_json_type, members))]  # noqa: UP007


def _convert_annotated(kind: Any, notes: tuple[Any, ...]) -> Any:
    converted = [_to_meta(note) for note in notes]
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
    others = [member for member in members if member is not NoneType]
    constrained = any(isinstance(note, Meta) for note in converted)
    if not (constrained and len(others) == 1 < len(members)):
        return _with_notes(to_json_type(kind), converted)
    inner = _with_notes(to_json_type(others[0]), converted)
    # The texts are repeated outside, because they describe the parameter.
    texts = [note.description if isinstance(note, Meta) else note for note in converted]
    return _with_notes(inner | None, [text for text in texts if text is not None])


def _with_notes(kind: Any, notes: Sequence[Any]) -> Any:
    return Annotated[(kind, *notes)] if notes else kind


def _to_meta(note: Any) -> Any:
    if isinstance(note, (Meta, str, type)):
        return note
    constraints: dict[str, Any] = {}
    # Some objects keep their constraints in a list: pydantic's `Field`.
    nested = getattr(note, "metadata", None)
    for source in (note, *(nested if isinstance(nested, list) else ())):
        for name in _NUMBERS:
            value = getattr(source, name, None)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                constraints[name] = value
        for name in _LENGTHS:
            value = getattr(source, name, None)
            # A minimum of 0 is not a constraint, and some of these objects always have it.
            if isinstance(value, int) and (value or name == "max_length"):
                constraints[name] = value
    text = getattr(note, "description", None)
    if isinstance(text, str):
        constraints["description"] = text
    return Meta(**constraints) if constraints else note


def _is_path(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, PurePath)
