"""What an encoder gives: a request whose body is still in pieces.

A long history is written once and kept in pieces. To join them all for each request would take new
memory of the size of the body, which costs more than the copy. So they are joined block by block,
while the request is sent.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, Protocol, runtime_checkable

from msgspec import Struct, field

from agentkit_core import MetadataMap, ModelRequest
from agentkit_core.provider import WireRequest

BLOCK_BYTES: Final = 1024 * 1024
"""About how long a block is. Each is a write of its own, and the memory of one serves the next."""


class RequestBody:
    """The body of a request.

    Args:
        pieces: The body in order, in pieces that do not change any more; may be empty.
        separator: What stands between each two pieces.
    """

    __slots__ = ("_pieces", "_separator", "size")

    def __init__(self, pieces: Sequence[bytes], separator: bytes = b"") -> None:
        self._pieces = pieces
        self._separator = separator
        self.size = sum(map(len, pieces)) + len(separator) * max(0, len(pieces) - 1)
        """How many bytes it has."""

    def whole(self) -> bytes:
        """Return the body in one piece."""
        return self._separator.join(self._pieces)

    def blocks(self) -> Iterator[bytes]:
        """Join the pieces block by block, none of them cut; each call begins anew."""
        pieces, start = self._pieces, 0
        ends = list(accumulate(map(len, pieces)))  # of each piece, without separators
        while start < len(pieces):
            before = ends[start - 1] if start else 0
            stop = bisect_left(ends, before + BLOCK_BYTES, start) + 1
            block = pieces[start:stop]
            if stop < len(pieces):
                block = (*block, b"")  # so that the separator behind it is in the block
            yield self._separator.join(block)
            start = stop


class EncodedRequest(Struct, frozen=True):
    """A request without its base URL and its key; see `WireRequest`, which it becomes.

    Attributes:
        path: The path below the endpoint's base URL, with a leading slash.
        body: The body.
        headers: The headers that the protocol needs, never a key.
        metadata: What the encoder decided, for the response's item. Often empty.
        method: The HTTP method.
    """

    path: str
    body: RequestBody
    headers: dict[str, str]
    metadata: MetadataMap = field(default_factory=dict)
    method: str = "POST"

    def joined(self) -> WireRequest:
        """Return the same with the body in one piece."""
        return WireRequest(
            path=self.path,
            body=self.body.whole(),
            method=self.method,
            headers=self.headers,
            metadata=self.metadata,
        )


@runtime_checkable
class PieceEncoder(Protocol):
    """An encoder that can leave the body in pieces."""

    def encode_in_pieces(self, request: ModelRequest, /) -> EncodedRequest:
        """Encode a request; joined, it is what `encode` gives.

        Raises:
            UnsupportedContent: The request requires something that the vendor cannot do.
        """
        ...
