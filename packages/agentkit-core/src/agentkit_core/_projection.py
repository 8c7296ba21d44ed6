"""The contract of a projection: it encodes requests and decodes responses.

`encode` turns a request into the bytes of a wire request; a decoder turns the bytes of a response
into model events. Both are pure: no I/O, no clock, no randomness. HTTP, retries, tools and
reporting are done elsewhere. `agentkit_core.testing` checks the rules below.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from msgspec import field

from agentkit_core._metadata import MetadataMap
from agentkit_core._request import ModelRequest
from agentkit_core._streaming._response import ModelEvent
from agentkit_core.values import Record


class WireRequest(Record, frozen=True, kw_only=True, omit_defaults=True):
    """An HTTP request without its base URL and its API key.

    Attributes:
        path: The path below the endpoint's base URL, with a leading slash: `/chat/completions`.
        body: The whole body; all protocols so far send JSON.
        method: The HTTP method.
        headers: The headers that the protocol needs, never a key; may be empty.
        metadata: What the encoder decided, such as a lowered thinking level or ignored options; it
            becomes metadata of the response's item. Often empty.
    """

    path: str
    body: bytes
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)
    metadata: MetadataMap = field(default_factory=dict)


class ResponseDecoder(Protocol):
    """Reads one response body and returns its model events.

    A decoder does no I/O and reads one response only. It does not matter where the chunks are cut:
    the same bytes give the same events, once all are fed and `finish` is called.

    The last event is exactly one `ResponseFinished` or `ResponseFailed`. A stream that ends without
    the protocol's end mark gives a `ResponseFailed` of kind `stream_cut`, and a stream that breaks
    the protocol one of kind `protocol`. Neither `feed` nor `finish` raises because of what a
    provider sent.
    """

    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        """Take the next bytes of the body; return the events they complete.

        Args:
            chunk: Any number of bytes, cut anywhere, even inside a character.
                Empty means nothing new; it does not mean the end.
        """
        ...

    def finish(self) -> tuple[ModelEvent, ...]:
        """End the body; return the events that the decoder held back.

        A second call returns an empty tuple.
        """
        ...


class RequestEncoder(Protocol):
    """Encodes the requests of one conversation, and may reuse what it wrote for earlier ones.

    For any sequence of requests, it returns what its projection would return.
    """

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Encode a request; see `Projection.encode`.

        Raises:
            UnsupportedContent: The request requires something that the provider does not support.
        """
        ...


class Projection(Protocol):
    """Translates between our types and one provider's wire format, in both directions.

    Both methods are pure: the same request gives equal bytes, in any process. A projection that
    can encode a growing history incrementally is an `IncrementalProjection`.
    """

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Encode a request in the provider's format.

        Any history is accepted: the projection makes it valid with `sendable`. The request itself
        is not changed.

        Raises:
            UnsupportedContent: The request requires something that the provider does not support.
        """
        ...

    def decoder(self, request: ModelRequest, /) -> ResponseDecoder:
        """Make a decoder for the response to this request, streamed or not as it says.

        A tool call to which the provider gives no id gets one that no other call of the response
        and of the request's history has.
        """
        ...


@runtime_checkable
class IncrementalProjection(Projection, Protocol):
    """A projection whose encoders reuse what they encoded for earlier requests.

    Sessions use it, so that a long history is not encoded again with every request.
    """

    def encoder(self) -> RequestEncoder:
        """Make an encoder for the requests of one conversation."""
        ...
