"""Answers spoilt on purpose, one field at a time, to see whether a comparison notices.

The kinds of fields are taken from the types themselves, so that a new field is spoilt too. A
value is changed, taken away, and put where there was none; entries of a list are dropped, doubled
and turned round; an enum takes every other member, and a part every other kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields, replace

from agentkit_core import (
    DataRef,
    Item,
    ItemKind,
    Media,
    MisplacedPart,
    Modality,
    ModelResponse,
    Part,
    ToolCallId,
    ToolOutput,
    ToolResult,
)

Rebuild = Callable[[Any], Any]
"""Puts a spoilt value back where it was found."""


# Both evaluate all annotations at each call.
_hints_of = cache(get_type_hints)
_fields_of = cache(fields)


class Spoilt(NamedTuple):
    """An answer with one value spoilt."""

    kind: str
    """Which field of which type: `TokenUsage.cache_read`, `Text.metadata['…']`."""
    how: str
    path: str
    """Where in the answer the field stands."""
    answer: Any


def struct_types(*roots: Any) -> list[type[Struct]]:
    """The struct types that values of these types can hold, each once."""
    known: dict[type[Struct], None] = {}
    waiting = [*roots]
    while waiting:
        hint = waiting.pop(0)
        if isinstance(hint, type) and issubclass(hint, Struct):
            if hint not in known:
                known[hint] = None
                waiting += _hints_of(hint).values()
        else:
            waiting += get_args(hint)
    return [*known]


def kinds_of_fields() -> list[str]:
    """Every field of every type that an answer can hold."""
    return [
        f"{struct.__name__}.{field.name}"
        for struct in struct_types(ModelResponse)
        for field in _fields_of(struct)
    ]


def spoilt_answers(answer: Any) -> Iterator[Spoilt]:
    """Spoil every value of an answer in turn; what cannot be built is passed over."""
    return _spoilt(answer, lambda value: value, "")


def _spoilt(value: Any, rebuild: Rebuild, path: str) -> Iterator[Spoilt]:
    struct: Any = type(value)
    hints = _hints_of(struct)
    for field in _fields_of(struct):
        kind = f"{type(value).__name__}.{field.name}"
        inner, where = getattr(value, field.name), f"{path}.{field.name}" if path else field.name

        def put(new: Any, name: str = field.name) -> Any:
            return rebuild(replace(value, **{name: new}))

        if field.name == "metadata":
            yield from _spoilt_metadata(kind, inner, put, where)
            continue
        for how, new in _variants(inner, hints[field.name]):
            yield from _built(kind, how, where, put, new)
        if isinstance(inner, Struct):
            yield from _spoilt(inner, put, where)
        elif isinstance(inner, tuple):
            for at, entry in enumerate(inner):
                if isinstance(entry, Struct):

                    def put_entry(
                        new: Any, at: int = at, inner: Any = inner, put: Any = put
                    ) -> Any:
                        return put((*inner[:at], new, *inner[at + 1 :]))

                    yield from _other_kinds(kind, entry, put_entry, f"{where}[{at}]")
                    yield from _spoilt(entry, put_entry, f"{where}[{at}]")


def _built(kind: str, how: str, path: str, put: Rebuild, new: Any) -> Iterator[Spoilt]:
    try:
        yield Spoilt(kind, how, path, put(new))
    except MisplacedPart:
        return  # an item refuses such a part


def _spoilt_metadata(
    kind: str, metadata: dict[str, Any], put: Rebuild, path: str
) -> Iterator[Spoilt]:
    yield from _built(kind, "a key more", path, put, {**metadata, "spoilt.key": 1})
    for key, value in metadata.items():
        of_key, where = f"{kind}[{key!r}]", f"{path}[{key!r}]"
        rest = {name: other for name, other in metadata.items() if name != key}
        yield from _built(of_key, "gone", where, put, rest)
        for how, new in _json_variants(value):
            yield from _built(of_key, how, where, put, {**metadata, key: new})


def _other_kinds(kind: str, entry: Struct, put: Rebuild, path: str) -> Iterator[Spoilt]:
    """Put a part of every other kind in the place of one."""
    for other in get_args(Part):
        if isinstance(entry, get_args(Part)) and other is not type(entry):
            how = f"{type(entry).__name__} becomes {other.__name__}"
            yield from _built(kind, how, path, put, sample(other))


def _variants(value: Any, hint: Any) -> Iterator[tuple[str, Any]]:
    """Other values in the place of one."""
    if value is None:
        for option in _options(hint):
            yield f"{_name(option)} put in", sample(option)
        return
    if type(None) in get_args(hint):
        yield "gone", None
    match value:
        case StrEnum():
            for member in type(value):
                if member is not value:
                    yield f"{value.value} becomes {member.value}", member
        case bool():
            yield "turned round", not value
        case int() | float():
            yield "one more", value + 1
            yield "none", 0 * value if value else value + 2
        case str():
            yield "a letter more", value + "x"
            yield "blank", "" if value else " "
        case bytes():
            yield "a byte more", value + b"x"
            yield "no bytes", b"" if value else b"0"
        case Struct():
            for option in _options(hint):
                if isinstance(option, type) and sample(option) != value:
                    yield f"{type(value).__name__} becomes {_name(option)}", sample(option)
        case tuple():
            yield "an entry more", (*value, _one_more(hint, value))
            if value:
                yield "an entry gone", value[:-1]
                yield "turned round", value[::-1] if value[::-1] != value else value * 2
        case dict() | list():
            yield from _json_variants(value)


def _one_more(hint: Any, value: tuple[Any, ...]) -> Any:
    return value[-1] if value else sample(get_args(hint)[0])


def _json_variants(value: Any) -> Iterator[tuple[str, Any]]:
    """A JSON value with its first and its last leaf changed, and with something more in it."""
    match value:
        case dict():
            yield "a name more", {**value, "spoilt": 1}
            for name in _ends(list(value)):
                yield "a name gone", {key: value[key] for key in value if key != name}
                for how, new in _json_variants(value[name]):
                    yield f"within: {how}", {**value, name: new}
        case list():
            yield "an entry more", [*value, "spoilt"]
            for at in _ends(list(range(len(value)))):
                yield "an entry gone", [*value[:at], *value[at + 1 :]]
                for how, new in _json_variants(value[at]):
                    yield f"within: {how}", [*value[:at], new, *value[at + 1 :]]
        case bool():
            yield "turned round", not value
        case str():
            yield "a letter more", value + "x"
        case int() | float() | Decimal():
            yield "one more", value + 1
        case _:
            yield "put in", "spoilt"


def _ends(entries: list[Any]) -> list[Any]:
    return entries if len(entries) < 3 else [entries[0], entries[-1]]


def _options(hint: Any) -> list[Any]:
    """The members of a union, without None; JSON values are one of their own."""
    if get_origin(hint) in (Union, UnionType):
        members = [member for member in get_args(hint) if member is not type(None)]
        return [str] if any(get_origin(member) is dict for member in members) else members
    return [hint]


def _name(hint: Any) -> str:
    return str(getattr(hint, "__name__", hint))


def sample(hint: Any, *, of_field: str | None = None) -> Any:
    """A value of a type, as small as it gets.

    Args:
        hint: The type.
        of_field: A field that is to differ from its default.
    """
    hint = _options(hint)[0]
    hint = getattr(hint, "__supertype__", hint)
    plain = {str: "spoilt", int: 1, float: 1.5, bool: True, bytes: b"spoilt", Decimal: Decimal(3)}
    if hint in plain:
        return plain[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return next(iter(hint))
    if isinstance(hint, type) and issubclass(hint, Struct):
        hints = _hints_of(hint)
        wanted = [
            field.name
            for field in _fields_of(hint)
            if field.name == of_field
            or (field.default is NODEFAULT and field.default_factory is NODEFAULT)
        ]
        values = {name: sample(hints[name]) for name in wanted}
        if of_field is not None and isinstance(values[of_field], bool):
            default = next(field.default for field in _fields_of(hint) if field.name == of_field)
            values[of_field] = default is not True
        return hint(**values)
    match get_origin(hint):
        case origin if origin is tuple:
            return (sample(get_args(hint)[0]),)
        case origin if origin is dict:
            return {"spoilt.key": sample(get_args(hint)[1])}
        case _:
            return "spoilt"


def with_one(answer: ModelResponse, struct: type[Struct], field: str) -> ModelResponse:
    """Put a value of a type that no recorded answer has into an answer.

    Args:
        answer: The answer.
        struct: The type: a kind of part, of content or of tool output.
        field: The field that differs from its default.
    """
    value = sample(struct, of_field=field)
    if struct in get_args(DataRef):
        value = Media(Modality.BINARY, "", value)
    elif struct in get_args(ToolOutput):
        value = ToolResult(ToolCallId("spoilt"), value)
    kind = ItemKind.TOOL if isinstance(value, ToolResult) else ItemKind.ASSISTANT
    parts = (value,) if kind is ItemKind.TOOL else (*answer.item.parts, value)
    return replace(answer, item=Item(kind, parts))


PUT_IN: Final = (Part, DataRef, ToolOutput)
"""Unions of which no answer has all members; `with_one` puts in those that are missing."""
