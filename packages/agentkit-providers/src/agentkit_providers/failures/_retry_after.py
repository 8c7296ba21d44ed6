"""How long a provider asks to wait: read from headers, then from the error body, then from words.

Headers come first because they are meant for programs. Pure: where a provider names a moment
instead of a time span, the current time is an argument, or the response's own `date` header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, Final

_SPAN: Final = re.compile(
    r"(?:(?P<d>\d+)\s*d(?:ays?)?\s*)?"
    r"(?:(?P<h>\d+)\s*h(?:ours?|r)?\s*)?"
    r"(?:(?P<m>\d+)\s*m(?:in(?:utes?)?)?(?![a-z])\s*)?"
    r"(?:(?P<s>\d+(?:\.\d+)?)\s*s(?:ec(?:onds?)?)?(?![a-z])\s*)?"
    r"(?:(?P<ms>\d+(?:\.\d+)?)\s*(?:ms|milliseconds?))?",
    re.IGNORECASE,
)
_SECONDS: Final = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_WORDS: Final = re.compile(
    r"(?:reset[s]?\s+(?:after|in)|(?:retry|try\s+again|wait)(?:\s+(?:after|in|for))?"
    r"|retry_?delay\W*|retry[-_ ]after\W*)\s*",
    re.IGNORECASE,
)
_EARLIEST_MOMENT_S: Final = 1_000_000_000.0
"""Numbers from here on are moments, in seconds since 1970; smaller numbers are time spans."""
_EARLIEST_MOMENT_MS: Final = 100_000_000_000.0
"""Numbers from here on are moments in milliseconds."""


def retry_after_s(
    headers: Mapping[str, str], error: Any, text: str, *, now_s: float | None
) -> float | None:
    """Read how long a provider asks to wait at least.

    Args:
        headers: The response's headers, names in lower case.
        error: The error of the body, as JSON; any value.
        text: The error's message.
        now_s: Seconds since 1970; None goes by the response's own `date` header.

    Returns:
        Seconds, at least 0; None where no wait is named in a form that is known here.
    """
    wait_s = _from_headers(headers, now_s)
    if wait_s is None and isinstance(error, Mapping):
        wait_s = _from_error(error, now_s)
    if wait_s is None:
        wait_s = _from_words(text)
    return None if wait_s is None else max(0.0, wait_s)


def span_s(text: str) -> float | None:
    """Read a time span: `34.07s`, `6m0s`, `18h31m10s`, `120ms`, `20 seconds`.

    Returns:
        Seconds; None where the text does not begin with a time span.
    """
    match = _SPAN.match(text)
    if match is None or not match.group():
        return None
    units = match.groupdict()
    return sum(float(units[unit]) * _SECONDS[unit] for unit in _SECONDS if units[unit])


def _from_headers(headers: Mapping[str, str], now_s: float | None) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    if now_s is None:
        now_s = _moment(headers.get("date"))
    retry_after = headers.get("retry-after")
    if retry_after is not None:
        wait_s = _number(retry_after)
        if wait_s is None:
            wait_s = _until(_moment(retry_after), now_s)
        if wait_s is None:
            wait_s = span_s(retry_after.strip())
        if wait_s is not None:
            return wait_s
    reset_after = headers.get("x-ratelimit-reset-after")
    if reset_after is not None and (wait_s := _reset(reset_after, now_s)) is not None:
        return wait_s
    if headers.get("x-ratelimit-remaining", "0").strip() in ("0", ""):
        reset = headers.get("x-ratelimit-reset")
        if reset is not None and (wait_s := _reset(reset, now_s)) is not None:
            return wait_s
    # Of several limits only those that are used up need a wait.
    waits = [
        _reset(headers.get(f"x-ratelimit-reset-{what}", ""), now_s)
        for what in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{what}", "").strip() == "0"
    ]
    return max((wait_s for wait_s in waits if wait_s is not None), default=None)


def _from_error(error: Mapping[Any, Any], now_s: float | None) -> float | None:
    for name in ("retry_after", "retry_after_seconds", "retryAfter"):
        value = error.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _finite(float(value))
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        if isinstance(delay, str) and (wait_s := span_s(delay)) is not None:
            return wait_s
    metadata = error.get("metadata")
    if isinstance(metadata, Mapping):
        headers = metadata.get("headers")
        if isinstance(headers, Mapping):
            lower = {str(name).lower(): str(value) for name, value in headers.items()}
            return _from_headers(lower, now_s)
    return None


def _from_words(text: str) -> float | None:
    for match in _WORDS.finditer(text):
        wait_s = span_s(text[match.end() : match.end() + 60])
        if wait_s is not None:
            return wait_s
    return None


def _reset(value: str, now_s: float | None) -> float | None:
    number = _number(value)
    if number is None:
        return span_s(value.strip())
    if number >= _EARLIEST_MOMENT_MS:
        return _until(number / 1000, now_s)
    return _until(number, now_s) if number >= _EARLIEST_MOMENT_S else number


def _until(moment_s: float | None, now_s: float | None) -> float | None:
    return None if moment_s is None or now_s is None else moment_s - now_s


def _moment(value: str | None) -> float | None:
    if value is None:
        return None
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None


def _number(value: str | None) -> float | None:
    try:
        return None if value is None else _finite(float(value))
    except ValueError:
        return None


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
