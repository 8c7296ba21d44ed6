"""Records: our values as JSON and MessagePack, and back.

Fields that have their default are not written, and need not be there when a record is read; unknown
fields are ignored. Old and damaged records are read as far as possible: `null` for the metadata or
the parts of an item reads as empty, and lone surrogates as U+FFFD. On request, a part of an unknown
type is read as a custom part, so that everything around it can be read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar, overload

import msgspec

from agentkit_core._errors import AgentkitError, RecordError
from agentkit_core._item import ItemKind
from agentkit_core._json import (
    json_without_lone_surrogates,
    to_json,
    without_lone_surrogates_within,
)
from agentkit_core._part import PartKind

T = TypeVar("T")

UNKNOWN_KIND: Final = "unknown."
"""Prefix of the kind of a custom part that replaces a part of an unknown type."""

_KNOWN_PARTS: Final = frozenset(kind.value for kind in PartKind)
_ITEM_KINDS: Final = frozenset(kind.value for kind in ItemKind)
_PART_DELTAS: Final = frozenset({"begin_part", "commit_part"})
_BIG_INTEGER: Final = 1
"""The code of our MessagePack extension for integers beyond 64 bits; it contains their digits."""
_MSGPACK: Final = msgspec.msgpack.Encoder()
_READ_JSON: Final = msgspec.json.Decoder().decode


def to_msgpack(record: object) -> bytes:
    """Write a value as MessagePack; lone surrogates become U+FFFD.

    Args:
        record: Any of our values, a JSON value, or any other value that msgspec can write.

    Raises:
        TypeError: The value contains something that cannot be written.
    """
    try:
        return _MSGPACK.encode(record)
    except (UnicodeEncodeError, OverflowError):
        builtin = msgspec.to_builtins(record, builtin_types=(bytes, bytearray, memoryview))
        return _MSGPACK.encode(_with_small_integers(without_lone_surrogates_within(builtin)))
    except RecursionError as error:
        raise TypeError("the value is nested too deeply to be written") from error


@overload
def from_json(data: bytes | str, record: type[T], *, unknown_parts: bool = ...) -> T: ...
@overload
def from_json(data: bytes | str, record: Any, *, unknown_parts: bool = ...) -> Any: ...
def from_json(data: bytes | str, record: Any, *, unknown_parts: bool = False) -> Any:
    """Read a value from JSON.

    Args:
        data: What this or an older version of `to_json` wrote.
        record: The type of the value: `Item`, `list[Item]`, `Delta`, …
        unknown_parts: Whether to read parts of unknown types (in items, tool outputs and deltas)
            as `Custom` parts, with `unknown.<type>` as their kind and the original part as their
            value.

    Raises:
        RecordError: The data are not a valid record of that type.
    """
    decode = _json_decoder(record).decode

    def read_repaired() -> Any:
        value = _READ_JSON(json_without_lone_surrogates(data))
        return decode(to_json(_repair(value, unknown_parts)))

    return _read(record, lambda: decode(data), read_repaired)


@overload
def from_msgpack(data: bytes, record: type[T], *, unknown_parts: bool = ...) -> T: ...
@overload
def from_msgpack(data: bytes, record: Any, *, unknown_parts: bool = ...) -> Any: ...
def from_msgpack(data: bytes, record: Any, *, unknown_parts: bool = False) -> Any:
    """Read a value from MessagePack; the arguments are those of `from_json`.

    Raises:
        RecordError: The data are not a valid record of that type.
    """
    decode = _msgpack_decoder(record).decode

    def read_repaired() -> Any:
        value = _msgpack_decoder(Any).decode(data)
        return decode(to_msgpack(_repair(value, unknown_parts)))

    return _read(record, lambda: decode(data), read_repaired)


def _read(record: Any, read_data: Callable[[], Any], read_repaired: Callable[[], Any]) -> Any:
    try:
        try:
            return read_data()
        except (msgspec.DecodeError, UnicodeEncodeError):
            # The record is old, damaged or newer than this version; repaired, it may be readable.
            return read_repaired()
    except (msgspec.MsgspecError, AgentkitError, RecursionError, UnicodeError) as error:
        name = getattr(record, "__name__", None) or str(record)
        raise RecordError(name, str(error)) from error


@lru_cache(maxsize=128)
def _json_decoder(record: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(record)


@lru_cache(maxsize=128)
def _msgpack_decoder(record: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(record, ext_hook=_extension)


def _extension(code: int, data: memoryview) -> Any:
    if code == _BIG_INTEGER:
        return int(bytes(data))
    return msgspec.msgpack.Ext(code, bytes(data))


def _with_small_integers(value: Any) -> Any:
    match value:
        case dict():
            return {key: _with_small_integers(inner) for key, inner in value.items()}
        case list():
            return [_with_small_integers(inner) for inner in value]
        case int() if not -(2**63) <= value < 2**64:
            return msgspec.msgpack.Ext(_BIG_INTEGER, str(value).encode())
        case _:
            return value


def _repair(value: Any, unknown_parts: bool) -> Any:
    """Repair items and parts anywhere in a record, but not the JSON values inside them."""
    match value:
        case {"kind": kind} if kind in _ITEM_KINDS:
            item = _without_nulls(value)
            parts = item.get("parts")
            if isinstance(parts, list):
                item["parts"] = [_repair_part(part, unknown_parts) for part in parts]
            return item
        case {"type": kind, "part": part} if kind in _PART_DELTAS:
            return {**value, "part": _repair_part(part, unknown_parts)}
        case {"type": kind} if kind in _KNOWN_PARTS:
            return _repair_part(value, unknown_parts)
        case dict():
            return {key: _repair(inner, unknown_parts) for key, inner in value.items()}
        case list():
            return [_repair(inner, unknown_parts) for inner in value]
        case _:
            return value


def _repair_part(part: Any, unknown_parts: bool) -> Any:
    kind = part.get("type") if isinstance(part, dict) else None
    if unknown_parts and isinstance(kind, str) and kind not in _KNOWN_PARTS:
        return {"type": PartKind.CUSTOM.value, "kind": UNKNOWN_KIND + kind, "value": part}
    if not isinstance(part, dict):
        return part
    part = _without_nulls(part)
    match part.get("output"):
        case {"type": "parts", "parts": list(inner)} as output if kind == "tool_result":
            inner = [_repair_part(inner_part, unknown_parts) for inner_part in inner]
            return {**part, "output": {**output, "parts": inner}}
        case _:
            return part


def _without_nulls(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out fields that other programs and older versions write as null instead of empty."""
    never_null = ("metadata", "parts")
    return {
        key: value for key, value in record.items() if value is not None or key not in never_null
    }
