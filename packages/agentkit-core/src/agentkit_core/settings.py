"""Settings: records whose words and numbers are checked where they are made.

    LoopConfig(execution="sequential")    the member `Execution.SEQUENTIAL`
    LoopConfig(execution="seqential")     ValueError: … use one of 'parallel', …
    Limits(max_model_calls=-1)            ValueError: … use 0 or more
    Timeouts(idle_s="60")                 TypeError: … use a number

msgspec checks types only when it decodes, and `isinstance` checks would be missing in one place or
another, so all of our settings are checked here, by the annotations of their fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from types import UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import force_setattr

from agentkit_core.values import Record

__all__ = ["Settings", "check_values", "instance_of", "member_of", "number_of"]

E = TypeVar("E", bound=Enum)


class Settings(Record, frozen=True):
    """A record whose words and numbers are checked where it is made.

    The value of a member of a `StringEnum` is taken as the member. A field of numbers takes no
    text, one of yes or no takes `True` or `False` only, and times (`…_s`) and maxima (`max_…`) are
    not below 0. A subclass with a `__post_init__` of its own calls this one first.

    Raises:
        ValueError: A word or a number is not valid; the message names the words there are.
        TypeError: A value has the wrong type.
    """

    def __post_init__(self) -> None:
        check_values(self)


def check_values(record: Struct) -> None:
    """Check the words and numbers of a record as `Settings` does, for those with another base."""
    checks = _CHECKS.get(type(record))
    if checks is None:
        checks = _CHECKS[type(record)] = _checks_of(type(record))
    for name, accepted, check in checks:
        value = getattr(record, name)
        if type(value) not in accepted:
            changed = check(value)
            if changed is not value:
                force_setattr(record, name, changed)


def member_of(kind: type[E], value: object, name: str) -> E:
    """Return the member of an enum that a word means; a member is returned as it is.

    Args:
        kind: The enum.
        value: The member, or its value.
        name: What the value is for, for the error.

    Raises:
        ValueError: No member has this value; the message names those that there are.
        TypeError: The value is no text.
    """
    if isinstance(value, kind):
        return value
    words = ", ".join(repr(str(member.value)) for member in kind)
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; use one of {words}")
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{name} is {value!r}; use one of {words}") from None


def instance_of(value: object, kind: type, name: str) -> None:
    """Check that a value is of a class; None is accepted.

    Raises:
        TypeError: It is something else.
    """
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} is {value!r}; use a {kind.__name__}")


def number_of(value: object, name: str, *, whole: bool = False, least: int | None = None) -> float:
    """Return a number that is not NaN.

    Args:
        value: The number.
        name: What it is for, for the error.
        whole: Whether it has to be an integer.
        least: The least value that is valid; None means that all are.

    Raises:
        ValueError: The number is not valid.
        TypeError: The value is no number, or no whole one.
    """
    kinds = "a whole number" if whole else "a number"
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        raise TypeError(f"{name} is {value!r}; use {kinds}")
    if value != value:
        raise ValueError(f"{name} is {value!r}; use {kinds}")
    if least is not None and value < least:
        raise ValueError(f"{name} is {value!r}; use {least} or more")
    return value


_Check = tuple[str, frozenset[type], Callable[[object], object]]
_CHECKS: Final[dict[type, tuple[_Check, ...]]] = {}


def _checks_of(kind: type[Struct]) -> tuple[_Check, ...]:
    hints = get_type_hints(kind)
    checks = (_check_of(f"{kind.__name__}.{name}", hints[name]) for name in kind.__struct_fields__)
    return tuple(
        (name, check[0], check[1])
        for name, check in zip(kind.__struct_fields__, checks, strict=True)
        if check is not None
    )


def _check_of(name: str, hint: Any) -> tuple[frozenset[type], Callable[[object], object]] | None:
    """Make the check of a field; None if its type has neither words nor numbers."""
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if get_origin(hint) in (tuple, list, set, frozenset):
        return _check_of_container(name, hint)
    enums = [one for one in members if isinstance(one, type) and issubclass(one, Enum)]
    numbers = [one for one in members if one in (int, float)]
    others = tuple(
        one for one in members if isinstance(one, type) and one not in (*enums, *numbers)
    )
    settings = [one.__name__ for one in others if issubclass(one, Settings)]
    if not (enums or numbers or settings or bool in members):
        return None
    if len(others) + len(enums) + len(numbers) < len(members) or str in others:
        return None  # it takes more than can be checked here

    field = name.rpartition(".")[2]
    least = 0 if field.endswith("_s") or field.startswith("max_") else None

    def check(value: object) -> object:
        if isinstance(value, others) and not (isinstance(value, bool) and bool not in others):
            return value
        if numbers and not (enums and isinstance(value, str)):
            return number_of(value, name, whole=float not in numbers, least=least)
        if enums:
            return member_of(enums[0], value, name)
        expected = " or ".join(["True or False", *settings] if bool in others else settings)
        raise TypeError(f"{name} is {value!r}; use {expected}")

    # There is no fast way for numbers: NaN and those below 0 have the right type.
    return frozenset({*enums, *others}), check


def _check_of_container(
    name: str, hint: Any
) -> tuple[frozenset[type], Callable[[object], object]] | None:
    inside = [one for one in get_args(hint) if one is not ...]
    if len(inside) != 1 or not isinstance(inside[0], type) or not issubclass(inside[0], Enum):
        return None
    kind: type[Enum] = inside[0]

    def check(value: object) -> object:
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise TypeError(f"{name} is {value!r}; use several of {kind.__name__}")
        members = list(value)
        if all(isinstance(one, kind) for one in members):
            return value
        container: Callable[[list[Any]], object] = get_origin(hint)
        return container([member_of(kind, one, name) for one in members])

    return frozenset(), check
