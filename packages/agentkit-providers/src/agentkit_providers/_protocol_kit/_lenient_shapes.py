"""JSON values made to fit a shape: what does not fit is left out, the rest is kept.

Servers send fields of other types than their documents say, and event types of the future use known
names for other things. One odd field must not cost the whole response.
"""

from __future__ import annotations

from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from agentkit_providers._framing._lenient_json import read_leniently


def fit_shape(value: Any, shape: Any) -> Any:
    """Leave out what does not fit a shape.

    Fields of objects that do not fit are removed, as are entries of lists. Fields that the shape
    does not have stay. A whole number that is written as a text or as a float fits where one is
    wanted.

    Args:
        value: A JSON value; it is not changed.
        shape: A type of a wire struct, a list, a union or a plain type.

    Returns:
        A value that `msgspec.convert` accepts for that shape.

    Raises:
        ValueError: Nothing of the value fits.
    """
    if shape is Any or shape is msgspec.Raw:
        return value
    origin = get_origin(shape)
    if origin in (Union, UnionType):
        return _fit_union(value, get_args(shape))
    if origin is list:
        if not isinstance(value, list):
            raise ValueError("not a list")
        return _fit_entries(value, get_args(shape)[0])
    if isinstance(shape, type) and issubclass(shape, Struct):
        if not isinstance(value, dict):
            raise ValueError("not an object")
        return _fit_fields(value, shape)
    if shape is NoneType and value is None:
        return None
    if shape is int:
        value = _whole_number(value)
    return msgspec.convert(value, shape)


def _fit_union(value: Any, shapes: tuple[Any, ...]) -> Any:
    for shape in shapes:
        try:
            return fit_shape(value, shape)
        except ValueError:
            continue
    raise ValueError("none of the types of the union")


def _fit_entries(values: list[Any], shape: Any) -> list[Any]:
    fitting = []
    for value in values:
        try:
            fitting.append(fit_shape(value, shape))
        except ValueError:
            continue
    return fitting


def _fit_fields(value: dict[str, Any], shape: type[Struct]) -> dict[str, Any]:
    fitting = dict(value)
    for field in _fields(shape):
        name = field.encode_name
        if name not in fitting:
            continue
        try:
            fitting[name] = fit_shape(fitting[name], field.type)
        except ValueError:
            del fitting[name]
    return fitting


@cache
def _fields(shape: type[Struct]) -> tuple[FieldInfo, ...]:
    """The fields of a wire struct; msgspec evaluates its annotations at each call."""
    return fields(shape)


def _whole_number(value: Any) -> Any:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def fields_of(payload: bytes) -> dict[str, Any]:
    """All fields of a payload that is an object; empty for other payloads."""
    try:
        value = read_leniently(payload)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
