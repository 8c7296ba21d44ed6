"""Base classes: structs and enums that `help()` shows briefly, and errors that can be pickled.

Without them, `help(TextOutput)` lists the comparison, copying and pickling methods of every msgspec
struct, and `help(FinishReason)` every method of `str`: 60 and 450 lines that say nothing about the
class. The standard library does the same for plain enums, in `EnumType.__dir__`.
"""

from __future__ import annotations

from enum import EnumType, StrEnum
from typing import Any, Final, Self, TypeVar

from msgspec import Struct, StructMeta

_Error = TypeVar("_Error", bound=BaseException)

_OF_STRUCTS: Final = frozenset(
    {*dir(Struct), "__annotations__", "__match_args__", "__post_init__"} - {"__doc__", "__module__"}
)
_OF_STRINGS: Final = frozenset({*dir(str), "__members__", "__new__"} - {"__doc__"})


class _RecordType(StructMeta):
    def __dir__(cls) -> list[str]:  # noqa: N805
        return [name for name in super().__dir__() if name not in _OF_STRUCTS]


_HAS_VECTORCALL: Final = 1 << 11
"""The flag of types whose calls take the fast path of CPython."""

# Before Python 3.12, classes whose metaclass is written in Python lack it. Creating a struct would
# take up to three times as long, and every event is a struct; there, `help()` is not brief.
_Brief: Any = _RecordType
_Meta: Any = _Brief if _Brief.__flags__ & _HAS_VECTORCALL else StructMeta


class Record(Struct, frozen=True, metaclass=_Meta):  # type: ignore[metaclass]
    """A frozen `msgspec.Struct` whose `help()` shows its own fields and methods only.

    `dir()` of a subclass, which `help()` reads, leaves out what all structs have; the methods
    themselves work as usual. In Python 3.11, `help()` shows all of it.
    """


class _StringEnumType(EnumType):
    def __dir__(cls) -> list[str]:
        own = [name for name in vars(cls) if not name.startswith("_")]
        return sorted({*super().__dir__(), *own} - _OF_STRINGS)


class StringEnum(StrEnum, metaclass=_StringEnumType):
    """A `StrEnum` whose `help()` shows its members, and not the methods of `str`."""


class PortableError(BaseException):
    """The base class of exceptions that can be copied, and pickled with all that they carry.

    Python would call the class with the message alone, but ours take facts. What cannot be pickled
    (a function, an instance of a local class) arrives as its `repr`.
    """

    def __copy__(self) -> Self:
        return _rebuild(type(self), self.args, vars(self).copy(), _causes_of(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        from copy import deepcopy  # imported late, because few errors are copied

        args, facts = deepcopy((self.args, vars(self)), memo)
        return _rebuild(type(self), args, facts, _causes_of(self))

    def __reduce__(self) -> tuple[Any, ...]:
        facts = {name: _portable(fact) for name, fact in vars(self).items()}
        causes = {name: cause for name, cause in _causes_of(self).items() if _pickles(cause)}
        return _rebuild, (type(self), tuple(map(_portable, self.args)), facts, causes)


def _rebuild(
    cls: type[_Error],
    args: tuple[Any, ...],
    facts: dict[str, Any],
    causes: dict[str, Any] | None = None,
) -> _Error:
    error: _Error = cls.__new__(cls, *args)
    error.args = args
    vars(error).update(facts)
    for name, cause in (causes or {}).items():
        setattr(error, name, cause)
    return error


def _causes_of(error: BaseException) -> dict[str, Any]:
    return {
        "__cause__": error.__cause__,
        "__context__": error.__context__,
        # Setting the cause sets this too.
        "__suppress_context__": error.__suppress_context__,
    }


def _portable(fact: object) -> object:
    return fact if _pickles(fact) else repr(fact)


def _pickles(fact: object) -> bool:
    import pickle  # imported late, because few errors are pickled

    try:
        pickle.loads(pickle.dumps(fact))  # noqa: S301 - these bytes are our own
    except Exception:
        return False
    return True
