"""Annotations in a form that can be read from JSON, where their own form cannot.

    written                               read as
    Iterable[T]                           list[T]
    object                                Any
    str | Path                            str
    datetime, time                        the same; the schema says which format
    Annotated[T, Ge(1), MaxLen(3), …]     Annotated[T, msgspec.Meta(ge=1, max_length=3)]
    Annotated[T | None, Meta(ge=1)]       Annotated[T, Meta(ge=1)] | None

Constraints are known by their attributes (`gt ge lt le multiple_of min_length max_length`), as
the objects of annotated-types and of pydantic have them, so that nothing has to be imported for
them; other notes are left alone. Only the annotation of a parameter is looked at, with what
stands in it: fields of a class are read by msgspec alone.
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


def readable(kind: Any) -> Any:
    """Bring an annotation into such a form; the same object where it is in one.

    Raises:
        ValueError: A constraint makes no sense, such as a length below 0.
        TypeError: So does its type.
    """
    if kind is object:
        return Any
    if kind is Iterable:
        return list
    if kind is datetime or kind is time:
        form = "date-time" if kind is datetime else "time"
        return Annotated[kind, Meta(extra_json_schema={"format": form})]
    origin, inside = get_origin(kind), get_args(kind)
    if origin is None or origin is Literal:
        return kind
    if origin is Annotated:
        return _annotated(inside[0], kind.__metadata__)
    if origin in (Union, UnionType):
        return _union(inside)
    if origin is Iterable:
        return GenericAlias(list, tuple(map(readable, inside)))
    if origin in _CONTAINERS:
        read = tuple(one if one is ... else readable(one) for one in inside)
        return kind if read == inside else GenericAlias(origin, read)
    return kind


def _union(members: tuple[Any, ...]) -> Any:
    # Whatever fits a path fits a string, and a function that takes both is glad of either.
    if str in members:
        members = tuple(one for one in members if not _is_path(one))
    return Union[tuple(map(readable, members))]  # noqa: UP007


def _annotated(kind: Any, notes: tuple[Any, ...]) -> Any:
    read = [_note(note) for note in notes]
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
    others = [one for one in members if one is not NoneType]
    constrained = any(isinstance(note, Meta) for note in read)
    if not (constrained and len(others) == 1 < len(members)):
        return _noted(readable(kind), read)
    inner = _noted(readable(others[0]), read)
    # The texts stand outside as well: they are the parameter's.
    texts = [note.description if isinstance(note, Meta) else note for note in read]
    return _noted(inner | None, [text for text in texts if text is not None])


def _noted(kind: Any, notes: Sequence[Any]) -> Any:
    return Annotated[(kind, *notes)] if notes else kind


def _note(note: Any) -> Any:
    if isinstance(note, (Meta, str, type)):
        return note
    found: dict[str, Any] = {}
    # Some hold the constraints they were made with in a list: pydantic's `Field`.
    held = getattr(note, "metadata", None)
    for one in (note, *(held if isinstance(held, list) else ())):
        for name in _NUMBERS:
            value = getattr(one, name, None)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                found[name] = value
        for name in _LENGTHS:
            value = getattr(one, name, None)
            # At least nothing is no constraint, and some of these notes always say it.
            if isinstance(value, int) and (value or name == "max_length"):
                found[name] = value
    text = getattr(note, "description", None)
    if isinstance(text, str):
        found["description"] = text
    return Meta(**found) if found else note


def _is_path(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, PurePath)
