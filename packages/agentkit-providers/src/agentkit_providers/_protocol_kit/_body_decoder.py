"""A body that is a stream of events or one JSON object: what it is shows in its first byte.

Shared by the decoders of protocols that come in both forms. What was asked for does not count:
a server that answers a streamed request with plain JSON is understood, and one that errs with
it too.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Final

from agentkit_core.provider import ModelEvent
from agentkit_providers._framing._sse import SseDecoder

DONE: Final = b"[DONE]"
"""The payload by which many servers end a stream."""

TRUNCATED: Final = "Input data was truncated"
"""What msgspec says of JSON that breaks off."""

_BLANK: Final = b" \t\r\n\xef\xbb\xbf"


class BodyDecoder(ABC):
    """Turns the bytes of a body into payloads; a protocol says what these mean.

    A protocol sets `_ended` with its last event; nothing is looked at after it.
    """

    def __init__(self) -> None:
        self._sse: SseDecoder | None = None
        """Reads the stream, if the body is one."""
        self._body: list[bytes] = []  # of an answer that comes whole
        self._ended = False

    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        """Take the next bytes; return the events that they complete."""
        if self._ended:
            return ()
        sse = self._sse
        if sse is None:
            if self._body:
                self._body.append(chunk)
                return ()
            chunk = chunk.lstrip(_BLANK)
            if not chunk:
                return ()
            if chunk[0] in b"{[":
                self._body.append(chunk)
                return ()
            sse = self._sse = SseDecoder()
        out: list[ModelEvent] = []
        self._take_payloads(sse.feed_data(chunk), out)
        return tuple(out)

    def finish(self) -> tuple[ModelEvent, ...]:
        """Take note that the body is over; return what ends the answer."""
        out: list[ModelEvent] = []
        if self._body:
            self._take_whole(b"".join(self._body), out)
            self._body = []
        elif self._sse is not None and not self._ended:
            for last in self._sse.finish():
                # Without its blank line an event may be cut; if it can be read, it is not.
                if last.data.strip() == DONE or is_json(last.data):
                    self._take_payloads([last.data], out)
        if not self._ended:
            self._end_of_body(out)
        return tuple(out)

    @abstractmethod
    def _take_payloads(self, payloads: list[bytes], out: list[ModelEvent]) -> None:
        """Add to `out` what the payloads of a stream mean, up to the last event."""

    @abstractmethod
    def _take_whole(self, body: bytes, out: list[ModelEvent]) -> None:
        """Add to `out` what an answer means that came whole."""

    @abstractmethod
    def _end_of_body(self, out: list[ModelEvent]) -> None:
        """Add to `out` the last event of an answer that has none when its body is over."""


def is_json(payload: bytes) -> bool:
    """Whether a payload is JSON, read as leniently as any answer is."""
    try:
        json.loads(payload.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return False
    return True
