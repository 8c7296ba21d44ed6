"""Events whose values can be stored and read again, whatever a server sent.

JSON from a server may hold what MessagePack or JSON readers refuse: halves of surrogate pairs,
whole numbers of more than 64 bits, infinities, values that are nested hundreds of levels deep.
Every event passes here once, so that no protocol has to think of it.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from agentkit_core.json import without_lone_surrogates
from agentkit_core.provider import AppendText, ModelEvent

_MAX_DEPTH: Final = 96
"""How deeply values in events are nested at most, so that records with them can be read."""

T = TypeVar("T")


def storable_events(events: list[ModelEvent], *, texts: bool) -> tuple[ModelEvent, ...]:
    """Return events with what cannot be stored replaced; see `storable`.

    Args:
        events: The events.
        texts: Whether to look through the deltas of texts too; only lenient reading lets halves of
            surrogate pairs through to them.
    """
    if texts:
        return tuple(map(storable, events))
    return tuple(event if type(event) is AppendText else storable(event) for event in events)


def storable(event: T) -> T:
    """Return an event with what cannot be stored replaced.

    Halves of surrogate pairs become U+FFFD, whole numbers of more than 64 bits become floats,
    numbers that are not finite and values below `_MAX_DEPTH` become None. The same object is
    returned where nothing is replaced.
    """
    result: T = _clean(event, 0)
    return result


def _clean(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else _clean_text(value)
    if value is None or isinstance(value, bool | bytes):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else _as_float(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, dict):
        return _clean_object(value, depth + 1)
    if isinstance(value, list | tuple):
        return _clean_entries(value, depth + 1)
    return _clean_struct(value, depth + 1) if isinstance(value, Struct) else value


def _clean_text(value: str) -> str:
    clean = without_lone_surrogates(str(value))
    return value if clean == value else type(value)(clean)


def _as_float(value: int) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def _clean_object(value: dict[Any, Any], depth: int) -> dict[Any, Any]:
    clean = {_clean(name, depth): _clean(entry, depth) for name, entry in value.items()}
    unchanged = len(clean) == len(value) and all(
        name is new_name and entry is clean[new_name]
        for (name, entry), new_name in zip(value.items(), clean, strict=True)
    )
    return value if unchanged else clean


def _clean_entries(value: Any, depth: int) -> Any:
    clean = [_clean(entry, depth) for entry in value]
    unchanged = all(old is new for old, new in zip(value, clean, strict=True))
    return value if unchanged else type(value)(clean)


def _clean_struct(value: Struct, depth: int) -> Struct:
    changes = {}
    for name in value.__struct_fields__:
        old = getattr(value, name)
        if old is None:  # as most fields are
            continue
        new = _clean(old, depth)
        if new is not old:
            changes[name] = new
    return replace(value, **changes) if changes else value
