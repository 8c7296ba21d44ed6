"""Which key goes with a request, and how it is put into the headers.

Looked up at the first request, not before: the one that was given, else the first of the
endpoint's environment variables that is not empty.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final

from agentkit_core import AgentkitError
from agentkit_providers.model._secret import Secret, as_secret
from agentkit_providers.vendors._endpoint import Endpoint

KeySource = str | Secret | Callable[[], str | Secret]
"""A key, or what gives one; a callable is asked for every request, so that tokens may expire."""

_KEY_WORDS: Final = ("auth", "key", "token", "cookie", "secret", "credential", "password")
_LEAST_SECRET: Final = 8
"""Shorter values are no secrets but placeholders (`x`, `none`, `EMPTY`), and replacing them in
messages would make those unreadable."""


class MissingKey(AgentkitError):
    """A request needs a key, and none was given or found."""

    def __init__(self, provider: str, looked_at: tuple[str, ...]) -> None:
        names = " or ".join(looked_at)
        super().__init__(
            f"no key for {provider!r}: "
            + (f"set {names} in the environment, or give api_key=…" if names else "give api_key=…")
        )
        self.provider = provider
        self.looked_at = looked_at


class UnusableKey(AgentkitError):
    """A key holds characters that no HTTP header can carry."""

    def __init__(self, provider: str) -> None:
        super().__init__(
            f"the key for {provider!r} holds characters that no HTTP header can carry; "
            f"look for quotes, line ends or spaces that were copied with it"
        )
        self.provider = provider


class UnusableHeader(AgentkitError):
    """A header of the caller's holds characters that no HTTP header can carry."""

    def __init__(self, header: str) -> None:
        super().__init__(
            f"the value of the header {header!r} holds characters that no HTTP header can carry; "
            f"look for quotes or line ends that were copied with it"
        )
        self.header = header


class KeyRing:
    """Finds the key of one endpoint, and remembers it.

    Args:
        endpoint: Where the key is for.
        source: The caller's key, if there is one.
    """

    def __init__(self, endpoint: Endpoint, source: KeySource | None) -> None:
        self._endpoint = endpoint
        self._source = as_secret(source) if isinstance(source, str) else source

    def key(self) -> Secret | None:
        """The key, or None when there is none.

        Raises:
            UnusableKey: No header can carry it.
        """
        key = self._found()
        if key is None or not key:
            return None
        value = key.reveal()
        if not _is_sendable(value):
            raise UnusableKey(self._endpoint.name)
        return key

    def _found(self) -> Secret | None:
        source = self._source
        if source is None:
            values = (os.environ.get(name, "").strip() for name in self._endpoint.key_env)
            source = Secret(next(filter(None, values), ""))
            if source:
                self._source = source
        return source if isinstance(source, Secret) else as_secret(source())

    def missing(self) -> MissingKey:
        """The error that says where a key was looked for."""
        return MissingKey(self._endpoint.name, self._endpoint.key_env)

    def __reduce__(self) -> tuple[type[KeyRing], tuple[Endpoint, None]]:
        # A copy in another process finds its key as this one did, or is given one.
        return KeyRing, (self._endpoint, None)


def merged_headers(*layers: Mapping[str, str | None]) -> dict[str, str]:
    """Lay headers over each other, whatever the case of their names; None takes one away."""
    merged: dict[str, str | None] = {}
    for layer in layers:
        merged.update({name.lower(): value for name, value in layer.items()})
    return {name: value for name, value in merged.items() if value is not None}


def usable_headers(headers: Mapping[str, str | None]) -> dict[str, str | None]:
    """Take a caller's headers, names in lower case; white space around values is dropped.

    The HTTP client would refuse those that it cannot send too, and show them.

    Raises:
        UnusableHeader: No header can carry a value.
    """
    usable: dict[str, str | None] = {}
    for name, value in headers.items():
        value = None if value is None else value.strip()
        if value is not None and not _is_sendable(value):
            raise UnusableHeader(name)
        usable[name.lower()] = value
    return usable


def _is_sendable(value: str) -> bool:
    return value.isascii() and value.isprintable()


def carries_key(header: str) -> bool:
    """Whether a header of this name is likely to hold a secret."""
    return any(word in header.lower() for word in _KEY_WORDS)


def secrets_in(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The values that must not be shown: keys, without the scheme before them."""
    values = (value.rpartition(" ")[2] for name, value in headers.items() if carries_key(name))
    return tuple(value for value in values if len(value) >= _LEAST_SECRET)
