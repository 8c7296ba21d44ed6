"""Server-sent events: bytes in, events out.

Knows the text/event-stream format and no provider; each protocol's `_decode` knows what an event
means. Works on bytes throughout, since JSON readers take bytes and only CR, LF and CRLF end a line.
So a character that is cut in two, or a raw U+2028, does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import repeat
from operator import contains
from typing import Final, cast

from msgspec import Struct

_BOM: Final = b"\xef\xbb\xbf"
_PLAIN: Final = b"data: "
_NAMED: Final = b"event: "
_AFTER_NAME: Final = b"\n" + _PLAIN
"""The bytes between the name of an event and its one data line."""


class SseEvent(Struct, frozen=True, gc=False):
    """One event.

    Attributes:
        data: The payload: the event's data lines, joined by LF. UTF-8, unless the server is wrong.
        event: The event's name; `message` where the server sent none.
        id: The last event id that the server had sent; empty where it had sent none.
    """

    data: bytes
    event: str = "message"
    id: str = ""


class SseDecoder:
    """Reads one event stream by the WHATWG grammar, however it is cut.

    Use `feed` or, where names and ids do not matter, the faster `feed_data`; both may be used for
    one stream. Time is linear in the bytes, for any cut.
    """

    def __init__(self) -> None:
        self.retry_ms: int | None = None
        """The reconnection time that the server last asked for."""
        self._start: bytes | None = b""  # may still become a byte order mark; None once decided
        self._after_cr = False
        self._line: list[bytes] = []  # pieces of the line that has not ended yet
        self._data: list[bytes] = []  # data lines of the event that has not ended yet
        self._event = b""
        self._id = b""
        self._fields_open = False
        self._data_only = False  # whether payloads alone are enough
        self._prefix = b""  # what stood before the last payload; empty while an event is open

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes; return the events that they complete.

        Args:
            chunk: Any number of bytes, cut anywhere.
        """
        self._data_only = False
        return [
            SseEvent(event) if isinstance(event, bytes) else event for event in self._feed(chunk)
        ]

    def feed_data(self, chunk: bytes) -> list[bytes]:
        """Take the next bytes; return the payloads of the events that they complete."""
        prefix = self._prefix
        if prefix and chunk[: len(prefix)] == prefix:
            # Most reads bring one event of one data line, maybe after a name, and most names are
            # that of the event before. (`0x0D in line` takes an eighth of `b"\r" in line`.)
            line, _, rest = chunk[len(prefix) :].partition(b"\n")
            if rest == b"\n" and 0x0D not in line:
                return [line]
            if rest == b"\r\n" and line.find(b"\r") == len(line) - 1:
                return [line[:-1]]
        self._data_only = True
        payloads = self._feed(chunk)
        if self._prefix:
            self._prefix = _prefix_of(chunk)
        return cast("list[bytes]", payloads)

    def finish(self) -> list[SseEvent]:
        """Take note that the stream is over; return the event that has not ended, if any.

        The grammar discards an event without a blank line after it. But some servers leave out the
        last blank line, and other streams are cut off within an event. So the event is returned
        here, for a caller who can find out whether its payload is complete. Calling it again
        returns nothing.
        """
        done: list[bytes | SseEvent] = []
        self._data_only = False
        if self._start:
            self._split(self._start, done)
            self._start = None
        if self._line:
            last = b"".join(self._line)
            self._line = []
            self._take_line(last, done)
        self._dispatch(done)
        return [SseEvent(event) if isinstance(event, bytes) else event for event in done]

    def _feed(self, chunk: bytes) -> list[bytes | SseEvent]:
        done: list[bytes | SseEvent] = []
        if self._start is not None:
            chunk = self._start + chunk
            if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
                self._start = chunk
                return done
            self._start = None
            chunk = chunk.removeprefix(_BOM)
        if chunk:
            self._split(chunk, done)
        if self._line or self._fields_open or self._after_cr or self._id:
            self._prefix = b""
        elif not self._prefix:
            self._prefix = _PLAIN
        return done

    def _split(self, chunk: bytes, done: list[bytes | SseEvent]) -> None:
        if self._after_cr:
            # The CR ended its line when it came; an LF right after it belongs to it.
            self._after_cr = False
            if chunk[0] == 0x0A:
                chunk = chunk[1:]
        if 0x0D in chunk:
            self._after_cr = chunk[-1] == 0x0D
            chunk = chunk.replace(b"\r\n", b"\n")
            if 0x0D in chunk:
                chunk = chunk.replace(b"\r", b"\n")
        if 0x0A not in chunk:
            if chunk:
                self._line.append(chunk)
            return
        if self._line:
            self._line.append(chunk)
            chunk = b"".join(self._line)
            self._line = []
        if self._fields_open:
            chunk = self._close_event(chunk, done)
        if not self._id and (self._data_only or chunk.startswith(_PLAIN)):
            payloads, chunk = _plain_events(chunk, self._prefix.replace(b"\r\n", b"\n") or _PLAIN)
            done += payloads
        lines = chunk.split(b"\n")
        last = lines.pop()
        for line in lines:
            self._take_line(line, done)
        if last:
            self._line.append(last)

    def _close_event(self, chunk: bytes, done: list[bytes | SseEvent]) -> bytes:
        """Take whole lines until the open event has ended; return the remaining bytes."""
        at = 0
        while self._fields_open:
            end = chunk.find(b"\n", at)
            if end < 0:
                return chunk[at:]
            self._take_line(chunk[at:end], done)
            at = end + 1
        return chunk[at:]

    def _take_line(self, line: bytes, done: list[bytes | SseEvent]) -> None:
        if not line:
            self._dispatch(done)
            return
        name, _, value = line.partition(b":")
        take = _FIELDS.get(name)
        if take is not None:  # others, and comments (whose name is empty), are ignored
            self._fields_open = True
            take(self, value.removeprefix(b" "))

    def _dispatch(self, done: list[bytes | SseEvent]) -> None:
        self._fields_open = False
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            self._data = []
            if self._data_only:
                done.append(data)
            else:
                name = self._event.decode("utf-8", "replace") or "message"
                done.append(SseEvent(data, name, self._id.decode("utf-8", "replace")))
        self._event = b""

    def _take_data(self, value: bytes) -> None:
        self._data.append(value)

    def _take_event(self, value: bytes) -> None:
        self._event = value

    def _take_id(self, value: bytes) -> None:
        if b"\0" not in value:
            self._id = value

    def _take_retry(self, value: bytes) -> None:
        if value.isdigit():
            self.retry_ms = int(value[:18])


def _prefix_of(chunk: bytes) -> bytes:
    """Return what stands before the last payload of a chunk: `data: `, maybe after a name."""
    at = chunk.rfind(b"\n" + _PLAIN)
    line = chunk[chunk.rfind(b"\n", 0, max(at, 0)) + 1 : at + 1]
    return line + _PLAIN if line[:7] == _NAMED and 0x0D not in line[:-2] else _PLAIN


def _plain_events(chunk: bytes, prefix: bytes) -> tuple[list[bytes], bytes]:
    """Take the whole events at the front of a chunk, if each is one data line, maybe after a name.

    Servers send nearly all events so. If no line end is left within a payload, there is nothing
    else.

    Args:
        chunk: Bytes that begin with an event; all lines end in LF.
        prefix: What probably stands before each payload.

    Returns:
        The payloads, and the bytes after these events; the whole chunk where one is different.
    """
    end = chunk.rfind(b"\n\n") + 2
    if end < 2:
        return [], chunk
    events = chunk if end == len(chunk) else chunk[:end]
    prefix = prefix if events.startswith(prefix) else _PLAIN
    if events.startswith(prefix):
        payloads = events[len(prefix) : -2].split(b"\n\n" + prefix)
        if not any(map(contains, payloads, repeat(0x0A))):
            return payloads, chunk[end:]
    if not events.startswith(_NAMED):
        return [], chunk
    payloads = []
    for event in events[:-2].split(b"\n\n"):
        name, _, payload = event.partition(_AFTER_NAME)
        if not payload or name[:7] != _NAMED or 0x0A in name or 0x0A in payload:
            return [], chunk
        payloads.append(payload)
    return payloads, chunk[end:]


_FIELDS: Final[Mapping[bytes, Callable[[SseDecoder, bytes], None]]] = {
    b"data": SseDecoder._take_data,
    b"event": SseDecoder._take_event,
    b"id": SseDecoder._take_id,
    b"retry": SseDecoder._take_retry,
}
