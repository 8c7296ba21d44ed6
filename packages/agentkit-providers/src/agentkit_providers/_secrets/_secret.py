"""Secrets: a key that shows a mask wherever it is printed."""

from __future__ import annotations

from typing import Final, NoReturn

MASK: Final = "***"
"""What is shown in place of a secret."""


class Secret:
    """A key, masked wherever values are printed or saved.

    `repr`, `str` and formatting show a mask, JSON writers refuse the type, and pickling raises.
    Two secrets are equal when their values are.

    Args:
        value: The key. White space around it is removed: keys read from files end in a newline.

    Raises:
        TypeError: The value is not a string.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        given: object = value
        if not isinstance(given, str):
            kind = type(given).__name__
            raise TypeError(f"a Secret holds a string, not a value of type {kind}; convert it")
        self._value = value.strip()

    def reveal(self) -> str:
        """Return the key itself, for an HTTP header and nothing else."""
        return self._value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return str(self)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __getstate__(self) -> NoReturn:
        raise TypeError(
            "a Secret cannot be pickled, since a key is not written down; make what holds it again "
            "where it is needed, with the key from the environment or from a function"
        )

    def __reduce__(self) -> NoReturn:
        self.__getstate__()


def as_secret(value: str | Secret) -> Secret:
    """Wrap a key that may still be a string."""
    return value if isinstance(value, Secret) else Secret(value)


def revealed(value: str | Secret) -> str:
    """The string itself; this is where secrets are opened, to be sent."""
    return value.reveal() if isinstance(value, Secret) else value
