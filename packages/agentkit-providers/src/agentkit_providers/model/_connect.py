"""`connect`: a model from its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from agentkit_core import AgentkitError
from agentkit_providers.catalogue._card import ModelCard
from agentkit_providers.endpoints import Registry, default_registry
from agentkit_providers.model._auth import KeySource
from agentkit_providers.model._call_builder import MAX_RESPONSE_BYTES
from agentkit_providers.model._headers import Headers
from agentkit_providers.model._http_model import HttpModel
from agentkit_providers.vendors._endpoint import Endpoint

if TYPE_CHECKING:
    import httpx

    from agentkit_providers.catalogue import Catalogue

_EXAMPLE: Final = "'openai:gpt-5-mini'"


class BadModelName(AgentkitError):
    """A model's name is not of the form `<provider>:<model>`."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} is not a valid model name; write '<provider>:<model>', such as {_EXAMPLE}"
        )
        self.name = name


def connect(
    name: str,
    *,
    base_url: str | None = None,
    api_key: KeySource | None = None,
    quirks: Any = None,
    headers: Headers | None = None,
    client: httpx.AsyncClient | httpx.Client | None = None,
    registry: Registry = default_registry,
    card: ModelCard | None = None,
    catalogue: Catalogue | None = None,
    max_response_bytes: int = MAX_RESPONSE_BYTES,
) -> HttpModel:
    """Make a model from its name. Nothing is sent and no key is read before the first request.

    Args:
        name: `<provider>:<model>`, such as `openai:gpt-5-mini` or `ollama:llama3.2:3b`. Any server
            with an OpenAI-compatible API is `compatible:<model>` with its `base_url`.
        base_url: Replaces the provider's.
        api_key: The key, or a function without arguments that gives it, plain or async. The
            function is called for every request, by requests at the same time also at the same
            time, and once more where the provider refuses what it gave. On an event loop a plain
            function runs in a worker thread; without one, an async function is refused. None reads
            the provider's environment variables.
        quirks: How the server differs: a mapping that is merged over the provider's own quirks, or
            a value of the protocol's quirks type, which replaces them.
        headers: Headers that win over all others, strings or `Secret`; None removes one.
        client: An HTTP client of your own; see `HttpModel`.
        registry: Where providers are looked up.
        card: What is known of the model: thinking levels, media, limits, prices. None looks in the
            catalogue; of an unknown model nothing is assumed.
        catalogue: Where cards are looked up; None is the catalogue that comes with this package.
        max_response_bytes: How long the body of a response may be, once it is decompressed; a
            longer one is a failure of the kind `protocol`.

    Raises:
        BadModelName: The name is not of the form `<provider>:<model>`.
        UnknownProvider: No provider has that name.
        MissingBaseUrl: The provider has no base URL and the caller passed none, or an invalid one.
        UnusableHeader: An HTTP header cannot hold one of the values of `headers`.
        UnusableKey: `api_key` is neither a key nor a function, or its header gets two keys.
        UnknownApi: The provider's protocol is not registered.
        UnknownQuirk: The protocol has no quirk of that name.
        msgspec.ValidationError: A quirk's value has the wrong type.
    """
    provider, colon, model = name.partition(":")
    if not (provider and colon and model):
        raise BadModelName(name)
    vendor = registry.get(provider)
    if card is None:
        card = _find_card(vendor, model, catalogue)
    endpoint = vendor.for_model(model, card)
    return HttpModel(
        model,
        endpoint=endpoint,
        projection=registry.projection(endpoint, quirks),
        api_key=api_key,
        base_url=base_url,
        headers=headers,
        client=client,
        card=card,
        max_response_bytes=max_response_bytes,
    )


def _find_card(vendor: Endpoint, model: str, catalogue: Catalogue | None) -> ModelCard | None:
    from agentkit_providers.catalogue import default_catalogue

    card = (catalogue or default_catalogue()).find(vendor.catalogue or vendor.name, model)
    if card is None or vendor.catalogue_prices:
        return card
    return replace(card, prices=None)
