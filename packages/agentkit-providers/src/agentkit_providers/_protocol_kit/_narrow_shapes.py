"""Narrow shapes: types that fit only the commonest events, which are cheaper to decode and to read.

A narrow shape is made from the full one. Of the full one's fields it takes those that the common
events have; all others must be null or missing, so nothing that the full shape would read is
overlooked. A payload that does not fit is read again by the full shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import GenericAlias, MappingProxyType
from typing import Any, Final, Literal

from msgspec import Struct, defstruct, field
from msgspec.structs import fields

NO_TEXT: Final[Any] = Literal["", None]
"""A text that says nothing, for `allowed`."""
NO_ENTRIES: Final[Any] = tuple[()] | None
"""A list that says nothing, for `allowed`."""

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def narrow_shape(
    shape: type[Struct],
    *,
    piece: str | None = None,
    required: Mapping[str, Any] = _NOTHING,
    allowed: Mapping[str, Any] = _NOTHING,
    tag: str | None = None,
) -> Any:
    """Make the narrow shape of a struct.

    Args:
        shape: The full struct.
        piece: The field with the text that an event adds; it is required, and the narrow struct's
            attribute for it is `piece`.
        required: Fields that must be there, and their types.
        allowed: Fields that may be there, and their types; their defaults are those of `shape`.
        tag: The value that the field `type` must have; None where it does not matter.

    Returns:
        A struct type.
    """
    specs: list[tuple[str, Any, Any]] = []
    for entry in fields(shape):
        name, wire_name = entry.name, entry.encode_name
        if name == piece:
            specs.append(("piece", str, field(name=wire_name)))
        elif name in required:
            specs.append((name, required[name], field(name=wire_name)))
        elif name in allowed:
            specs.append((name, allowed[name], field(name=wire_name, default=entry.default)))
        elif tag is None or wire_name != "type":
            specs.append((name, None, field(name=wire_name, default=None)))
    return defstruct(
        f"Narrow{shape.__name__}",
        specs,
        kw_only=True,
        gc=False,
        tag=tag,
        tag_field=None if tag is None else "type",
    )


def single(shape: Any) -> Any:
    """The type of a list with exactly one entry."""
    return GenericAlias(tuple, (shape,))
