"""HTTP headers: merging them and checking them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import AgentkitError
from agentkit_providers._secrets._in_headers import mask_header
from agentkit_providers._secrets._secret import MASK, Secret, revealed

HeaderValue = str | Secret
Headers = Mapping[str, HeaderValue | None]

_CHARACTERS: Final = (
    "has characters that an HTTP header cannot hold; remove quotes or line ends that were copied "
    "with it"
)


class UnusableHeader(AgentkitError):
    """A header of the caller's has a value that cannot be sent."""

    def __init__(self, header: str, problem: str = _CHARACTERS) -> None:
        super().__init__(f"the value of the header {header!r} {problem}")
        self.header = header
        self.problem = problem


_LISTS: Final = frozenset({"anthropic-beta"})
"""Headers that are lists, in which several have a say (vercel/ai#10018)."""


def merge_headers(*layers: Headers) -> dict[str, HeaderValue]:
    """Merge headers; those of later layers win, lists are joined, and None removes a header.

    Args:
        layers: Headers, names in any case.

    Returns:
        The headers, names in lower case.
    """
    merged: dict[str, HeaderValue | None] = {}
    for layer in layers:
        for name, value in layer.items():
            _set(merged, name.lower(), value)
    return {name: value for name, value in merged.items() if value is not None}


def check_headers(headers: Headers) -> dict[str, HeaderValue | None]:
    """Check a caller's headers before the HTTP client does, whose errors would show the values.

    Args:
        headers: The headers, names in any case; None for those to be removed.

    Returns:
        The headers, names in lower case, without white space around the values. Values are masked,
        except those of headers that are known to be harmless.

    Raises:
        UnusableHeader: A value is not a string or a `Secret`, or an HTTP header cannot hold it.
        TypeError: The headers are not a mapping.
    """
    given: object = headers
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise TypeError(f"headers= takes a mapping of names to values, not a value of type {kind}")
    checked: dict[str, HeaderValue | None] = {}
    for name, value in headers.items():
        _set(checked, name.lower(), None if value is None else _checked(name, value))
    return checked


def _checked(name: str, value: object) -> HeaderValue:
    if not isinstance(value, str | Secret):
        advice = "; a key that changes is given by a function in api_key=" * callable(value)
        kind = type(value).__name__
        raise UnusableHeader(name, f"is of type {kind}; pass a string or a Secret{advice}")
    text = revealed(value).strip()
    if not is_sendable(text):
        raise UnusableHeader(name)
    if text == MASK:
        raise UnusableHeader(name, "is the mask of a secret; pass the secret itself")
    return mask_header(name, text)


def _set(headers: dict[str, HeaderValue | None], name: str, value: HeaderValue | None) -> None:
    """Set a header; a list gets the further entries, each once."""
    known = headers.get(name)
    if name in _LISTS and value is not None and known is not None:
        entries = (entry.strip() for entry in f"{known},{value}".split(","))
        value = ",".join(dict.fromkeys(filter(None, entries)))
    headers[name] = value


def is_sendable(value: str) -> bool:
    """Whether an HTTP header can hold a value."""
    return value.isascii() and value.isprintable()
