"""`connect`: a model from its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from agentkit_core import AgentkitError
from agentkit_providers.catalogue._card import ModelCard
from agentkit_providers.endpoints import Registry, default_registry
from agentkit_providers.model._auth import KeySource
from agentkit_providers.model._http_model import HttpModel
from agentkit_providers.vendors._endpoint import Endpoint

if TYPE_CHECKING:
    import httpx

    from agentkit_providers.catalogue import Catalogue

_EXAMPLE: Final = "'openai:gpt-5-mini'"


class BadModelName(AgentkitError):
    """A model's name is not `<provider>:<model>`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} is no model; write '<provider>:<model>', such as {_EXAMPLE}")
        self.name = name


def connect(
    name: str,
    *,
    base_url: str | None = None,
    api_key: KeySource | None = None,
    quirks: Any = None,
    headers: Mapping[str, str | None] | None = None,
    client: httpx.AsyncClient | httpx.Client | None = None,
    registry: Registry = default_registry,
    card: ModelCard | None = None,
    catalogue: Catalogue | None = None,
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
        card: What is known of the model: thinking levels, media, limits, prices. Without it the
            catalogue is asked; of an unknown model nothing is assumed.
        catalogue: Where cards are looked up; None is the one that comes with this package.

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
    row = registry.get(provider)
    if card is None:
        card = _card_of(row, model, catalogue)
    endpoint = row.for_model(model, card)
    return HttpModel(
        model,
        endpoint=endpoint,
        projection=registry.projection(endpoint, quirks),
        api_key=api_key,
        base_url=base_url,
        headers=headers,
        client=client,
        card=card,
    )


def _card_of(row: Endpoint, model: str, catalogue: Catalogue | None) -> ModelCard | None:
    from agentkit_providers.catalogue import default_catalogue

    found = (catalogue or default_catalogue()).find(row.catalogue or row.name, model)
    if found is None or row.catalogue_prices:
        return found
    return replace(found, prices=None)
