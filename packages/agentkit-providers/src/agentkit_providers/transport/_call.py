"""One HTTP call, as the transports take it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentkit_core import MetadataMap, ProviderFailure, Timeouts
from agentkit_core.provider import ResponseDecoder


class Call:
    """One HTTP call, ready to be sent. It holds the key, so its `repr` shows none of its fields.

    Args:
        method: The HTTP method.
        url: The whole URL, without a key in it.
        headers: All headers, the key's among them.
        body: The body.
        timeouts: How long to wait.
        streamed: Whether the request asks for a stream.
        decoder: Makes the decoder of the response, given whether the response is streamed.
        classify: Classifies an HTTP error response by its status, its headers (names in lower case)
            and its body, which is cut where it is long.
        metadata: What the encoder decided; goes into the metadata of the last event.
        secrets: Values that no failure may show.
        max_response_bytes: How long the body of the response may be, once it is decompressed.
    """

    __slots__ = (
        "body",
        "classify",
        "decoder",
        "headers",
        "max_response_bytes",
        "metadata",
        "method",
        "secrets",
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
        body: bytes,
        timeouts: Timeouts,
        streamed: bool,
        decoder: Callable[[bool], ResponseDecoder],
        classify: Callable[[int, Mapping[str, str], bytes], ProviderFailure],
        metadata: MetadataMap,
        secrets: tuple[str, ...],
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
        self.secrets = secrets
        self.max_response_bytes = max_response_bytes
