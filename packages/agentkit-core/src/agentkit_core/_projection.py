"""The contract of a provider: two pure pieces, one to ask and one to read the answer.

`encode` turns a request into bytes for the wire, a decoder turns the bytes that come back
into model events. Neither does I/O, reads a clock or draws chance; HTTP, retries, streaming,
tools and reporting come from elsewhere. `agentkit_core.testing` checks the laws below.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import field

from agentkit_core._metadata import MetadataMap
from agentkit_core._request import ModelRequest
from agentkit_core._streaming._response import ModelEvent
from agentkit_core.values import Record


class WireRequest(Record, frozen=True, kw_only=True, omit_defaults=True):
    """An HTTP request, ready to be sent, but for the address and the key.

    Attributes:
        path: Below the endpoint's base URL, with its leading slash: `/chat/completions`.
        body: Whole; valid UTF-8 JSON for every protocol so far.
        headers: What the protocol itself needs; never a key.
        metadata: What the encoder decided (a thinking level that was clamped, options dropped); it
            goes into the metadata of the response's item.
    """

    path: str
    body: bytes
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)
    metadata: MetadataMap = field(default_factory=dict)


class ResponseDecoder(Protocol):
    """Reads one response body and says what it means, event by event.

    Does no I/O and reads one response only. Where the chunks are cut must not matter: any
    cut of the same bytes yields the same events once all is fed and `finish` is called.

    The last event is a `ResponseFinished` or a `ResponseFailed`, exactly one of them and
    nothing after it: a stream that ends without the protocol's own end mark is a
    `ResponseFailed` of kind `stream_cut`, one that breaks the protocol of kind `protocol`.
    Neither `feed` nor `finish` raises for what a provider sent.
    """

    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        """Take the next bytes of the body; return the events they complete.

        Args:
            chunk: Any number of bytes, cut anywhere, even inside a character.
                Empty means nothing new, not the end.
        """
        ...

    def finish(self) -> tuple[ModelEvent, ...]:
        """Take note that the body is over; return the events that were held back.

        Calling it again returns nothing.
        """
        ...


class RequestEncoder(Protocol):
    """Encodes the requests of one conversation, and may keep what it wrote for the next one.

    Its answers are those of the projection that made it, for any sequence of requests.
    """

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write the request; see `Projection.encode`.

        Raises:
            UnsupportedContent: The request must have something that the provider cannot do.
        """
        ...


class Projection(Protocol):
    """Between our types and one provider's wire format, in both directions.

    Both methods are pure: the same request gives equal bytes, in any process.

    A projection may also have a method `encoder()` that makes a `RequestEncoder`: sessions use
    it, so that a long history is not written anew with every request.
    """

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write the request as the provider wants it.

        Any history is accepted: what the provider would refuse is made sendable first
        (see `sendable`), and the request's own items are left as they are.

        Raises:
            UnsupportedContent: The request must have something that the provider cannot do.
        """
        ...

    def decoder(self, request: ModelRequest, /) -> ResponseDecoder:
        """Make a decoder for the answer to this request (streamed or whole, as it says)."""
        ...
