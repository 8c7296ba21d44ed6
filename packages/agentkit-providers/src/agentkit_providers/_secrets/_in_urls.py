"""URLs that hold secrets: a password before the host, a key in the query.

A user and a password are taken out of a URL and sent as a header, as browsers do. A query is sent
as it is, and its values are masked wherever the URL is shown, except those that are known to be
harmless.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from agentkit_providers._secrets._in_headers import MIN_SECRET_LENGTH
from agentkit_providers._secrets._secret import MASK, Secret

_HARMLESS: Final = frozenset(
    {
        *("alt", "api-version", "api_version", "beta", "deployment", "location", "model"),
        *("project", "region", "version"),
    }
)
"""Fields of a query whose values may be shown."""


class SecretUrl(Secret):
    """A URL with a password or a key in it. Printed, it shows the rest of the URL."""

    __slots__ = ()

    def __str__(self) -> str:
        return mask_url(self.reveal())


def mask_url(url: str) -> str:
    """Write a URL with masks in place of its user, its password and the values of its query."""
    start, mark, query = url.partition("?")
    scheme, slashes, rest = start.partition("://")
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    shown = f"{scheme}{slashes}{MASK if user else user}{at}{host}{slash}{path}{mark}"
    return shown + "&".join(map(_mask_field, query.split("&")))


def _mask_field(field: str) -> str:
    name, sign, value = field.partition("=")
    if not sign:
        return MASK if len(name) >= MIN_SECRET_LENGTH and name not in _HARMLESS else name
    return field if not value or name.lower() in _HARMLESS else f"{name}={MASK}"


def has_secrets(url: str) -> bool:
    """Whether a URL would be masked where it is shown."""
    return mask_url(url) != url


def secrets_in_url(url: str) -> tuple[str, ...]:
    """The user, the password and the values of a URL that no failure may show.

    Returns:
        The values as they are written and as they are meant, without those that are shorter than
        `MIN_SECRET_LENGTH`; empty where the URL is not valid.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    values = [parts.username or "", parts.password or ""]
    if parts.password:
        values.append(f"{parts.username or ''}:{parts.password}")
    for field in parts.query.split("&"):
        name, sign, value = field.partition("=")
        if name.lower() not in _HARMLESS:
            values.append(value if sign else name)
    spellings = {spelling for value in values for spelling in (value, unquote(value))}
    return tuple(value for value in spellings if len(value) >= MIN_SECRET_LENGTH)


def without_user(url: str) -> tuple[str, Secret | None]:
    """Take the user and the password out of a URL.

    Returns:
        The URL without them, and the header `authorization` that says the same; None where the URL
        has neither.

    Raises:
        ValueError: The URL is not valid.
    """
    parts = urlsplit(url)
    userinfo, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, None
    user, _, password = userinfo.partition(":")
    encoded = b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    bare = urlunsplit(parts._replace(netloc=host))
    return bare, Secret(f"Basic {encoded}") if userinfo else None
