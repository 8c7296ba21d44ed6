"""A model behind HTTP: a projection, an endpoint, a key.

What a provider or the network does wrong is the last event of an answer; raised are the
caller's mistakes alone, and those before anything is sent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agentkit_core import (
    AgentkitError,
    ModelRequest,
    ModelResponse,
    ProviderFailure,
    RetryPolicy,
    SessionId,
)
from agentkit_core.provider import (
    ModelEvent,
    Projection,
    ResponseDecoder,
    ResponseFold,
    WireRequest,
)
from agentkit_providers.catalogue._card import ModelCard
from agentkit_providers.model._attempt import OnRetry
from agentkit_providers.model._auth import (
    KeyRing,
    KeySource,
    carries_key,
    merged_headers,
    secrets_in,
    usable_headers,
)
from agentkit_providers.model._sessions import BlockingHttpSession, HttpSession
from agentkit_providers.vendors._endpoint import Endpoint

if TYPE_CHECKING:
    import httpx

    from agentkit_providers.transport._call import Call
    from agentkit_providers.transport._concurrent import BatchStream

Encode = Callable[[ModelRequest], WireRequest]
"""How a request is written."""


class MissingBaseUrl(AgentkitError):
    """The provider has no address of its own, and none was given, or none that can be used."""

    def __init__(self, provider: str, base_url: str) -> None:
        shown = base_url.rpartition("@")[2]  # a password may stand before it
        what = f"{shown!r} is no address" if base_url else "there is no address"
        super().__init__(
            f"{what} for {provider!r}; give base_url=…, beginning with https:// or http://"
        )
        self.provider = provider


class HttpModel:
    """One model at one endpoint; may be shared by tasks, threads and event loops.

    Args:
        model: The model's id, as its provider knows it.
        endpoint: Where it answers.
        projection: How it is spoken to. Where it has a method `failure(status, headers, body, *,
            now_s)`, that reads the error answers; else they are read as most providers write
            them.
        api_key: The key. Without it the endpoint's variables are read, at the first request.
        base_url: Takes the place of the endpoint's.
        headers: Laid over all others, the key's included; None takes one away.
        client: An `httpx.AsyncClient` or `httpx.Client` of the caller's own, for the calls of
            its kind; it is never closed here. Without one, connections are kept per event loop.
        card: What is known of the model. With its prices, answers say what they cost; a price
            that the provider reports itself stays.

    Raises:
        MissingBaseUrl: There is no address.
        UnusableHeader: No header can carry a value of `headers`.
    """

    def __init__(
        self,
        model: str,
        *,
        endpoint: Endpoint,
        projection: Projection,
        api_key: KeySource | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str | None] | None = None,
        client: httpx.AsyncClient | httpx.Client | None = None,
        card: ModelCard | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.projection = projection
        self.card = card
        self.base_url = (base_url or endpoint.base_url).rstrip("/")
        if not self.base_url.startswith(("https://", "http://")):
            raise MissingBaseUrl(endpoint.name, self.base_url)
        self._name = model
        self._keys = KeyRing(endpoint, api_key)
        self._headers = usable_headers(headers or {})
        self._client: Any = client

    @property
    def name(self) -> str:
        """The model's id, as its provider knows it; goes into `ModelRequest.model`."""
        return self._name

    def __repr__(self) -> str:
        return f"HttpModel({self.endpoint.name}:{self._name})"

    def __getstate__(self) -> dict[str, Any]:
        # What is written down holds no key and no connection; see `KeyRing` for the key.
        headers = {one: value for one, value in self._headers.items() if not carries_key(one)}
        return {**vars(self), "_headers": headers, "_client": None}

    def open(self, session_id: SessionId, /) -> HttpSession:
        """Open a session for an event loop; no I/O happens before the first request."""
        encode = self._encode_of_session()
        return HttpSession(lambda request: self._stream(request, encode), session_id)

    def open_blocking(self, session_id: SessionId, /) -> BlockingHttpSession:
        """Open a session for blocking calls; no I/O happens before the first request."""
        encode = self._encode_of_session()
        return BlockingHttpSession(
            lambda request: self._stream_blocking(request, encode), session_id
        )

    def stream(
        self,
        request: ModelRequest,
        /,
        *,
        retry: RetryPolicy | None = None,
        on_retry: OnRetry | None = None,
    ) -> BatchStream:
        """Ask, and read the answer as it comes.

        Args:
            request: What is asked.
            retry: Whether to ask again after a failure; None asks once. An attempt that has
                shown content is never followed by another.
            on_retry: Is told of each attempt that is followed by another.

        Returns:
            Batches of events, none empty, one per network read that brought something; the
            last event is a `ResponseFinished` or a `ResponseFailed`. Close it with `aclose`
            when it is left early (`contextlib.aclosing` does). With `retry`, what comes before
            the first content is held back until then.

        Raises:
            MissingKey: The endpoint needs a key and there is none.
            UnusableKey: No header can carry the key.
            UnsupportedContent: The projection cannot express the request.
        """

        def ask() -> BatchStream:
            return self._stream(request, self.projection.encode)

        if retry is None:
            return ask()
        from agentkit_providers.model._retry import Retries, retried
        from agentkit_providers.transport._concurrent import BatchStream

        return BatchStream(retried(ask(), ask, Retries(retry, on_retry)))

    def _stream(self, request: ModelRequest, encode: Encode) -> BatchStream:
        from agentkit_providers.transport._concurrent import respond

        return respond(self._call(request, encode), self._client_of("aclose"))

    def stream_blocking(
        self,
        request: ModelRequest,
        /,
        *,
        retry: RetryPolicy | None = None,
        on_retry: OnRetry | None = None,
    ) -> Generator[tuple[ModelEvent, ...], None, None]:
        """Ask without an event loop; see `stream`. Close it with `close` if left early."""

        def ask() -> Generator[tuple[ModelEvent, ...], None, None]:
            return self._stream_blocking(request, self.projection.encode)

        if retry is None:
            return ask()
        from agentkit_providers.model._retry import Retries, retried_blocking

        return retried_blocking(ask(), ask, Retries(retry, on_retry))

    def _stream_blocking(
        self, request: ModelRequest, encode: Encode
    ) -> Generator[tuple[ModelEvent, ...], None, None]:
        from agentkit_providers.transport._blocking import respond

        return respond(self._call(request, encode), self._client_of("close"))

    async def complete(
        self,
        request: ModelRequest,
        /,
        *,
        retry: RetryPolicy | None = None,
        on_retry: OnRetry | None = None,
    ) -> ModelResponse:
        """Ask and wait for all of the answer.

        Args:
            request: What is asked.
            retry: Whether to ask again after a failure, also one in the middle of an answer;
                None asks once.
            on_retry: Is told of each attempt that is followed by another.

        Returns:
            The response; what went wrong is in its `failure`, with what came before it.

        Raises:
            AgentkitError: The caller's mistakes; see `stream`.
        """
        response = await self._complete(request)
        if retry is None or response.failure is None:
            return response
        from anyio import sleep

        from agentkit_providers.model._retry import Retries

        retries = Retries(retry, on_retry)
        while (wait_s := retries.wait_s(response.failure, response.usage)) is not None:
            await sleep(wait_s)
            response = await self._complete(request)
        return response

    async def _complete(self, request: ModelRequest) -> ModelResponse:
        folding = ResponseFold()
        batches = self.stream(request)
        try:
            async for events in batches:
                folding.feed(events)
        finally:
            await batches.aclose()
        return folding.finish()

    def complete_blocking(
        self,
        request: ModelRequest,
        /,
        *,
        retry: RetryPolicy | None = None,
        on_retry: OnRetry | None = None,
    ) -> ModelResponse:
        """Ask and wait for all of the answer, without an event loop; see `complete`."""
        response = self._complete_blocking(request)
        if retry is None or response.failure is None:
            return response
        from agentkit_providers.model._retry import Retries

        retries = Retries(retry, on_retry)
        while (wait_s := retries.wait_s(response.failure, response.usage)) is not None:
            time.sleep(wait_s)
            response = self._complete_blocking(request)
        return response

    def _complete_blocking(self, request: ModelRequest) -> ModelResponse:
        folding = ResponseFold()
        for events in self.stream_blocking(request):
            folding.feed(events)
        return folding.finish()

    def _client_of(self, method: str) -> Any:
        """The caller's own client, when it is of the kind that closes by this method."""
        return self._client if hasattr(self._client, method) else None

    def _encode_of_session(self) -> Encode:
        """How a session encodes: with an encoder of its own, where the projection has them."""
        encoder = getattr(self.projection, "encoder", None)
        encode: Encode = self.projection.encode if encoder is None else encoder().encode
        return encode

    def _call(self, request: ModelRequest, encode: Encode) -> Call:
        """Put a request together: the projection's bytes, the endpoint's address, the key."""
        from agentkit_providers.transport._call import Call

        projection = self.projection
        wire = encode(request)
        headers, secrets = self._with_key(
            merged_headers(
                {
                    "accept": "text/event-stream" if request.streamed else "application/json",
                    # Compressed events come late; what else may come is what we can undo.
                    "accept-encoding": "identity" if request.streamed else "gzip, deflate",
                    "content-type": "application/json",
                    "user-agent": _user_agent(),
                },
                self.endpoint.headers,
                wire.headers,
            )
        )

        def decoder(streamed: bool) -> ResponseDecoder:
            same = streamed is request.streamed
            made = projection.decoder(request if same else replace(request, streamed=streamed))
            return self._with_card(made)

        return Call(
            method=wire.method,
            url=self.base_url + wire.path,
            headers=headers,
            body=wire.body,
            timeouts=request.options.timeouts,
            streamed=request.streamed,
            decoder=decoder,
            refused=self._refused,
            metadata=wire.metadata,
            secrets=secrets,
        )

    def _with_card(self, decoder: ResponseDecoder) -> ResponseDecoder:
        """Let a decoder make use of what is known of the model: its prices, its window."""
        card = self.card
        if card is not None and card.prices is not None:
            from agentkit_providers.catalogue._priced import PricedDecoder

            tier = getattr(self.projection, "service_tier", None)
            decoder = PricedDecoder(decoder, card, tier)
        if card is not None and card.context_window is not None:
            from agentkit_providers.catalogue._window import WindowDecoder

            decoder = WindowDecoder(decoder, card.context_window)
        return decoder

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderFailure:
        from agentkit_providers.failures._classify import classify_http

        classify = getattr(self.projection, "failure", classify_http)
        failure: ProviderFailure = classify(status, headers, body, now_s=time.time())
        return failure

    def _with_key(self, headers: dict[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Add the key and the caller's headers; say which values must not be shown."""
        row, given = self.endpoint, self._headers
        key = self._keys.key()
        if key is not None:
            headers[row.auth_header.lower()] = row.auth_prefix + key.reveal()
        elif row.key_required and not any(map(carries_key, given)):
            raise self._keys.missing()
        headers = merged_headers(headers, given)
        return headers, secrets_in(headers)


@lru_cache(maxsize=1)
def _user_agent() -> str:
    from importlib.metadata import version

    return f"agentkit/{version('agentkit-providers')}"
