"""Values that almost fit a type, made to fit.

Models send a list as the text of a list, a number as text, and null for what they mean to
leave out. Mending starts where decoding as it stands has failed, at the very place of which
the error speaks, so a value that fits is never touched:

    wanted                 got               becomes
    array, object          str               the JSON that the text holds, if it is one
    int, float, bool, null str               the value that the text spells
    int                    float             the integer, where nothing is lost
    bool                   int               false for 0, true for 1
    str                    int, float, bool  its JSON text
    anything               null              left out (also in strict mode)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any, Final

import msgspec

from agentkit_tools_core._functions._foreign_types import decode_foreign, json_type

_MAX_MENDS: Final = 100
_MISFIT: Final = re.compile(r"Expected `(?P<wanted>[^`]+)`, got `(?P<got>\w+)`")
_PATH: Final = re.compile(r" - at `\$(?P<path>.*)`\Z")
_STEP: Final = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>\d+|\.\.\.)\]")
_SPELLED: Final = {"int": int, "float": float, "bool": bool, "null": None}
_NOTHING: Final = object()


def fit(value: Any, kind: Any, *, lenient: bool = True) -> Any:
    """Decode a JSON value, mending what almost fits.

    Args:
        value: The value; where it has to be mended, it is changed in place.
        kind: The type.
        lenient: Whether to mend more than nulls.

    Raises:
        msgspec.ValidationError: It does not fit.
    """
    box = [value]
    for _ in range(_MAX_MENDS):
        try:
            return msgspec.convert(box[0], kind, dec_hook=decode_foreign)
        except msgspec.ValidationError as error:
            left_out = _mend(box, str(error), lenient)
            if left_out is None:
                raise
            if left_out and not _converts(box[0], kind, without=left_out):
                raise
    return msgspec.convert(box[0], kind, dec_hook=decode_foreign)


def split_error(message: str) -> tuple[str, str]:
    """Take an error of msgspec apart.

    Returns:
        The place, as in `edits.0.text` (empty for the value itself, `*` for some member of a
        mapping), and what is wrong there.
    """
    found = _PATH.search(message)
    if found is None:
        return "", message
    path = re.sub(r"\[(\d+|\*)\]", r".\1", found["path"].replace("[...]", "[*]"))
    return path.lstrip("."), message[: found.start()]


def _converts(value: Any, kind: Any, *, without: str) -> bool:
    """Whether leaving out a null was right: not if what is missing now is just that field."""
    try:
        msgspec.convert(value, kind, dec_hook=decode_foreign)
    except msgspec.ValidationError as error:
        return f"missing required field `{without}`" not in str(error)
    return True


def _mend(box: list[Any], message: str, lenient: bool) -> str | None:
    """Mend what the error speaks of.

    Returns:
        None if nothing could be mended, the name of a field that was left out, else "".
    """
    misfit = _MISFIT.match(message)
    if misfit is None:
        return None
    wanted, got = misfit["wanted"].split(" | "), misfit["got"]
    path = _PATH.search(message)
    done: str | None = None
    for holder, key in list(_places(box, path["path"] if path else "")):
        value = holder[key]
        if json_type(value) != got:
            continue
        if value is None:
            if isinstance(holder, dict):
                del holder[key]
                done = str(key)
        elif lenient and (mended := _mended(value, wanted)) is not _NOTHING:
            holder[key] = mended
            done = done or ""
    return done


def _places(box: list[Any], path: str) -> Iterator[tuple[Any, Any]]:
    """Go a path down; where it says `[...]` any member of a mapping may be meant."""
    places: list[tuple[Any, Any]] = [(box, 0)]
    end = 0
    for step in _STEP.finditer(path):
        if step.start() != end:
            return
        end = step.end()
        places = [place for one in places for place in _members(one[0][one[1]], step)]
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


def _mended(value: Any, wanted: list[str]) -> Any:
    match value:
        case str():
            return _read(value, wanted)
        case bool() | int() | float() if "str" in wanted:
            return msgspec.json.encode(value).decode()
        case float() if "int" in wanted and value.is_integer():
            return int(value)
        case 0 | 1 if "bool" in wanted:
            return bool(value)
        case _:
            return _NOTHING


def _read(text: str, wanted: list[str]) -> Any:
    if "array" in wanted or "object" in wanted:
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError):
            return _NOTHING
        if json_type(value) in wanted and isinstance(value, (list, dict)):
            return value
    for name, kind in _SPELLED.items():
        if name in wanted:
            try:
                value = msgspec.convert(text.strip(), kind, strict=False)
            except msgspec.ValidationError:
                continue
            # JSON has no word for them, and no limit that a tool sets holds them off.
            if not isinstance(value, float) or isfinite(value):
                return value
    return _NOTHING
