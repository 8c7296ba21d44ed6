"""JSON values: their type, one canonical spelling, and text that any parser accepts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]
else:
    # msgspec reads annotations when it runs and knows no recursive aliases.
    JsonValue = Any

_SURROGATES: Final = re.compile("[\ud800-\udfff]+")
_LONE_ESCAPE: Final = re.compile(
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""An escaped backslash or a whole pair, to be left alone; or the escape of half a pair."""
MAX_DEPTH: Final = 128
"""How deeply the JSON that is read may be nested; deeper exhausts the stack of whoever writes
it again, and is no argument that a tool takes."""
_DECODE: Final = msgspec.json.Decoder().decode
_PLAIN: Final = msgspec.json.Encoder()
_SORTED: Final = msgspec.json.Encoder(order="sorted")
_TO_JSON_TYPES: Final = (bytes, bytearray, memoryview)


def canonical_json(value: object) -> bytes:
    """Write `value` as JSON in its one canonical spelling: sorted keys, no spaces, UTF-8.

    Equal values give equal bytes, so they can be hashed or compared.

    Args:
        value: A JSON value, or any value that msgspec writes.

    Raises:
        TypeError: `value` holds something that is not JSON.
    """
    return _encoded(value, _SORTED)


def to_json(value: object) -> bytes:
    """Write a value as compact JSON in UTF-8.

    Lone surrogates, which UTF-8 cannot express, become U+FFFD. Fields that have their default
    are left out of our own types.

    Args:
        value: Any of our values, a JSON value, or any other value that msgspec can write.

    Raises:
        TypeError: `value` holds something that cannot be written as JSON, or contains itself.
    """
    return _encoded(value, _PLAIN)


def _encoded(value: object, encoder: msgspec.json.Encoder) -> bytes:
    try:
        return encoder.encode(value)
    except UnicodeEncodeError:
        builtin = msgspec.to_builtins(value, builtin_types=_TO_JSON_TYPES)
        return encoder.encode(without_lone_surrogates_within(builtin))
    except RecursionError as error:
        raise TypeError("the value is nested too deeply to be written as JSON") from error


def decode_json(text: str | bytes) -> JsonValue:
    """Read JSON; lone surrogates and their escapes, which msgspec refuses, read as U+FFFD.

    Raises:
        msgspec.DecodeError: It is not JSON, or nested more than 128 deep.
    """
    try:
        value = _decoded(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        value = _decoded(json_without_lone_surrogates(text))
    if _brackets(text) > MAX_DEPTH and not _is_shallow(value):
        raise msgspec.DecodeError(f"nested more than {MAX_DEPTH} deep")
    return value


def _decoded(text: str | bytes) -> JsonValue:
    try:
        value: JsonValue = _DECODE(text)
    except RecursionError as error:
        raise msgspec.DecodeError(f"nested more than {MAX_DEPTH} deep") from error
    return value


def _brackets(text: str | bytes) -> int:
    if isinstance(text, bytes):
        return text.count(b"[") + text.count(b"{")
    return text.count("[") + text.count("{")


def _is_shallow(value: JsonValue) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        containers = [one for one in level if isinstance(one, list | dict)]
        if not containers:
            return True
        level = [
            inner
            for one in containers
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return False


def json_without_lone_surrogates(text: str | bytes) -> str:
    """Spell JSON so that msgspec reads it: lone surrogates and their escapes become U+FFFD.

    Raises:
        msgspec.DecodeError: It is not UTF-8.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise msgspec.DecodeError(f"not UTF-8: {error}") from error
    return _LONE_ESCAPE.sub(_replaced_escape, without_lone_surrogates(text))


def without_lone_surrogates(text: str) -> str:
    """Make `text` fit for UTF-8: join surrogate pairs, replace lone halves by U+FFFD.

    A high half directly followed by a low half becomes the character that the two mean;
    real characters beyond the BMP are left as they are. Same object when nothing is wrong.
    """
    if text.isascii() or _SURROGATES.search(text) is None:
        return text
    return _SURROGATES.sub(_joined, text)


def without_lone_surrogates_within(value: Any) -> Any:
    """Do the same for every string, and every key, of a JSON value; the value is copied.

    Of two keys that become equal, the later one stays.
    """
    match value:
        case str():
            return without_lone_surrogates(value)
        case list() | tuple():
            return [without_lone_surrogates_within(one) for one in value]
        case dict():
            return {
                without_lone_surrogates_within(key): without_lone_surrogates_within(one)
                for key, one in value.items()
            }
        case _:
            return value


def _joined(run: re.Match[str]) -> str:
    halves = run.group()
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _replaced_escape(found: re.Match[str]) -> str:
    return found.group(1) or r"\ufffd"
