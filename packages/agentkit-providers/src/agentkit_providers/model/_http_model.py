"""A model over HTTP: a projection, an endpoint, a key.

Only the caller's mistakes raise, and they raise before anything is sent. What a provider or the
network does wrong is the last event of a response.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from agentkit_core import ModelRequest, ModelResponse, RetryPolicy, SessionId
from agentkit_core.provider import ModelEvent, Projection, ResponseFold
from agentkit_providers.catalogue._card import ModelCard
from agentkit_providers.model._attempt import OnRetry
from agentkit_providers.model._auth import KeySource
from agentkit_providers.model._call_builder import MAX_RESPONSE_BYTES, CallBuilder, Encode
from agentkit_providers.model._callers_client import CallersClient
from agentkit_providers.model._headers import Headers
from agentkit_providers.model._sessions import BlockingHttpSession, HttpSession
from agentkit_providers.vendors._endpoint import Endpoint

if TYPE_CHECKING:
    import httpx

    from agentkit_providers.transport._concurrent import BatchStream


class HttpModel:
    """One model at one endpoint. Tasks, threads and event loops may share it.

    Args:
        model: The model's id, as its provider names it.
        endpoint: Where the model is served.
        projection: How its protocol is written and read. Optional methods are described by
            `IncrementalProjection` of `agentkit_core.provider`, and by `FailureClassifier` and
            `ServiceTierReader` of `agentkit_providers.model`.
        api_key: The key, or a function that gives it, plain or async; see `connect`. None reads the
            endpoint's environment variables, at the first request.
        base_url: Replaces the endpoint's.
        headers: Headers that win over all others, the key's included; None removes one.
        client: The caller's own `httpx.AsyncClient` or `httpx.Client`, used for the calls of its
            kind and never closed here. None uses a shared client for each event loop, and one for
            blocking calls.
        max_response_bytes: How long the body of a response may be, once it is decompressed; a
            longer one is a failure of the kind `protocol`.
        card: What is known of the model. With its prices, responses say what they cost; a price
            that the provider reports itself is kept.

    Raises:
        MissingBaseUrl: There is no base URL, or it is not valid.
        UnusableHeader: An HTTP header cannot hold one of the values of `headers`.
        UnusableKey: `api_key` is neither a key nor a function, or its header gets two keys.
    """

    def __init__(
        self,
        model: str,
        *,
        endpoint: Endpoint,
        projection: Projection,
        api_key: KeySource | None = None,
        base_url: str | None = None,
        headers: Headers | None = None,
        client: httpx.AsyncClient | httpx.Client | None = None,
        card: ModelCard | None = None,
        max_response_bytes: int = MAX_RESPONSE_BYTES,
    ) -> None:
        self._name = model
        self._calls = CallBuilder(
            endpoint=endpoint,
            projection=projection,
            api_key=api_key,
            base_url=base_url,
            headers=headers,
            card=card,
            max_response_bytes=max_response_bytes,
        )
        self._client = CallersClient(client)

    @property
    def name(self) -> str:
        """The model's id, as its provider names it; goes into `ModelRequest.model`."""
        return self._name

    @property
    def provider(self) -> str:
        """The name of the endpoint, such as `openai`; traces have it."""
        return self._calls.endpoint.name

    @property
    def endpoint(self) -> Endpoint:
        """Where the model is served."""
        return self._calls.endpoint

    @property
    def projection(self) -> Projection:
        """How the model's protocol is written and read."""
        return self._calls.projection

    @property
    def card(self) -> ModelCard | None:
        """What is known of the model; None for nothing."""
        return self._calls.card

    @property
    def base_url(self) -> str:
        """Where the endpoint's paths begin, without a slash at the end; passwords are masked."""
        return self._calls.credentials.base_url

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(
                f"a model has no attribute {name!r} that can be set; make another one with "
                f"`connect` or `HttpModel`"
            )
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"HttpModel({self.endpoint.name}:{self._name})"

    def __copy__(self) -> HttpModel:
        return self

    def __deepcopy__(self, memo: object) -> HttpModel:
        return self

    def open(self, session_id: SessionId, /) -> HttpSession:
        """Open a session for an event loop. No I/O happens before the first request."""
        return HttpSession(self._stream, self._calls.encode_of_conversation(), session_id)

    def open_blocking(self, session_id: SessionId, /) -> BlockingHttpSession:
        """Open a session for blocking calls. No I/O happens before the first request."""
        encode = self._calls.encode_of_conversation()
        return BlockingHttpSession(self._stream_blocking, encode, session_id)

    def stream(
        self,
        request: ModelRequest,
        /,
        *,
        retry: RetryPolicy | None = None,
        on_retry: OnRetry | None = None,
    ) -> BatchStream:
        """Send a request and read the response as it arrives.

        Args:
            request: The request.
            retry: Whether to try again after a failure; None makes one attempt. After an attempt
                that has shown content there is never another.
            on_retry: Called with each attempt that is followed by another.

        Returns:
            Batches of events, none empty: one for each network read that completed events. The last
            event is a `ResponseFinished` or a `ResponseFailed`. Close the stream with `aclose` when
            you leave it early (`contextlib.aclosing` does). With `retry`, events before the first
            content are held back until content arrives.

        Raises:
            MissingKey: The endpoint needs a key and there is none.
            UnusableKey: An HTTP header cannot hold the key. What a function gives is checked when
                the stream is read, still before anything is sent.
            UnsupportedContent: The projection cannot express the request.
        """

        def attempt() -> BatchStream:
            return self._stream(request, self.projection.encode)

        if retry is None:
            return attempt()
        from agentkit_providers.model._retry import Retries, retry_stream
        from agentkit_providers.transport._concurrent import BatchStream

        retries = Retries(retry, on_retry)
        return BatchStream(retry_stream(attempt(), attempt, retries))

    def _stream(self, request: ModelRequest, encode: Encode) -> BatchStream:
        from agentkit_providers.transport._concurrent import BatchStream, respond

        credentials = self._calls.credentials
        call, client = self._calls.build(request, encode), self._client.for_loop()
        if credentials.function is None:
            return respond(call, client)
        from agentkit_providers.model import _late_key

        return BatchStream(
            _late_key.respond(call, credentials.function, credentials.add_key, client)
        )

    def stream_blocking(
        self,
        request: ModelRequest,
        /,
        *,
        retry: RetryPolicy | None = None,
        on_retry: OnRetry | None = None,
    ) -> Generator[tuple[ModelEvent, ...], None, None]:
        """Do the same as `stream` without an event loop; close it with `close` if left early."""

        def attempt() -> Generator[tuple[ModelEvent, ...], None, None]:
            return self._stream_blocking(request, self.projection.encode)

        if retry is None:
            return attempt()
        from agentkit_providers.model._retry import Retries, retry_stream_blocking

        retries = Retries(retry, on_retry)
        return retry_stream_blocking(attempt(), attempt, retries)

    def _stream_blocking(
        self, request: ModelRequest, encode: Encode
    ) -> Generator[tuple[ModelEvent, ...], None, None]:
        from agentkit_providers.transport._blocking import respond

        credentials = self._calls.credentials
        if credentials.function is not None:
            credentials.function.require_plain()
        call, client = self._calls.build(request, encode), self._client.for_blocking()
        if credentials.function is None:
            return respond(call, client)
        from agentkit_providers.model import _late_key

        return _late_key.respond_blocking(call, credentials.function, credentials.add_key, client)

    async def complete(
        self,
        request: ModelRequest,
        /,
        *,
        retry: RetryPolicy | None = None,
        on_retry: OnRetry | None = None,
    ) -> ModelResponse:
        """Send a request and wait for the complete response.

        Args:
            request: The request.
            retry: Whether to try again after a failure, also after one in the middle of a response;
                None makes one attempt.
            on_retry: Called with each attempt that is followed by another.

        Returns:
            The response. After a failure, `failure` says what went wrong, and the rest is what
            arrived before it.

        Raises:
            AgentkitError: The caller's mistakes; see `stream`.
        """
        if retry is None:
            return await self._complete(request)
        from anyio import sleep

        from agentkit_providers.model._retry import Retries

        retries = Retries(retry, on_retry)
        response = await self._complete(request)
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
        """Do the same as `complete` without an event loop."""
        if retry is None:
            return self._complete_blocking(request)
        from agentkit_providers.model._retry import Retries

        retries = Retries(retry, on_retry)
        response = self._complete_blocking(request)
        while (wait_s := retries.wait_s(response.failure, response.usage)) is not None:
            time.sleep(wait_s)
            response = self._complete_blocking(request)
        return response

    def _complete_blocking(self, request: ModelRequest) -> ModelResponse:
        folding = ResponseFold()
        for events in self.stream_blocking(request):
            folding.feed(events)
        return folding.finish()
