"""A model behind HTTP: a projection, an endpoint, a key. `connect` finds the first two by name.

    model = connect("openai:gpt-5-mini")
    response = await model.complete(ModelRequest(model=model.name, items=[Item.user("Hi")]))

It is a model client on its own and fits the ports of agentkit-loop, for event loops and
without one. What a provider or the network does wrong is the last event of an answer; raised
are the caller's mistakes alone, and those before anything is sent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from agentkit_core import (
    AgentkitError,
    ModelEvent,
    ModelRequest,
    ModelResponse,
    Projection,
    ProviderFailure,
    ResponseDecoder,
    ResponseFold,
    SessionId,
    WireRequest,
)
from agentkit_providers._endpoint import Endpoint
from agentkit_providers._key import (
    KeyRing,
    KeySource,
    carries_key,
    merged_headers,
    secrets_in,
    usable_headers,
)
from agentkit_providers.endpoints import Registry, default_registry

if TYPE_CHECKING:
    import httpx

    from agentkit_providers.transport._call import Call
    from agentkit_providers.transport._concurrent import BatchStream

Encode = Callable[[ModelRequest], WireRequest]
"""How a request is written."""

_EXAMPLE: Final = "'openai:gpt-5-mini'"


class BadModelName(AgentkitError):
    """A model's name is not `<provider>:<model>`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} is no model; write '<provider>:<model>', such as {_EXAMPLE}")
        self.name = name


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
    ) -> None:
        self.endpoint = endpoint
        self.projection = projection
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
        return HttpSession(self, session_id)

    def open_blocking(self, session_id: SessionId, /) -> BlockingHttpSession:
        """Open a session for blocking calls; no I/O happens before the first request."""
        return BlockingHttpSession(self, session_id)

    def stream(self, request: ModelRequest, /) -> BatchStream:
        """Ask once.

        Returns:
            Batches of events, none empty, one per network read that brought something; the
            last event is a `ResponseFinished` or a `ResponseFailed`. Close it with `aclose`
            when it is left early (`contextlib.aclosing` does).

        Raises:
            MissingKey: The endpoint needs a key and there is none.
            UnusableKey: No header can carry the key.
            UnsupportedContent: The projection cannot express the request.
        """
        return self._stream(request, self.projection.encode)

    def _stream(self, request: ModelRequest, encode: Encode) -> BatchStream:
        from agentkit_providers.transport._concurrent import respond

        return respond(self._call(request, encode), self._client_of("aclose"))

    def stream_blocking(
        self, request: ModelRequest, /
    ) -> Generator[tuple[ModelEvent, ...], None, None]:
        """Ask once, without an event loop; see `stream`. Close it with `close` if left early."""
        return self._stream_blocking(request, self.projection.encode)

    def _stream_blocking(
        self, request: ModelRequest, encode: Encode
    ) -> Generator[tuple[ModelEvent, ...], None, None]:
        from agentkit_providers.transport._blocking import respond

        return respond(self._call(request, encode), self._client_of("close"))

    async def complete(self, request: ModelRequest, /) -> ModelResponse:
        """Ask once and wait for all of the answer.

        Returns:
            The response; what went wrong is in its `failure`, with what came before it.

        Raises:
            AgentkitError: The caller's mistakes; see `stream`.
        """
        folding = ResponseFold()
        batches = self.stream(request)
        try:
            async for events in batches:
                folding.feed(events)
        finally:
            await batches.aclose()
        return folding.finish()

    def complete_blocking(self, request: ModelRequest, /) -> ModelResponse:
        """Ask once and wait for all of the answer, without an event loop; see `complete`."""
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
            return projection.decoder(request if same else replace(request, streamed=streamed))

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

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderFailure:
        from agentkit_providers._errors import classify_http

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


class HttpSession:
    """One conversation with a model over an event loop.

    It keeps what was written of the history, so that the next request writes what is new.
    """

    def __init__(self, model: HttpModel, session_id: SessionId) -> None:
        self._model = model
        self._session_id = session_id
        self._encode = model._encode_of_session()

    def respond(self, request: ModelRequest, /) -> BatchStream:
        """Ask once; see `HttpModel.stream`."""
        return self._model._stream(_of_session(request, self._session_id), self._encode)

    async def close(self) -> None:
        """Do nothing: connections belong to the event loop, and are closed with it."""


class BlockingHttpSession:
    """One conversation with a model without an event loop; see `HttpSession`."""

    def __init__(self, model: HttpModel, session_id: SessionId) -> None:
        self._model = model
        self._session_id = session_id
        self._encode = model._encode_of_session()

    def respond(self, request: ModelRequest, /) -> Generator[tuple[ModelEvent, ...], None, None]:
        """Ask once; see `HttpModel.stream_blocking`."""
        return self._model._stream_blocking(_of_session(request, self._session_id), self._encode)

    def close(self) -> None:
        """Do nothing: idle connections are kept for the next request of any session."""


def connect(
    name: str,
    *,
    base_url: str | None = None,
    api_key: KeySource | None = None,
    quirks: Any = None,
    headers: Mapping[str, str | None] | None = None,
    client: httpx.AsyncClient | httpx.Client | None = None,
    registry: Registry = default_registry,
) -> HttpModel:
    """Make a model from its name; nothing is sent, and no key is read, before the first request.

    Args:
        name: `<provider>:<model>`: `openai:gpt-5-mini`, `ollama:llama3.2:3b`; any server with an
            OpenAI-compatible API is `compatible:<model>` with its `base_url`.
        base_url: Takes the place of the provider's.
        api_key: The key, or a callable that gives it. Without it the provider's environment
            variables are read.
        quirks: How the server's dialect differs: a mapping that is laid over the provider's own
            quirks, or the protocol's quirks type, which takes their place.
        headers: Laid over all others; None takes one away.
        client: An HTTP client of one's own; see `HttpModel`.
        registry: Where providers are looked up.

    Raises:
        BadModelName: The name is not `<provider>:<model>`.
        UnknownProvider: No provider has that name.
        MissingBaseUrl: The provider has no address of its own and none was given.
        UnusableHeader: No header can carry a value of `headers`.
        UnknownQuirk: The protocol has no quirk of that name.
        msgspec.ValidationError: A quirk's value is of the wrong type.
    """
    provider, colon, model = name.partition(":")
    if not (provider and colon and model):
        raise BadModelName(name)
    endpoint = registry.get(provider)
    return HttpModel(
        model,
        endpoint=endpoint,
        projection=registry.projection(endpoint, quirks),
        api_key=api_key,
        base_url=base_url,
        headers=headers,
        client=client,
    )


def _of_session(request: ModelRequest, session_id: SessionId) -> ModelRequest:
    if request.session_id is not None:
        return request
    return replace(request, session_id=session_id)


@lru_cache(maxsize=1)
def _user_agent() -> str:
    from importlib.metadata import version

    return f"agentkit/{version('agentkit-providers')}"
