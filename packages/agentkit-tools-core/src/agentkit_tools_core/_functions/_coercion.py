"""Lenient coercion of arguments that a model wrote.

Models send a list as the text of a list, a number as text, and null for what they want to leave
out. A value is converted only where decoding has failed, at the place that the error names, so that
a value which fits is never changed:

    expected               received          converted to
    array, object          str               the JSON in the text, if there is such a value
    int, float, bool, null str               the value that the text represents
    int                    float             the integer, if it is equal
    bool                   int               false for 0, true for 1
    str                    int, float, bool  its JSON text
    anything               null              nothing: the field is left out (in strict mode too)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any, Final

import msgspec

from agentkit_tools_core._functions._foreign_types import decode_foreign, json_type

_MAX_ATTEMPTS: Final = 100
_TYPE_ERROR: Final = re.compile(r"Expected `(?P<expected>[^`]+)`, got `(?P<received>\w+)`")
_PATH: Final = re.compile(r" - at `\$(?P<path>.*)`\Z")
_STEP: Final = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>\d+|\.\.\.)\]")
_SCALARS: Final = {"int": int, "float": float, "bool": bool, "null": None}
_NOTHING: Final = object()


def coerce(value: Any, kind: Any, *, lenient: bool = True) -> Any:
    """Decode a JSON value to a type, and convert what almost fits.

    Args:
        value: The value; conversions change it in place.
        kind: The type.
        lenient: Whether to convert values; otherwise only nulls are left out.

    Raises:
        msgspec.ValidationError: The value does not fit the type.
    """
    box = [value]
    for _ in range(_MAX_ATTEMPTS):
        try:
            return msgspec.convert(box[0], kind, dec_hook=decode_foreign)
        except msgspec.ValidationError as error:
            removed_field = _convert_at(box, str(error), lenient)
            if removed_field is None:
                raise
            if removed_field and not _is_optional(box[0], kind, field=removed_field):
                raise
    return msgspec.convert(box[0], kind, dec_hook=decode_foreign)


def split_error(message: str) -> tuple[str, str]:
    """Split an error message of msgspec.

    Returns:
        The place, as in `edits.0.text` (empty for the value itself, `*` for a member of a mapping),
        and what is wrong there.
    """
    match = _PATH.search(message)
    if match is None:
        return "", message
    path = re.sub(r"\[(\d+|\*)\]", r".\1", match["path"].replace("[...]", "[*]"))
    return path.lstrip("."), message[: match.start()]


def _is_optional(value: Any, kind: Any, *, field: str) -> bool:
    """Whether a field whose null was removed may be left out."""
    try:
        msgspec.convert(value, kind, dec_hook=decode_foreign)
    except msgspec.ValidationError as error:
        return f"missing required field `{field}`" not in str(error)
    return True


def _convert_at(box: list[Any], message: str, lenient: bool) -> str | None:
    """Convert the value that an error message names.

    Returns:
        None if nothing could be converted; the name of a field that was removed; otherwise "".
    """
    type_error = _TYPE_ERROR.match(message)
    if type_error is None:
        return None
    expected, received = type_error["expected"].split(" | "), type_error["received"]
    path = _PATH.search(message)
    outcome: str | None = None
    for container, key in list(_places(box, path["path"] if path else "")):
        value = container[key]
        if json_type(value) != received:
            continue
        if value is None:
            if isinstance(container, dict):
                del container[key]
                outcome = str(key)
        elif lenient and (converted := _convert(value, expected)) is not _NOTHING:
            container[key] = converted
            outcome = outcome or ""
    return outcome


def _places(box: list[Any], path: str) -> Iterator[tuple[Any, Any]]:
    """Follow a path to containers and keys; `[...]` stands for any member of a mapping."""
    places: list[tuple[Any, Any]] = [(box, 0)]
    end = 0
    for step in _STEP.finditer(path):
        if step.start() != end:
            return
        end = step.end()
        places = [member for container, key in places for member in _members(container[key], step)]
    if end == len(path):
        yield from places


def _members(value: Any, step: re.Match[str]) -> Iterator[tuple[Any, Any]]:
    name, index = step["name"], step["index"]
    if isinstance(value, dict):
        if index == "...":
            yield from ((value, key) for key in value)
        elif name in value:
            yield value, name
    elif isinstance(value, list) and index is not None and index.isdigit():
        yield value, int(index)


def _convert(value: Any, expected: list[str]) -> Any:
    match value:
        case str():
            return _parse(value, expected)
        case bool() | int() | float() if "str" in expected:
            return msgspec.json.encode(value).decode()
        case float() if "int" in expected and value.is_integer():
            return int(value)
        case 0 | 1 if "bool" in expected:
            return bool(value)
        case _:
            return _NOTHING


def _parse(text: str, expected: list[str]) -> Any:
    if "array" in expected or "object" in expected:
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError):
            return _NOTHING
        if json_type(value) in expected and isinstance(value, (list, dict)):
            return value
    for name, kind in _SCALARS.items():
        if name in expected:
            try:
                value = msgspec.convert(text.strip(), kind, strict=False)
            except msgspec.ValidationError:
                continue
            # NaN and infinities are not JSON, and would pass any limit that a tool sets.
            if not isinstance(value, float) or isfinite(value):
                return value
    return _NOTHING
