"""What an error body says, whatever its shape.

    {"error": {"message", "type", "code", "param", "status", "details", "metadata"}}   most
    {"error": "text", "code": …}             {"message": …, "type": …, "code": …}
    {"detail": "text"}                       {"detail": [{"loc": […], "msg": …}]}
    {"type": "error", "error": {…}}          {"errors": [{"message": …}]}
    [{"error": {…}}]                         text or HTML
    data: {"error": {…}}                     an event, where the request asked for a stream

Which kind of failure it is, `_kinds` decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import DecodeError, Struct

from agentkit_core import JsonValue
from agentkit_core.json import decode_json, without_lone_surrogates
from agentkit_providers._framing._sse import SseDecoder

RAW_LIMIT: Final = 8192
"""How many bytes of a body `raw` keeps."""
_MESSAGE_LIMIT: Final = 2000
_MAX_EVENT_HEAD: Final = 200
"""Within how many bytes from the start the payload of an event begins."""
_TAGS: Final = re.compile(r"(?is)<(script|style)\b.*?</\1\s*>|<[^>]*>")
_TITLE: Final = re.compile(r"(?is)<title[^>]*>(.*?)</title")


class ErrorFacts(Struct, frozen=True):
    """What an error body says.

    Attributes:
        message: The message for people; empty where the body has none.
        code: The error's code, a number as text; None where it has none.
        type: The error's type; Google has none, so there it is the word in `status`.
        param: The parameter of the request that is wrong; None where the body names none.
        status: A status that the body names, such as an error's numeric code.
        words: The codes, types and reasons in the body, the most precise first.
        request_id: The provider's id of the request; None where the body has none.
        tokens: How many tokens the request had; None where no field says.
        token_limit: How many tokens it may have; None where no field says.
        error: The error itself, where the body is JSON.
        raw: The body, at most `RAW_LIMIT` bytes of it.
    """

    message: str = ""
    code: str | None = None
    type: str | None = None
    param: str | None = None
    status: int | None = None
    words: tuple[str, ...] = ()
    request_id: str | None = None
    tokens: int | None = None
    token_limit: int | None = None
    error: JsonValue = None
    raw: JsonValue = None


def facts_of_body(body: bytes) -> ErrorFacts:
    """Read the body of an HTTP error; never raises."""
    text = body[:RAW_LIMIT].decode("utf-8", "replace")
    try:
        value = decode_json(_event_payload(body) or body)
    except (DecodeError, UnicodeError, RecursionError):
        return ErrorFacts(message=_shorten(_without_markup(text)), raw=text or None)
    return facts_of_json(value, raw=value if len(body) <= RAW_LIMIT else text)


def _event_payload(body: bytes) -> bytes | None:
    """The payload of a body that is an event; None for other bodies."""
    if b"data:" not in body[:_MAX_EVENT_HEAD]:
        return None
    return next(iter(SseDecoder().feed_data(body + b"\n\n")), None)


def facts_of_json(value: JsonValue, *, raw: JsonValue) -> ErrorFacts:
    """Read an error that is JSON: a whole body, or the error object alone.

    Args:
        value: The JSON.
        raw: What `ErrorFacts.raw` keeps.
    """
    outer = _first(value)
    error = outer.get("error") if isinstance(outer, Mapping) else None
    inner = error if isinstance(error, Mapping) and error else outer
    if not isinstance(inner, Mapping) or not isinstance(outer, Mapping):
        return ErrorFacts(message=_shorten(_text(value)), error=value, raw=raw)
    code, kind = inner.get("code", outer.get("code")), inner.get("type")
    return ErrorFacts(
        message=_shorten(_message(inner, outer)),
        code=_scalar(code),
        type=next(
            (word for word in (kind, inner.get("status")) if isinstance(word, str) and word), None
        ),
        param=_scalar(inner.get("param")),
        status=_status(inner, outer),
        words=_words(inner, code, kind),
        request_id=_scalar(outer.get("request_id") or inner.get("request_id")),
        tokens=_integer(inner.get("n_prompt_tokens")),
        token_limit=_integer(inner.get("n_ctx")),
        error=dict(inner),
        raw=raw,
    )


def _first(value: JsonValue) -> JsonValue:
    while isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, Mapping):
        errors = value.get("errors")
        if "error" not in value and isinstance(errors, list) and errors:
            return {"error": errors[0]}
    return value


def _message(inner: Mapping[str, Any], outer: Mapping[str, Any]) -> str:
    message = next(
        (
            text
            for holder in (inner, outer)
            for name in ("message", "Message", "error_message", "detail", "error", "msg", "title")
            if (text := _text(holder.get(name)))
        ),
        "",
    )
    metadata = inner.get("metadata")
    if isinstance(metadata, Mapping):
        # An aggregator adds what the provider behind it said.
        upstream = metadata.get("raw")
        if isinstance(upstream, str) and upstream.strip() and upstream not in message:
            message = f"{message}: {upstream.strip()}" if message else upstream.strip()
    return message


def _text(value: Any, depth: int = 5) -> str:
    """The text of a message, or the texts of the messages nested in it, a few levels deep."""
    if isinstance(value, str):
        return value.strip()
    if not depth:
        return ""
    if isinstance(value, list):
        return "; ".join(filter(None, (_text(entry, depth - 1) for entry in value)))
    if not isinstance(value, Mapping):
        return ""
    texts = (_text(value.get(name), depth - 1) for name in ("message", "msg", "detail"))
    text = next(filter(None, texts), "")
    location = value.get("loc")
    if text and isinstance(location, list):
        return f"{'.'.join(map(str, location))}: {text}"
    return text


def _words(inner: Mapping[str, Any], code: Any, kind: Any) -> tuple[str, ...]:
    details = inner.get("details")
    reasons = [
        detail.get("reason")
        for detail in (details if isinstance(details, list) else ())
        if isinstance(detail, Mapping)
    ]
    innermost = inner.get("innererror")
    innermost_code = innermost.get("code") if isinstance(innermost, Mapping) else None
    words = (innermost_code, code, *reasons, kind, inner.get("status"), inner.get("__type"))
    return tuple(word for word in words if isinstance(word, str) and word and not word.isdigit())


def _status(inner: Mapping[str, Any], outer: Mapping[str, Any]) -> int | None:
    for value in (
        inner.get("status_code"),
        inner.get("code"),
        outer.get("raw_status_code"),
        inner.get("status"),
        outer.get("code"),
        outer.get("status"),
    ):
        if isinstance(value, str) and re.fullmatch("[45][0-9]{2}", value):
            return int(value)
        number = _integer(value)
        if number is not None and 400 <= number < 600:
            return number
    return None


def _without_markup(text: str) -> str:
    if "<" not in text:
        return text.strip()
    title = _TITLE.search(text)
    return " ".join(_TAGS.sub(" ", title.group(1) if title else text).split())


def _shorten(text: str) -> str:
    clean = without_lone_surrogates(text)
    return clean if len(clean) <= _MESSAGE_LIMIT else clean[:_MESSAGE_LIMIT] + "…"


def _scalar(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value) or None


def _integer(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
