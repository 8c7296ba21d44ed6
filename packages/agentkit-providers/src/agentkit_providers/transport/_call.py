"""One HTTP call, as the transports take it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentkit_core import MetadataMap, ProviderFailure, Timeouts
from agentkit_core.provider import ResponseDecoder
from agentkit_providers._protocol_kit._encoded_request import RequestBody
from agentkit_providers._secrets._in_headers import secrets_in
from agentkit_providers._secrets._in_urls import secrets_in_url


class Call:
    """One HTTP call, ready to be sent. It holds the key, so its `repr` shows none of its fields.

    Args:
        method: The HTTP method.
        url: The whole URL, which may have a key in its query.
        headers: All headers, the key's among them.
        body: The body.
        timeouts: How long to wait.
        streamed: Whether the request asks for a stream.
        decoder: Makes the decoder of the response, given whether the response is streamed.
        classify: Classifies an HTTP error response by its status, its headers (names in lower case)
            and its body, which is cut where it is long.
        metadata: What the encoder decided; goes into the metadata of the last event.
        max_response_bytes: How long the body of the response may be, once it is decompressed.
    """

    __slots__ = (
        "began_at",
        "body",
        "classify",
        "decoder",
        "headers",
        "max_response_bytes",
        "metadata",
        "method",
        "streamed",
        "timeouts",
        "url",
    )

    def __init__(
        self,
        *,
        method: str,
        url: str,
        headers: dict[str, str],
        body: RequestBody,
        timeouts: Timeouts,
        streamed: bool,
        decoder: Callable[[bool], ResponseDecoder],
        classify: Callable[[int, Mapping[str, str], bytes], ProviderFailure],
        metadata: MetadataMap,
        max_response_bytes: int,
    ) -> None:
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeouts = timeouts
        self.streamed = streamed
        self.decoder = decoder
        self.classify = classify
        self.metadata = metadata
        self.max_response_bytes = max_response_bytes
        self.began_at: float | None = None
        """When the call began on the monotonic clock, in seconds; None where it begins now."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that no failure may show."""
        return (*secrets_in(self.headers), *secrets_in_url(self.url))
