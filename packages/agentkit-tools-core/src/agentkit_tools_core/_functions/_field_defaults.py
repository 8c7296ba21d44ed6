"""Field objects as defaults: `city: str = Field(default="Berlin", description="The town")`.

pydantic, dataclasses, msgspec and attrs have such objects, for the fields of classes. What they say
means the same for a parameter; what cannot be meant there is an error. They are recognized by their
classes' names, so that none of these packages has to be imported.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from agentkit_core.values import Record

_REFUSED: Final = ("fastapi.params", "typer.models", "attr._make.Factory", "attrs.Factory")
_PYDANTIC_NAMES: Final = ("alias", "validation_alias", "serialization_alias", "exclude")


class FieldDefault(Record, frozen=True):
    """What a field object says of a parameter.

    Attributes:
        default: The default; UNSET if there is none.
        factory: Makes the default, for each call; None if there is none.
        note: What belongs into the parameter's `Annotated`; None if nothing does.
    """

    default: Any = UNSET
    factory: Callable[[], Any] | None = None
    note: Any = None


def read_field(value: Any) -> FieldDefault | None:
    """Read a field object; None if the value is something else.

    Raises:
        ValueError: The object says something that cannot be meant for a parameter.
    """
    if isinstance(value, dataclasses.Field):
        if not value.init:
            raise ValueError("a field with init=False cannot be a parameter")
        return _field(value.default, value.default_factory)
    kinds = [f"{kind.__module__}.{kind.__qualname__}" for kind in type(value).__mro__]
    name = kinds[0]
    if "pydantic.fields.FieldInfo" in kinds:
        return _pydantic(value)
    if name.startswith("msgspec.") and name.endswith(".Field"):
        if value.name is not None:
            raise ValueError("a field with a name; rename the parameter instead")
        return _field(value.default, value.default_factory)
    if name == "attr._make._CountingAttr":
        return _attrs(value)
    if name.startswith(_REFUSED) or "pydantic.fields.ModelPrivateAttr" in kinds:
        raise ValueError(f"{type(value).__name__} cannot be the default of a tool's parameter")
    return None


def _field(default: Any, factory: Any) -> FieldDefault:
    return FieldDefault(
        UNSET if _is_missing(default) else default, None if _is_missing(factory) else factory
    )


def _is_missing(value: Any) -> bool:
    # The marker of msgspec has no public name.
    return value is dataclasses.MISSING or repr(value) == "NODEFAULT"


def _pydantic(value: Any) -> FieldDefault:
    for name in _PYDANTIC_NAMES:
        if getattr(value, name, None) is not None:
            raise ValueError(f"a field with {name}=… cannot be a parameter; rename the parameter")
    default, factory = value.default, value.default_factory
    if getattr(value, "default_factory_takes_validated_data", False):
        raise ValueError("a default_factory that takes the other values cannot be used here")
    if default is ... or type(default).__name__ == "PydanticUndefinedType":
        default = UNSET
    return FieldDefault(default, factory, value)


def _attrs(value: Any) -> FieldDefault:
    if value._validator is not None or getattr(value, "converter", None) is not None:
        raise ValueError("a field with a validator or a converter cannot be a parameter")
    if getattr(value, "alias", None) is not None or not getattr(value, "init", True):
        raise ValueError("a field with an alias, or with init=False, cannot be a parameter")
    default = value._default
    if type(default).__name__ == "Factory":
        if default.takes_self:
            raise ValueError("a factory that takes the object cannot be used for a parameter")
        return FieldDefault(factory=default.factory)
    nothing = repr(default) == "NOTHING"
    return FieldDefault(UNSET if nothing else default)
