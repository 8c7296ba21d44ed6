"""From a request to an HTTP call: the projection's bytes, the endpoint's address, the key."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from agentkit_core import ModelRequest, ProviderFailure
from agentkit_core.provider import (
    IncrementalProjection,
    Projection,
    ResponseDecoder,
    WireRequest,
)
from agentkit_providers._protocol_kit._encoded_request import (
    EncodedRequest,
    PieceEncoder,
    RequestBody,
)
from agentkit_providers.catalogue._card import ModelCard
from agentkit_providers.model._auth import KeySource
from agentkit_providers.model._credentials import Credentials
from agentkit_providers.model._headers import Headers
from agentkit_providers.model._optional_members import (
    FailureClassifier,
    PendingReader,
    ServiceTierReader,
)
from agentkit_providers.vendors._endpoint import Endpoint

if TYPE_CHECKING:
    from agentkit_providers.transport._call import Call

MAX_RESPONSE_BYTES: Final = 64 * 1024 * 1024
"""How long the body of a response may be, unless the caller says otherwise."""

Encode = Callable[[ModelRequest], WireRequest | EncodedRequest]
"""Writes a request."""


class CallBuilder:
    """Builds the HTTP calls of one model.

    Args:
        endpoint: Where the model is served.
        projection: How its protocol is written and read.
        api_key: The caller's key, or a function that gives it; None looks in the endpoint's
            environment variables.
        base_url: Replaces the endpoint's; None keeps it.
        headers: Headers that win over all others, the key's included; None removes one.
        card: What is known of the model; None for nothing.
        max_response_bytes: How long the body of a response may be, once it is decompressed.

    Raises:
        MissingBaseUrl: There is no base URL, or it is not valid.
        UnusableHeader: An HTTP header cannot hold one of the values of `headers`.
        UnusableKey: `api_key` is neither a key nor a function, or its header gets two keys.
    """

    def __init__(
        self,
        *,
        endpoint: Endpoint,
        projection: Projection,
        api_key: KeySource | None,
        base_url: str | None,
        headers: Headers | None,
        card: ModelCard | None,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
    ) -> None:
        self.endpoint = endpoint
        self.projection = projection
        self.card = card
        self._max_response_bytes = max_response_bytes
        self.credentials = Credentials(endpoint, api_key, base_url, headers)

    def encode_of_conversation(self) -> Encode:
        """What writes the requests of one conversation: an encoder of its own, where possible."""
        projection = self.projection
        if isinstance(projection, IncrementalProjection):
            encoder = projection.encoder()
            return encoder.encode_in_pieces if isinstance(encoder, PieceEncoder) else encoder.encode
        return projection.encode

    def build(self, request: ModelRequest, encode: Encode) -> Call:
        """Build the call for a request, without its key where a function gives it.

        Args:
            request: The request.
            encode: Writes the request.

        Raises:
            MissingKey: The endpoint needs a key and there is none.
            UnusableKey: An HTTP header cannot hold the key.
            UnsupportedContent: The projection cannot express the request.
        """
        from agentkit_providers.transport._call import Call

        wire = encode(request)
        body = RequestBody((wire.body,)) if isinstance(wire, WireRequest) else wire.body
        headers = self.credentials.headers(
            {
                "accept": "text/event-stream" if request.streamed else "application/json",
                # Compressed events arrive late. Of whole responses we can read these two.
                "accept-encoding": "identity" if request.streamed else "gzip, deflate",
                "content-type": "application/json",
                "user-agent": _user_agent(),
            },
            wire.headers,
        )

        def decoder_for(streamed: bool) -> ResponseDecoder:
            as_answered = request
            if streamed is not request.streamed:
                as_answered = replace(request, streamed=streamed)
            return self.decoder(as_answered)

        return Call(
            method=wire.method,
            url=self.credentials.url(wire.path),
            headers=headers,
            body=body,
            timeouts=request.options.timeouts,
            streamed=request.streamed,
            decoder=decoder_for,
            classify=self._classify,
            metadata=wire.metadata,
            max_response_bytes=self._max_response_bytes,
        )

    def decoder(self, request: ModelRequest) -> ResponseDecoder:
        """Make the decoder of a response, which uses the model's prices and context window."""
        card, projection = self.card, self.projection
        decoder = projection.decoder(request)
        if card is not None and card.prices is not None:
            from agentkit_providers.catalogue._priced import PricedDecoder

            read_tier = None
            if isinstance(projection, ServiceTierReader):
                read_tier = projection.service_tier
            decoder = PricedDecoder(decoder, card, read_tier)
        if card is not None and card.context_window is not None:
            from agentkit_providers.catalogue._window import WindowDecoder

            decoder = WindowDecoder(decoder, card.context_window)
        if isinstance(projection, PendingReader):
            from agentkit_providers.model._pending import PendingDecoder

            decoder = PendingDecoder(decoder, projection.pending)
        return decoder

    def _classify(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderFailure:
        """Classify an HTTP error response."""
        if isinstance(self.projection, FailureClassifier):
            return self.projection.failure(status, headers, body, now_s=time.time())
        from agentkit_providers.failures._classify import classify_http

        return classify_http(status, headers, body, now_s=time.time())


@lru_cache(maxsize=1)
def _user_agent() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"agentkit/{version('agentkit-providers')}"
    except PackageNotFoundError:
        return "agentkit"  # frozen programs, zip files and vendored folders have no metadata
