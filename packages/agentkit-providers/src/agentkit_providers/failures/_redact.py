"""Secrets removed from what a failure says: providers repeat keys in their messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace

from agentkit_core import JsonValue, ProviderFailure

REDACTED: Final = "[secret]"
"""What stands in place of a secret."""


def redact(text: str, secrets: Iterable[str]) -> str:
    """Replace secrets in a text, in plain form and as they are written in URLs.

    Args:
        text: Anything that people or logs will see.
        secrets: Keys and tokens; empty ones are ignored.
    """
    spellings = {form for secret in secrets if secret for form in (secret, quote(secret, safe=""))}
    # The longest first, since one secret may begin with another.
    for spelling in sorted(spellings, key=len, reverse=True):
        text = text.replace(spelling, REDACTED)
    return text


def redact_failure(failure: ProviderFailure, secrets: Iterable[str]) -> ProviderFailure:
    """Replace secrets in all texts of a failure."""
    known = tuple(secrets)

    def clean(text: str | None) -> str | None:
        return None if text is None else redact(text, known)

    return replace(
        failure,
        message=redact(failure.message, known),
        code=clean(failure.code),
        type=clean(failure.type),
        param=clean(failure.param),
        request_id=clean(failure.request_id),
        raw=_redact_json(failure.raw, known),
    )


def _redact_json(value: JsonValue, secrets: tuple[str, ...]) -> JsonValue:
    match value:
        case str():
            return redact(value, secrets)
        case list():
            return [_redact_json(entry, secrets) for entry in value]
        case dict():
            return {
                redact(name, secrets): _redact_json(entry, secrets) for name, entry in value.items()
            }
        case _:
            return value
