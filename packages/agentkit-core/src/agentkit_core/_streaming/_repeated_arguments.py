"""Arguments that a server repeated, began anew or wrapped: the one object that is meant.

Servers that stream a call's arguments repeat the whole object at the end, begin anew in the middle,
or leave in what the model wrote around it:

    {"a": 1}{"a": 1}            an object, repeated; also with `{}` before it
    {"a": "x{"a": "xy"}         an object that was begun, and then the whole of it
    {"a": 1}{"a"                an object, and the beginning of its repetition
    ```json {"a": 1} ```        an object in a code fence or in tags

Only text that is not JSON comes here. Text that could still become JSON is cut off, not repeated.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from agentkit_core._json import JsonValue, canonical_json, compiled, decode_json

_WRAPPING_BEFORE: Final = r"\s*(?:```[a-z]*|<[/|\w]+>|\s)*"
_WRAPPING_AFTER: Final = r"(?:```|<[/|\w]+>|\s)*"
_MAX_BEGINNINGS: Final = 64
"""How often arguments may begin anew. Each beginning costs a pass over the text."""
_MAX_PLACES: Final = 256
"""How many places are looked at where arguments may begin anew."""


def only_object(text: str) -> dict[str, JsonValue] | None:
    """Find the only object that a text can mean.

    Args:
        text: Text that is not JSON, and not the beginning of JSON.

    Returns:
        The object; None where there is none, or where there are several.
    """
    before = compiled(_WRAPPING_BEFORE).match(text)
    text = text[before.end() if before else 0 :].rstrip()
    whole, objects = text, list[dict[str, Any]]()
    for _ in range(_MAX_BEGINNINGS):
        more, text = _read_objects(text)
        objects += more
        if objects and _is_form(text, whole):
            return _only(objects)
        size = _beginning(text)
        if not size:
            return None
        text = text[size:]
    return None


def _read_objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """The objects at the start of a text, and the rest of the text."""
    from json import JSONDecoder  # imported late, because few arguments come so

    reader = JSONDecoder(strict=False)
    objects: list[dict[str, Any]] = []
    at = 0
    while text[at : at + 1] == "{":
        try:
            _, end = reader.raw_decode(text, at)
            value = decode_json(text[at:end])
        except (ValueError, RecursionError, msgspec.DecodeError):
            break
        if not isinstance(value, dict):
            break
        objects.append(value)
        at = end
        while at < len(text) and text[at].isspace():
            at += 1
    return objects, text[at:]


def _is_form(rest: str, text: str) -> bool:
    """Whether what follows objects says nothing more: wrapping, or the start of a repetition."""
    return compiled(_WRAPPING_AFTER).fullmatch(rest) is not None or text.startswith(rest)


def _only(objects: list[dict[str, Any]]) -> dict[str, Any] | None:
    distinct = {canonical_json(value): value for value in objects if value}
    if len(distinct) > 1:
        return None
    return next(iter(distinct.values()), {})


def _beginning(text: str) -> int:
    """The size of the beginning after which a text begins again with the same letters; 0 for none.

    Only for text that JSON does not allow to go on there: nested objects may begin alike.
    """
    at = text.find("{", 1)
    for _ in range(_MAX_PLACES):
        if at < 0 or 2 * at > len(text):
            return 0
        if text.startswith(text[:at], at):
            return at
        at = text.find("{", at + 1)
    return 0
