"""Secrets removed from what a failure says: providers repeat keys in their messages.

Messages and bodies are shortened in many places, and each cut may leave half a key. So not only
whole keys are found, but every stretch of a key of `PIECE` letters or more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace

from agentkit_core import JsonValue, ProviderFailure

REDACTED: Final = "[secret]"
"""What stands in place of a secret."""


PIECE: Final = 8
"""From how many letters on a piece of a secret is removed."""

_HALF: Final = PIECE // 2


def redact(text: str, secrets: Iterable[str]) -> str:
    """Replace secrets and pieces of them in a text, in plain form and as they are written in URLs.

    Args:
        text: Anything that people or logs will see.
        secrets: Keys and tokens; empty ones are ignored.
    """
    spellings = {form for secret in secrets if secret for form in (secret, quote(secret, safe=""))}
    # The longest first, since one secret may begin with another.
    for spelling in sorted(spellings, key=len, reverse=True):
        text = text.replace(spelling, REDACTED)
    return _redact_pieces(text, spellings)


_LOOKALIKE: Final = re.compile(
    r"(?=[\w+/=~-]*[0-9])(?=[\w+/=~-]*[A-Za-z])(?<![\w+/=~-])[\w+=~-]{14,}", re.ASCII
)


def redact_lookalikes(text: str) -> str:
    """Replace what looks like a key, in a text whose secrets are not known.

    Long words with letters and digits are replaced; ids of requests are among them.
    """
    return _LOOKALIKE.sub(REDACTED, text)


def _redact_pieces(text: str, spellings: Iterable[str]) -> str:
    """Replace every stretch of the text that stands in a secret, where it is long enough."""
    pieces = {
        spelling[at : at + PIECE]
        for spelling in spellings
        for at in range(len(spelling) - PIECE + 1)
    }
    halves = {piece[at : at + _HALF] for piece in pieces for at in range(_HALF + 1)}
    shown: list[str] = []
    shown_to = 0
    # Wherever a piece begins, a half of one begins at one of these places.
    for probe in range(_HALF, len(text) - _HALF + 1, _HALF + 1):
        if text[probe : probe + _HALF] not in halves:
            continue
        for at in range(max(shown_to, probe - _HALF), probe + 1):
            if text[at : at + PIECE] in pieces:
                end = at + PIECE
                while end < len(text) and text[end - PIECE + 1 : end + 1] in pieces:
                    end += 1
                shown += (text[shown_to:at], REDACTED)
                shown_to = end
                break
    return "".join((*shown, text[shown_to:]))


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
        raw=redact_json(failure.raw, known),
    )


def redact_json(value: JsonValue, secrets: tuple[str, ...]) -> JsonValue:
    """Replace secrets in all texts of a JSON value, names of fields included."""
    match value:
        case str():
            return redact(value, secrets)
        case list():
            return [redact_json(entry, secrets) for entry in value]
        case dict():
            return {
                redact(name, secrets): redact_json(entry, secrets) for name, entry in value.items()
            }
        case _:
            return value
