"""The HTTP chunks of one network read joined into one chunk, before the HTTP parser sees them.

Servers send one HTTP chunk per event, and the parser (h11) needs 9 µs for each. A body that is in
chunks may be cut into other chunks without changing what it says (RFC 9112, section 7.1). This
module only does that. It finds the end of a head, since a body begins behind it, and leaves heads,
trailers, other framings and everything unusual or wrong to the parser, byte for byte.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_HEAD_END: Final = re.compile(rb"\n\r?\n")  # as h11 finds it, which takes bare line feeds too
_SIZE: Final = re.compile(rb"[0-9A-Fa-f]{1,20}")
_MAX_SIZE_LINE: Final = 22
_LAST_CHUNK: Final = b"0\r\n\r\n"

_HEAD, _CHUNKS, _UNCHANGED = range(3)


class ResponseFraming:
    """Rewrites the chunks of the responses of one connection, read by read.

    Order of calls: `begin_response`, for the head `read_on` and `feed` in turns, `begin_body`, and
    for the body `read_on` and `feed` in turns.
    """

    __slots__ = (
        "_at_footer",
        "_behind_head",
        "_blank_start",
        "_has_line_ends",
        "_has_open_chunk",
        "_held",
        "_left",
        "_state",
        "is_complete",
    )

    def __init__(self) -> None:
        self.begin_response()

    def begin_response(self) -> None:
        """Take note that the next bytes are those of a new response."""
        self._state = _HEAD
        self._blank_start = b""  # the last two bytes of a head, which may begin a blank line
        self._behind_head = b""  # what came in one read with a head
        self._held = b""  # the end of a read, which begins a line that is not complete
        self._left = 0  # bytes that are missing of the chunk that the server is sending
        self._at_footer = False  # whether the line end behind a chunk's data comes next
        self._has_line_ends = False  # whether the data of chunks has line ends in it
        self._has_open_chunk = False  # whether the parser waits for the line end behind our chunk
        self.is_complete = False
        """Whether the last chunk has been passed on, and nothing has come behind it."""

    def begin_body(self, *, chunked: bool) -> None:
        """Take note that the parser has read the head.

        Args:
            chunked: Whether the parser reads the body in chunks.
        """
        self._state = _CHUNKS if chunked else _UNCHANGED

    @property
    def has_rest(self) -> bool:
        """Whether bytes have come that the parser has not been given."""
        return bool(self._behind_head or self._held)

    def read_on(self) -> bytes:
        """Return what the parser can be given without another read; often nothing."""
        data, self._behind_head = self._behind_head, b""
        return self.feed(data) if data else data

    def feed(self, data: bytes) -> bytes:
        """Take the bytes of one read.

        Returns:
            What the parser gets instead of them. Empty if more has to come first.
        """
        if self._state == _CHUNKS:
            return self._whole_chunk(data) or self._join(data)
        if self._state == _UNCHANGED:
            return data
        return self._cut_behind_head(data)

    def _cut_behind_head(self, data: bytes) -> bytes:
        seen = self._blank_start + data
        end = _HEAD_END.search(seen)
        if end is None:
            self._blank_start = seen[-2:]
            return data
        self._blank_start = b""
        cut = len(data) - (len(seen) - end.end())
        self._behind_head = data[cut:]
        return data[:cut]

    def _whole_chunk(self, data: bytes) -> bytes:
        """Return what the parser gets for a read that is one whole chunk; nothing for another read.

        Deltas that come one by one are such reads. The parser looks at the line end itself.
        """
        before = b"\r\n" if self._at_footer else b""
        if self._left or self._held != before:
            return b""
        line_end = data.find(b"\r\n", 0, _MAX_SIZE_LINE)
        size = 0 if line_end < 0 else _chunk_size(data[:line_end])
        if not size or len(data) != line_end + size + 4:
            return b""
        self._held, self._at_footer, self._has_open_chunk = b"", False, False
        return before + data

    def _join(self, data: bytes) -> bytes:
        if self._held:
            data, self._held = self._held + data, b""
        pieces: list[bytes] = []
        at, end, left, at_footer = 0, len(data), self._left, self._at_footer
        rest = b""
        while at < end:
            if left:
                piece = data[at : at + left]
                pieces.append(piece)
                at += len(piece)
                left -= len(piece)
                at_footer = not left
                continue
            start = at
            if at_footer:
                footer = data[at : at + 2]
                if footer == b"\r":
                    self._held = footer
                    break
                if footer != b"\r\n":
                    rest = self._pass_on(data, start)
                    break
                start += 2
            behind = self._take_whole_chunks(data, start, pieces)
            if behind > start:
                at, at_footer = behind - 2, True
                continue
            line_end = data.find(b"\r\n", start, start + _MAX_SIZE_LINE)
            if line_end < 0:
                if end - start >= _MAX_SIZE_LINE:
                    rest = self._pass_on(data, at)
                else:
                    self._held = data[at:]
                break
            left = _chunk_size(data[start:line_end])
            if not left:
                rest = self._pass_on(data, at)
                self.is_complete = data[start:] == _LAST_CHUNK
                break
            at, at_footer = line_end + 2, False
        self._left, self._at_footer = left, at_footer
        if not pieces:
            return rest
        size = b"%x\r\n" % sum(map(len, pieces))
        opening = b"\r\n" + size if self._has_open_chunk else size
        # The line end behind our chunk is written once the server has sent its own.
        self._has_open_chunk = True
        return b"".join((opening, *pieces, rest))

    def _take_whole_chunks(self, data: bytes, start: int, pieces: list[bytes]) -> int:
        """Add the data of all chunks that are whole, up to the first that is not.

        Returns:
            Where the rest begins.
        """
        if not self._has_line_ends:
            behind = _split_whole_chunks(data, start, pieces)
            if behind is not None:
                return behind
            self._has_line_ends = True
        while True:
            line_end = data.find(b"\r\n", start, start + _MAX_SIZE_LINE)
            size = 0 if line_end < 0 else _chunk_size(data[start:line_end])
            stop = line_end + 2 + size
            if not size or data[stop : stop + 2] != b"\r\n":
                return start
            pieces.append(data[line_end + 2 : stop])
            start = stop + 2

    def _pass_on(self, data: bytes, at: int) -> bytes:
        """Leave the rest of the response to the parser."""
        self._state = _UNCHANGED
        return data[at:]


def _split_whole_chunks(data: bytes, start: int, pieces: list[bytes]) -> int | None:
    """Do the same much faster, for chunks whose data has no line end (CRLF) in it; else None."""
    end = len(data)
    if data.endswith(_LAST_CHUNK):
        end -= len(_LAST_CHUNK)
    lines = data[start:end].split(b"\r\n")
    count = (len(lines) - 1) // 2 * 2  # a line is left that has not ended, or a size and some data
    found = lines[1:count:2]
    lengths = list(map(len, found))
    if 0 in lengths or lengths != list(map(_chunk_size, lines[0:count:2])):
        return None
    pieces += found
    behind = end - len(lines[-1])
    return behind if len(lines) - count == 1 else behind - 2 - len(lines[count])


@lru_cache(maxsize=1024)
def _chunk_size(line: bytes) -> int:
    """The size that a line says; 0 for the last chunk, and for a line with anything else in it."""
    return int(line, 16) if _SIZE.fullmatch(line) else 0
