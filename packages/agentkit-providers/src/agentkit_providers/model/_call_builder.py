"""From a request to an HTTP call: the projection's bytes, the endpoint's address, the key."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from agentkit_core import AgentkitError, ModelRequest, ProviderFailure
from agentkit_core.provider import (
    IncrementalProjection,
    Projection,
    ResponseDecoder,
    WireRequest,
)
from agentkit_providers.catalogue._card import ModelCard
from agentkit_providers.model._auth import KeyRing, KeySource
from agentkit_providers.model._headers import (
    check_headers,
    may_hold_secret,
    merge_headers,
    secrets_in,
)
from agentkit_providers.model._optional_members import (
    FailureClassifier,
    PendingReader,
    ServiceTierReader,
)
from agentkit_providers.model._urls import is_base_url, join_url, without_end_slash
from agentkit_providers.vendors._endpoint import Endpoint

if TYPE_CHECKING:
    from agentkit_providers.transport._call import Call

MAX_RESPONSE_BYTES: Final = 64 * 1024 * 1024
"""How long the body of a response may be, unless the caller says otherwise."""

Encode = Callable[[ModelRequest], WireRequest]
"""Writes a request."""


class MissingBaseUrl(AgentkitError):
    """There is no base URL for a provider, or the base URL is not valid."""

    def __init__(self, provider: str, base_url: str) -> None:
        # A password may stand before the host, and a key in the query.
        shown = base_url.rpartition("@")[2].partition("?")[0]
        what = f"{shown!r} is not a valid base URL" if base_url else "there is no base URL"
        super().__init__(
            f"{what} for {provider!r}; pass base_url=…, beginning with https:// or http:// "
            f"and without a fragment (#…)"
        )
        self.provider = provider


class CallBuilder:
    """Builds the HTTP calls of one model.

    Args:
        endpoint: Where the model is served.
        projection: How its protocol is written and read.
        api_key: The caller's key; None looks in the endpoint's environment variables.
        base_url: Replaces the endpoint's; None keeps it.
        headers: Headers that win over all others, the key's included; None removes one.
        card: What is known of the model; None for nothing.
        max_response_bytes: How long the body of a response may be, once it is decompressed.

    Raises:
        MissingBaseUrl: There is no base URL, or it is not valid.
        UnusableHeader: An HTTP header cannot hold one of the values of `headers`.
    """

    def __init__(
        self,
        *,
        endpoint: Endpoint,
        projection: Projection,
        api_key: KeySource | None,
        base_url: str | None,
        headers: Mapping[str, str | None] | None,
        card: ModelCard | None,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
    ) -> None:
        self.endpoint = endpoint
        self.projection = projection
        self.card = card
        self._max_response_bytes = max_response_bytes
        self.base_url = without_end_slash(base_url or endpoint.base_url)
        if not is_base_url(self.base_url):
            raise MissingBaseUrl(endpoint.name, self.base_url)
        self._keys = KeyRing(endpoint, api_key)
        self._headers = check_headers(headers or {})

    def __getstate__(self) -> dict[str, Any]:
        # A pickle holds no key; see `KeyRing` for the key itself.
        headers = {
            name: value for name, value in self._headers.items() if not may_hold_secret(name)
        }
        return {**vars(self), "_headers": headers}

    def encode_of_conversation(self) -> Encode:
        """What writes the requests of one conversation: an encoder of its own, where possible."""
        projection = self.projection
        if isinstance(projection, IncrementalProjection):
            return projection.encoder().encode
        return projection.encode

    def build(self, request: ModelRequest, encode: Encode) -> Call:
        """Build the call for a request.

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
        headers, secrets = self._with_key(
            merge_headers(
                {
                    "accept": "text/event-stream" if request.streamed else "application/json",
                    # Compressed events arrive late. Of whole responses we can read these two.
                    "accept-encoding": "identity" if request.streamed else "gzip, deflate",
                    "content-type": "application/json",
                    "user-agent": _user_agent(),
                },
                self.endpoint.headers,
                wire.headers,
            )
        )

        def decoder_for(streamed: bool) -> ResponseDecoder:
            as_answered = request
            if streamed is not request.streamed:
                as_answered = replace(request, streamed=streamed)
            return self.decoder(as_answered)

        return Call(
            method=wire.method,
            url=join_url(self.base_url, wire.path),
            headers=headers,
            body=wire.body,
            timeouts=request.options.timeouts,
            streamed=request.streamed,
            decoder=decoder_for,
            classify=self._classify,
            metadata=wire.metadata,
            secrets=secrets,
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

    def _with_key(self, headers: dict[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Add the key and the caller's headers.

        Returns:
            The headers, and the values that no failure may show.
        """
        endpoint, key = self.endpoint, self._keys.key()
        if key is not None:
            headers[endpoint.auth_header.lower()] = endpoint.auth_prefix + key.reveal()
        elif endpoint.key_required and not any(map(may_hold_secret, self._headers)):
            raise self._keys.missing_key()
        headers = merge_headers(headers, self._headers)
        return headers, secrets_in(headers)


@lru_cache(maxsize=1)
def _user_agent() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"agentkit/{version('agentkit-providers')}"
    except PackageNotFoundError:
        return "agentkit"  # frozen programs, zip files and vendored folders have no metadata
