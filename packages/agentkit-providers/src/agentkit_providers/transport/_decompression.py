"""Content codings undone: gzip in any number of members, deflate in both of its forms, br, zstd.

Output comes in pieces of limited size, so that a few bytes that become gigabytes never stand in
memory. RFC 9110 (section 8.4) lists the codings, RFC 1952 (2.2) says that gzip may have several
members; what servers call deflate may lack its zlib header.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Final, Protocol

from agentkit_core.values import PortableError

_PIECE: Final = 256 * 1024
"""How many bytes of output come at once, at most."""
_SLICE: Final = 1024
"""How many bytes of input are given at once to libraries that do not limit their output."""
_NO_CODINGS: Final = frozenset({"", "identity", "none", "binary", "utf-8"})
_GZIP_MAGIC: Final = b"\x1f\x8b"


class UnreadableCoding(PortableError, Exception):
    """A body is in a coding that cannot be undone, or is not what its coding says."""

    def __init__(self, coding: str, reason: str) -> None:
        super().__init__(f"content coding {coding!r}: {reason}")


class _Coding(Protocol):
    def pieces(self, data: bytes, /) -> Iterator[bytes]:
        """Undo the coding of the next bytes, a piece at a time."""
        ...


class _Gzip:
    """Any number of gzip members; zeros and anything else behind the last one are ignored."""

    def __init__(self) -> None:
        self._member: zlib._Decompress | None = None
        self._count = 0
        self._start = b""

    def pieces(self, data: bytes, /) -> Iterator[bytes]:
        """Undo the coding of the next bytes, a piece at a time."""
        while data:
            if self._member is None:
                start = self._start + data
                data = start.lstrip(b"\0") if self._count else start
                self._start = data if len(data) < len(_GZIP_MAGIC) else b""
                if self._start or (self._count and not data.startswith(_GZIP_MAGIC)):
                    return
                self._member = zlib.decompressobj(16 + zlib.MAX_WBITS)
                self._count += 1
            yield from _inflate(self._member, data)
            data = self._member.unused_data
            if self._member.eof:
                self._member = None


class _Deflate:
    """Deflate, with the zlib header that belongs there or, as some servers send it, without."""

    def __init__(self) -> None:
        self._stream: zlib._Decompress | None = None
        self._start = b""

    def pieces(self, data: bytes, /) -> Iterator[bytes]:
        """Undo the coding of the next bytes, a piece at a time."""
        if self._stream is None:
            data = self._start = self._start + data
            if len(data) < 2:
                return
            has_header = data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._stream = zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
        if not self._stream.eof:
            yield from _inflate(self._stream, data)


def _inflate(stream: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    piece = stream.decompress(data, _PIECE)
    while piece:
        yield piece
        piece = b"" if stream.eof else stream.decompress(stream.unconsumed_tail, _PIECE)


class _Library:
    """A coding that an optional library undoes.

    Args:
        decompress: Undoes the coding of the next bytes.
    """

    def __init__(self, decompress: Callable[[bytes], bytes]) -> None:
        self._decompress = decompress

    def pieces(self, data: bytes, /) -> Iterator[bytes]:
        """Undo the coding of the next bytes, a piece at a time."""
        for at in range(0, len(data), _SLICE):
            yield self._decompress(data[at : at + _SLICE])


def _brotli() -> _Coding:
    for name in ("brotli", "brotlicffi"):
        try:
            library: Any = import_module(name)
        except ImportError:
            continue
        return _Library(library.Decompressor().process)
    raise UnreadableCoding("br", "it needs the package 'brotli', which is not installed")


def _zstd() -> _Coding:
    try:
        library: Any = import_module("zstandard")
    except ImportError:
        reason = "it needs the package 'zstandard', which is not installed"
        raise UnreadableCoding("zstd", reason) from None
    return _Library(library.ZstdDecompressor().decompressobj(read_across_frames=True).decompress)


_CODINGS: Final[dict[str, Callable[[], _Coding]]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _brotli,
    "zstd": _zstd,
}


class Decompression:
    """Undoes the content codings of one body.

    Args:
        content_encoding: The header; empty for none.

    Raises:
        UnreadableCoding: One of the codings cannot be undone.
    """

    def __init__(self, content_encoding: str) -> None:
        names = [name.strip().lower() for name in content_encoding.split(",")]
        # The coding that was applied last is undone first.
        self._codings = [
            (name, _coding(name)) for name in reversed(names) if name not in _NO_CODINGS
        ]

    @property
    def is_needed(self) -> bool:
        """Whether the body has any coding."""
        return bool(self._codings)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Undo the codings of the next bytes, a piece of limited size at a time.

        Raises:
            UnreadableCoding: The bytes are not what the coding says.
        """
        return self._undo(data, 0)

    def _undo(self, data: bytes, at: int) -> Iterator[bytes]:
        if at == len(self._codings):
            yield data
            return
        name, coding = self._codings[at]
        pieces = coding.pieces(data)
        while True:
            try:
                piece = next(pieces, None)
            except Exception as error:  # each library has its own
                raise UnreadableCoding(name, f"the data is not valid: {error}") from error
            if piece is None:
                return
            yield from self._undo(piece, at + 1)


def _coding(name: str) -> _Coding:
    make = _CODINGS.get(name)
    if make is None:
        raise UnreadableCoding(name, "it is not known here")
    return make()
