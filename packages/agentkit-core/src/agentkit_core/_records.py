"""Records: our values as JSON and as MessagePack, and back.

What is written omits fields that have their default; what is read may lack them, and may
hold fields that are not known yet. Old and damaged records are read as far as they can be:
`null` for the metadata or the parts of an item reads as empty, lone surrogates as U+FFFD. A
part of a type that is not known yet can be read as a custom part, if asked for: everything
around it survives.
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
"""How the kind of a custom part begins that stands for a part of an unknown type."""

_KNOWN_PARTS: Final = frozenset(kind.value for kind in PartKind)
_ITEM_KINDS: Final = frozenset(kind.value for kind in ItemKind)
_PART_DELTAS: Final = frozenset({"begin_part", "commit_part"})
_BIG_INTEGER: Final = 1
"""MessagePack has no integers beyond 64 bits: the extension that holds their digits."""
_MSGPACK: Final = msgspec.msgpack.Encoder()
_READ_JSON: Final = msgspec.json.Decoder().decode


def to_msgpack(record: object) -> bytes:
    """Write any of our values as MessagePack, lone surrogates as U+FFFD.

    Raises:
        TypeError: It holds something that cannot be written.
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
        data: What `to_json` wrote, now or in an older version.
        record: Its type: `Item`, `list[Item]`, `Delta`, …
        unknown_parts: Read parts of unknown types (of items, of tools' outputs, of deltas) as
            `Custom` parts whose kind is `unknown.` and the type, and whose value is the part as
            it was.

    Raises:
        RecordError: It is not that record.
    """
    decode = _json_decoder(record).decode

    def read_again() -> Any:
        value = _READ_JSON(json_without_lone_surrogates(data))
        return decode(to_json(_mended(value, unknown_parts)))

    return _read(record, lambda: decode(data), read_again)


@overload
def from_msgpack(data: bytes, record: type[T], *, unknown_parts: bool = ...) -> T: ...
@overload
def from_msgpack(data: bytes, record: Any, *, unknown_parts: bool = ...) -> Any: ...
def from_msgpack(data: bytes, record: Any, *, unknown_parts: bool = False) -> Any:
    """Read a value from MessagePack; see `from_json`.

    Raises:
        RecordError: It is not that record.
    """
    decode = _msgpack_decoder(record).decode

    def read_again() -> Any:
        value = _msgpack_decoder(Any).decode(data)
        return decode(to_msgpack(_mended(value, unknown_parts)))

    return _read(record, lambda: decode(data), read_again)


def _read(record: Any, read: Callable[[], Any], read_again: Callable[[], Any]) -> Any:
    try:
        try:
            return read()
        except (msgspec.DecodeError, UnicodeEncodeError):
            # Old, damaged or newer than we are: it may still be readable once it is mended.
            return read_again()
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
            return {key: _with_small_integers(one) for key, one in value.items()}
        case list():
            return [_with_small_integers(one) for one in value]
        case int() if not -(2**63) <= value < 2**64:
            return msgspec.msgpack.Ext(_BIG_INTEGER, str(value).encode())
        case _:
            return value


def _mended(value: Any, unknown_parts: bool) -> Any:
    """Mend items and parts, wherever in a record they stand, but not JSON within them."""
    match value:
        case {"kind": kind} if kind in _ITEM_KINDS:
            item = _without_nulls(value)
            parts = item.get("parts")
            if isinstance(parts, list):
                item["parts"] = [_mended_part(one, unknown_parts) for one in parts]
            return item
        case {"type": kind, "part": part} if kind in _PART_DELTAS:
            return {**value, "part": _mended_part(part, unknown_parts)}
        case {"type": kind} if kind in _KNOWN_PARTS:
            return _mended_part(value, unknown_parts)
        case dict():
            return {key: _mended(one, unknown_parts) for key, one in value.items()}
        case list():
            return [_mended(one, unknown_parts) for one in value]
        case _:
            return value


def _mended_part(part: Any, unknown_parts: bool) -> Any:
    kind = part.get("type") if isinstance(part, dict) else None
    if unknown_parts and isinstance(kind, str) and kind not in _KNOWN_PARTS:
        return {"type": PartKind.CUSTOM.value, "kind": UNKNOWN_KIND + kind, "value": part}
    if not isinstance(part, dict):
        return part
    part = _without_nulls(part)
    match part.get("output"):
        case {"type": "parts", "parts": list(inner)} as output if kind == "tool_result":
            inner = [_mended_part(one, unknown_parts) for one in inner]
            return {**part, "output": {**output, "parts": inner}}
        case _:
            return part


def _without_nulls(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out what other programs and older versions write as null instead of empty."""
    may_not_be_null = ("metadata", "parts")
    return {
        key: one for key, one in record.items() if one is not None or key not in may_not_be_null
    }
