"""HTTP headers: merging them, checking them, and finding those that hold secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import AgentkitError

_SECRET_WORDS: Final = ("auth", "key", "token", "cookie", "secret", "credential", "password")
_MIN_SECRET_LENGTH: Final = 8
"""Shorter values are placeholders (`x`, `none`, `EMPTY`). Redacting them would make messages
unreadable."""


class UnusableHeader(AgentkitError):
    """A header of the caller's has characters that an HTTP header cannot hold."""

    def __init__(self, header: str) -> None:
        super().__init__(
            f"the value of the header {header!r} has characters that an HTTP header cannot hold; "
            f"remove quotes or line ends that were copied with it"
        )
        self.header = header


_LISTS: Final = frozenset({"anthropic-beta"})
"""Headers that are lists, in which several have a say (vercel/ai#10018)."""


def merge_headers(*layers: Mapping[str, str | None]) -> dict[str, str]:
    """Merge headers; those of later layers win, lists are joined, and None removes a header.

    Args:
        layers: Headers, names in any case.

    Returns:
        The headers, names in lower case.
    """
    merged: dict[str, str | None] = {}
    for layer in layers:
        for name, value in layer.items():
            _set(merged, name.lower(), value)
    return {name: value for name, value in merged.items() if value is not None}


def check_headers(headers: Mapping[str, str | None]) -> dict[str, str | None]:
    """Check a caller's headers before the HTTP client does, whose errors would show the values.

    Args:
        headers: The headers, names in any case; None for those to be removed.

    Returns:
        The headers, names in lower case, without white space around the values.

    Raises:
        UnusableHeader: An HTTP header cannot hold one of the values.
    """
    checked: dict[str, str | None] = {}
    for name, value in headers.items():
        value = None if value is None else value.strip()
        if value is not None and not is_sendable(value):
            raise UnusableHeader(name)
        _set(checked, name.lower(), value)
    return checked


def _set(headers: dict[str, str | None], name: str, value: str | None) -> None:
    """Set a header; a list gets the further entries, each once."""
    known = headers.get(name)
    if name in _LISTS and value is not None and known is not None:
        entries = (entry.strip() for entry in f"{known},{value}".split(","))
        value = ",".join(dict.fromkeys(filter(None, entries)))
    headers[name] = value


def is_sendable(value: str) -> bool:
    """Whether an HTTP header can hold a value."""
    return value.isascii() and value.isprintable()


def may_hold_secret(header: str) -> bool:
    """Whether a header of this name is likely to hold a secret."""
    return any(word in header.lower() for word in _SECRET_WORDS)


def secrets_in(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The values that no failure may show: keys, without the scheme (`Bearer`) before them."""
    values = (value.rpartition(" ")[2] for name, value in headers.items() if may_hold_secret(name))
    return tuple(value for value in values if len(value) >= _MIN_SECRET_LENGTH)
