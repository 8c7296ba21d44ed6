"""Base classes of the project's values: structs and string enums that `help()` shows briefly.

Without them, `help(TextOutput)` lists the comparison, copying and pickling methods of every msgspec
struct, and `help(FinishReason)` every method of `str`: 60 and 450 lines that say nothing about the
class. The standard library does the same for plain enums, in `EnumType.__dir__`.
"""

from __future__ import annotations

from enum import EnumType, StrEnum
from typing import Final

from msgspec import Struct, StructMeta

_OF_STRUCTS: Final = frozenset(
    {*dir(Struct), "__annotations__", "__match_args__", "__post_init__"} - {"__doc__", "__module__"}
)
_OF_STRINGS: Final = frozenset({*dir(str), "__members__", "__new__"} - {"__doc__"})


class _RecordType(StructMeta):
    def __dir__(cls) -> list[str]:  # noqa: N805
        return [name for name in super().__dir__() if name not in _OF_STRUCTS]


class Record(Struct, frozen=True, metaclass=_RecordType):
    """A frozen `msgspec.Struct` whose `help()` shows its own fields and methods only.

    `dir()` of a subclass, which `help()` reads, leaves out what all structs have; the methods
    themselves work as usual.
    """


class _StringEnumType(EnumType):
    def __dir__(cls) -> list[str]:
        own = [name for name in vars(cls) if not name.startswith("_")]
        return sorted({*super().__dir__(), *own} - _OF_STRINGS)


class StringEnum(StrEnum, metaclass=_StringEnumType):
    """A `StrEnum` whose `help()` shows its members, and not the methods of `str`."""
