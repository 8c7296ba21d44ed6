"""JSON values: their type, canonical JSON, and text that UTF-8 can express."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]
else:
    # msgspec evaluates annotations at run time and does not support recursive aliases.
    JsonValue = Any

_SURROGATES: Final = "[\ud800-\udfff]+"
_LONE_ESCAPE: Final = (
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""An escaped backslash or a whole surrogate pair, to be kept; or the escape of half a pair."""
_LOOK: Final = 1 << 16
"""How many characters of a text are encoded at once to see whether it can be."""
MAX_DEPTH: Final = 128
"""How deeply the JSON that is read may be nested; writing deeper values can exhaust the stack."""
_TOO_DEEP: Final = f"the JSON is nested more than {MAX_DEPTH} levels deep"
_DECODE: Final = msgspec.json.Decoder().decode
_PLAIN: Final = msgspec.json.Encoder()
_SORTED: Final = msgspec.json.Encoder(order="sorted")
_TO_JSON_TYPES: Final = (bytes, bytearray, memoryview)


def canonical_json(value: object) -> bytes:
    """Write a value as canonical JSON: sorted keys, no spaces, UTF-8.

    Equal values give equal bytes, so the result can be hashed or compared.

    Args:
        value: A JSON value, or any value that msgspec can write.

    Raises:
        TypeError: The value contains something that cannot be written as JSON.
    """
    try:
        return _SORTED.encode(value)
    except (UnicodeEncodeError, RecursionError) as error:
        return _encode_after(error, value, _SORTED)


def to_json(value: object) -> bytes:
    """Write a value as compact JSON in UTF-8.

    Lone surrogates, which UTF-8 cannot express, become U+FFFD. Fields that have their default
    are left out of our own types.

    Args:
        value: Any of our values, a JSON value, or any other value that msgspec can write.

    Raises:
        TypeError: The value contains something that cannot be written as JSON, or itself.
    """
    try:
        return _PLAIN.encode(value)
    except (UnicodeEncodeError, RecursionError) as error:
        return _encode_after(error, value, _PLAIN)


def _encode_after(error: Exception, value: object, encoder: msgspec.json.Encoder) -> bytes:
    """Write a value that the encoder has refused."""
    if isinstance(error, RecursionError):
        raise TypeError("the value is nested too deeply to be written as JSON") from error
    builtin = msgspec.to_builtins(value, builtin_types=_TO_JSON_TYPES)
    return encoder.encode(without_lone_surrogates_within(builtin))


def decode_json(text: str | bytes) -> JsonValue:
    """Read JSON. Lone surrogates and their escapes, which msgspec rejects, become U+FFFD.

    Raises:
        msgspec.DecodeError: The text is not JSON, or is nested more than 128 levels deep.
    """
    try:
        value = _decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        value = _decode(json_without_lone_surrogates(text))
    if _count_brackets(text) > MAX_DEPTH and not _is_shallow(value):
        raise msgspec.DecodeError(_TOO_DEEP)
    return value


def _decode(text: str | bytes) -> JsonValue:
    try:
        value: JsonValue = _DECODE(text)
    except RecursionError as error:
        raise msgspec.DecodeError(_TOO_DEEP) from error
    return value


def _count_brackets(text: str | bytes) -> int:
    if isinstance(text, bytes):
        return text.count(b"[") + text.count(b"{")
    return text.count("[") + text.count("{")


def _is_shallow(value: JsonValue) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        containers = [inner for inner in level if isinstance(inner, list | dict)]
        if not containers:
            return True
        level = [
            inner
            for container in containers
            for inner in (container.values() if isinstance(container, dict) else container)
        ]
    return False


def json_without_lone_surrogates(text: str | bytes) -> str:
    """Rewrite JSON so that msgspec can read it: lone surrogates and their escapes become U+FFFD.

    Raises:
        msgspec.DecodeError: The bytes are not UTF-8.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise msgspec.DecodeError(f"the text is not UTF-8: {error}") from error
    return compiled(_LONE_ESCAPE).sub(_replace_lone_escape, without_lone_surrogates(text))


@cache
def compiled(text: str) -> re.Pattern[str]:
    """A regular expression, compiled when it is first needed and not while modules are imported."""
    return re.compile(text)


def without_lone_surrogates(text: str) -> str:
    """Return text that UTF-8 can express: surrogate pairs joined, lone halves replaced by U+FFFD.

    A high half directly followed by a low half becomes the character that the pair stands for.
    Text without surrogates is returned as the same object.
    """
    if text.isascii():
        return text
    try:
        # Far faster than a search; and a long text need not be held once more for a look at it.
        for start in range(0, len(text), _LOOK):
            text[start : start + _LOOK].encode()
    except UnicodeEncodeError:
        return compiled(_SURROGATES).sub(_join_pairs, text)
    return text


def is_blank(text: str) -> bool:
    """Whether a text is empty or white space; unlike `strip`, this copies nothing of it."""
    return not text or text.isspace()


def without_lone_surrogates_within(value: Any) -> Any:
    """Copy a JSON value with `without_lone_surrogates` applied to every string and key.

    If two keys become equal, the later entry wins.
    """
    match value:
        case str():
            return without_lone_surrogates(value)
        case list() | tuple():
            return [without_lone_surrogates_within(inner) for inner in value]
        case dict():
            return {
                without_lone_surrogates_within(key): without_lone_surrogates_within(inner)
                for key, inner in value.items()
            }
        case _:
            return value


def _join_pairs(match: re.Match[str]) -> str:
    halves = match.group()
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _replace_lone_escape(match: re.Match[str]) -> str:
    return match.group(1) or r"\ufffd"
