"""Base classes of the project's values: structs and string enums that `help()` shows briefly.

Without them, `help(TextOutput)` lists the comparison, copying and pickling methods of every msgspec
struct, and `help(FinishReason)` every method of `str`: 60 and 450 lines that say nothing about the
class. The standard library does the same for plain enums, in `EnumType.__dir__`.
"""

from __future__ import annotations

from enum import EnumType, StrEnum
from typing import Any, Final

from msgspec import Struct, StructMeta

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
