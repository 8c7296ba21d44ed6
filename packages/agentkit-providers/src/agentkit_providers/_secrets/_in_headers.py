"""Headers that hold secrets: which they are, and what no failure may show of them.

A caller may put a key into a header of any name. So all values are taken for secrets, except those
of headers that are known to be harmless.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import Final

from agentkit_providers._secrets._secret import Secret, revealed

MIN_SECRET_LENGTH: Final = 8
"""Shorter values are placeholders (`x`, `none`, `EMPTY`). Redacting them would make messages
unreadable."""

_SECRET_WORDS: Final = (
    *("auth", "key", "token", "cookie", "secret", "credential", "password", "signature"),
)
_HARMLESS: Final = frozenset(
    {
        *("accept", "accept-charset", "accept-encoding", "accept-language", "cache-control"),
        *("connection", "content-encoding", "content-length", "content-type", "date", "expect"),
        *("host", "http-referer", "keep-alive", "origin", "referer", "te", "transfer-encoding"),
        *("traceparent", "tracestate", "user-agent", "x-client-name", "x-title"),
        *("anthropic-beta", "anthropic-version", "openai-beta", "openai-organization"),
        *("openai-project", "x-goog-api-client", "x-goog-request-params", "x-goog-user-project"),
    }
)
"""Headers whose values may be shown."""
_SCHEMES: Final = frozenset({"apikey", "api-key", "basic", "bearer", "key", "oauth", "token"})
"""Words that stand before a key in its header."""


def may_hold_secret(name: str) -> bool:
    """Whether a header, or a field of a query, is by its name meant for a secret."""
    return any(word in name.lower() for word in _SECRET_WORDS)


def mask_header(name: str, value: str | Secret) -> str | Secret:
    """Mask the value of a header, unless its name is known to be harmless."""
    if name.lower() in _HARMLESS:
        return revealed(value)
    return value if isinstance(value, Secret) else Secret(value)


def secrets_in(headers: Mapping[str, str | Secret]) -> tuple[str, ...]:
    """The values that no failure may show: those of all headers that are not known as harmless.

    Args:
        headers: The headers, names in any case.

    Returns:
        The values without the scheme (`Bearer`) before them; of a user and a password, also the
        password. Values shorter than `MIN_SECRET_LENGTH` are left out.
    """
    found: list[str] = []
    for name, value in headers.items():
        if name.lower() in _HARMLESS:
            continue
        scheme, _, rest = revealed(value).partition(" ")
        is_scheme = bool(rest) and scheme.lower() in _SCHEMES
        found.append(rest.strip() if is_scheme else revealed(value))
        if is_scheme and scheme.lower() == "basic":
            found += _user_and_password(rest)
    return tuple(value for value in found if len(value) >= MIN_SECRET_LENGTH)


def _user_and_password(encoded: str) -> list[str]:
    try:
        decoded = b64decode(encoded).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return []
    user, _, password = decoded.partition(":")
    return [decoded, password or user]
