"""Records: our values as JSON and as MessagePack, and back.

What is written omits fields that have their default; what is read may lack them, and may
hold fields that are not known yet. A part of a type that is not known yet can be read as a
custom part, if asked for: everything around it survives.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeVar, overload

import msgspec

from agentkit_core._errors import AgentkitError, RecordError
from agentkit_core._json import encode_json, without_lone_surrogates_within
from agentkit_core._part import PartKind

T = TypeVar("T")

UNKNOWN_KIND: Final = "unknown."
"""How the kind of a custom part begins that stands for a part of an unknown type."""

_KNOWN_PARTS: Final = frozenset(kind.value for kind in PartKind)
_MSGPACK: Final = msgspec.msgpack.Encoder()
_READ_JSON: Final = msgspec.json.Decoder().decode
_READ_MSGPACK: Final = msgspec.msgpack.Decoder().decode


def to_json(record: object) -> bytes:
    """Write any of our values as JSON: compact, UTF-8, lone surrogates as U+FFFD."""
    return encode_json(record)


def to_msgpack(record: object) -> bytes:
    """Write any of our values as MessagePack, lone surrogates as U+FFFD."""
    try:
        return _MSGPACK.encode(record)
    except UnicodeEncodeError:
        builtin = msgspec.to_builtins(record, builtin_types=(bytes, bytearray, memoryview))
        return _MSGPACK.encode(without_lone_surrogates_within(builtin))


@overload
def from_json(data: bytes | str, record: type[T], *, unknown_parts: bool = ...) -> T: ...
@overload
def from_json(data: bytes | str, record: Any, *, unknown_parts: bool = ...) -> Any: ...
def from_json(data: bytes | str, record: Any, *, unknown_parts: bool = False) -> Any:
    """Read a value from JSON.

    Args:
        data: What `to_json` wrote, now or in an older version.
        record: Its type: `Item`, `list[Item]`, `Delta`, …
        unknown_parts: Read parts of unknown types as `Custom` parts whose kind is `unknown.`
            and the type, and whose value is the part as it was.

    Raises:
        RecordError: It is not that record.
    """
    try:
        if unknown_parts:
            return msgspec.convert(_known(_READ_JSON(data)), record)
        return _json_decoder(record).decode(data)
    except (msgspec.MsgspecError, AgentkitError, UnicodeDecodeError) as error:
        raise RecordError(_name(record), str(error)) from error


@overload
def from_msgpack(data: bytes, record: type[T], *, unknown_parts: bool = ...) -> T: ...
@overload
def from_msgpack(data: bytes, record: Any, *, unknown_parts: bool = ...) -> Any: ...
def from_msgpack(data: bytes, record: Any, *, unknown_parts: bool = False) -> Any:
    """Read a value from MessagePack; see `from_json`.

    Raises:
        RecordError: It is not that record.
    """
    try:
        if unknown_parts:
            return msgspec.convert(_known(_READ_MSGPACK(data)), record)
        return _msgpack_decoder(record).decode(data)
    except (msgspec.MsgspecError, AgentkitError, UnicodeDecodeError) as error:
        raise RecordError(_name(record), str(error)) from error


@lru_cache(maxsize=128)
def _json_decoder(record: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(record)


@lru_cache(maxsize=128)
def _msgpack_decoder(record: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(record)


def _name(record: Any) -> str:
    return getattr(record, "__name__", None) or str(record)


def _known(value: Any) -> Any:
    """Replace parts of unknown types, wherever a list of parts stands."""
    match value:
        case dict():
            return {
                key: [_known_part(one) for one in found]
                if key == "parts" and isinstance(found, list)
                else _known(found)
                for key, found in value.items()
            }
        case list():
            return [_known(one) for one in value]
        case _:
            return value


def _known_part(part: Any) -> Any:
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(kind, str) and kind not in _KNOWN_PARTS:
        return {"type": PartKind.CUSTOM.value, "kind": UNKNOWN_KIND + kind, "value": part}
    return _known(part)
