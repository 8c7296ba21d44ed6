"""Server-sent events: bytes in, events out.

Knows the text/event-stream format and nothing of any provider; what an event means is said
one room further, in each protocol's `_decode`. Works on bytes throughout, since JSON readers
take bytes, and only CR, LF and CRLF end a line: cutting a character in two or sending a raw
U+2028 harms nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, cast

from msgspec import Struct

_BOM: Final = b"\xef\xbb\xbf"
_PLAIN: Final = b"data: "
_BETWEEN: Final = b"\n\n" + _PLAIN
"""What stands between two events of one data line each."""
_NAMED: Final = b"event: "
_AFTER_NAME: Final = b"\n" + _PLAIN
"""What stands between the name of an event and its one data line."""


class SseEvent(Struct, frozen=True, gc=False):
    """One event, as it was dispatched.

    Attributes:
        data: The payload: the event's data lines, joined by LF. UTF-8, unless the server errs.
        event: Its name; `message` where the server gave none.
        id: The last event id when it was dispatched; ids stay until another one comes.
    """

    data: bytes
    event: str = "message"
    id: str = ""


class SseDecoder:
    """Reads one event stream, by the WHATWG grammar, however it is cut.

    Use `feed` or, where names and ids do not matter, the quicker `feed_data`; a stream may
    be read by turns of both. Time is linear in the bytes fed, for any cut.
    """

    def __init__(self) -> None:
        self.retry_ms: int | None = None
        """The reconnection time that the server last asked for."""
        self._start: bytes | None = b""  # what may yet be a byte order mark; None once decided
        self._after_cr = False
        self._line: list[bytes] = []  # pieces of the line that is not ended yet
        self._data: list[bytes] = []  # data lines of the event that is not ended yet
        self._event = b""
        self._id = b""
        self._fields_open = False
        self._data_only = False  # whether the events that are made may be payloads alone
        self._between = False  # whether no event is open, and nothing is held back

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes; return the events that they complete.

        Args:
            chunk: Any number of bytes, cut anywhere.
        """
        self._data_only = False
        return [SseEvent(one) if isinstance(one, bytes) else one for one in self._feed(chunk)]

    def feed_data(self, chunk: bytes) -> list[bytes]:
        """Take the next bytes; return the payloads of the events that they complete."""
        if self._between and chunk[-2:] == b"\n\n" and b"\r" not in chunk:
            # Servers send whole events, and nearly all are one data line, maybe after a name. If
            # what stands between such events accounts for every line end, there is nothing else.
            ends = chunk.count(b"\n")
            if chunk[:6] == _PLAIN:
                if ends == 2:
                    return [chunk[6:-2]]
                payloads = chunk[6:-2].split(_BETWEEN)
                if ends == 2 * len(payloads):
                    return payloads
            elif chunk[:7] == _NAMED:
                if ends == 3:
                    _, between, payload = chunk.partition(_AFTER_NAME)
                    if between:
                        return [payload[:-2]]
                parted = [one.partition(_AFTER_NAME) for one in chunk[:-2].split(b"\n\n")]
                if ends == 3 * len(parted) and all(
                    name[:7] == _NAMED and between for name, between, _ in parted
                ):
                    return [payload for _, _, payload in parted]
        self._data_only = True
        return cast("list[bytes]", self._feed(chunk))

    def finish(self) -> list[SseEvent]:
        """Take note that the stream is over; return the event that was not ended, if any.

        The grammar discards an event without its blank line. Servers do leave out the last
        blank line, and others are cut off in mid-event: so it is given here, apart from the
        rest, for a caller who can tell whether the payload is whole. Calling it again
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
        return [SseEvent(one) if isinstance(one, bytes) else one for one in done]

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
        self._between = not (self._line or self._fields_open or self._after_cr or self._id)
        return done

    def _split(self, chunk: bytes, done: list[bytes | SseEvent]) -> None:
        if self._after_cr:
            # The CR ended its line when it came; an LF right after it is its other half.
            self._after_cr = False
            if chunk[0] == 0x0A:
                chunk = chunk[1:]
        if b"\r" in chunk:
            self._after_cr = chunk[-1] == 0x0D
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            if chunk:
                self._line.append(chunk)
            return
        if self._line:
            self._line.append(chunk)
            chunk = b"".join(self._line)
            self._line = []
        if self._fields_open:
            chunk = self._close_event(chunk, done)
        if not self._id and chunk.startswith(_PLAIN):
            # As in `feed_data`, but for the last event, which is looked at line by line.
            payloads = chunk[6:].split(_BETWEEN)
            rest = payloads.pop()
            if payloads and chunk.count(b"\n") == 2 * len(payloads) + rest.count(b"\n"):
                done += payloads
                chunk = _PLAIN + rest
        lines = chunk.split(b"\n")
        last = lines.pop()
        for line in lines:
            self._take_line(line, done)
        if last:
            self._line.append(last)

    def _close_event(self, chunk: bytes, done: list[bytes | SseEvent]) -> bytes:
        """Take whole lines until the event that is open has ended; return what is left."""
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
        if take is not None:  # others, and comments (whose name is empty), are passed over
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


_FIELDS: Final[Mapping[bytes, Callable[[SseDecoder, bytes], None]]] = {
    b"data": SseDecoder._take_data,
    b"event": SseDecoder._take_event,
    b"id": SseDecoder._take_id,
    b"retry": SseDecoder._take_retry,
}
