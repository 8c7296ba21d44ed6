"""Endpoints: where protocols are served, with which key, and how each vendor differs.

A vendor that speaks a known protocol is one `Endpoint`, which is data. A protocol of your own is
registered with `Registry.register_api`. Nothing here reads the environment or opens a connection,
and a protocol's code is imported when its first model is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from agentkit_core.provider import Projection
from agentkit_providers.catalogue._card import ModelCard
from agentkit_providers.vendors._all import VENDORS
from agentkit_providers.vendors._endpoint import (
    ANTHROPIC_MESSAGES,
    GOOGLE_GENERATE,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    Endpoint,
)
from agentkit_providers.vendors._errors import UnknownApi, UnknownProvider, UnknownQuirk

__all__ = [
    "ANTHROPIC_MESSAGES",
    "GOOGLE_GENERATE",
    "OPENAI_CHAT",
    "OPENAI_RESPONSES",
    "MakeProjection",
    "Registry",
    "UnknownApi",
    "default_registry",
]

MakeProjection = Callable[[Endpoint, Any], Projection]
"""Makes a protocol's projection for an endpoint; where the model is known, the endpoint is the one
that `Endpoint.for_model` returned. The second argument is the caller's `quirks`: None, a mapping
that is merged over the endpoint's own, or a value of the protocol's quirks type."""

Q = TypeVar("Q", bound=msgspec.Struct)


class Registry:
    """The known endpoints by name, and the known protocols. Iterating yields endpoints by name.

    Args:
        endpoints: The first endpoints; of two with the same name the later one wins.
    """

    __slots__ = ("__weakref__", "_apis", "_endpoints")

    def __init__(self, endpoints: Iterable[Endpoint] = ()) -> None:
        self._endpoints: dict[str, Endpoint] = {endpoint.name: endpoint for endpoint in endpoints}
        self._apis: dict[str, MakeProjection] = {
            ANTHROPIC_MESSAGES: _anthropic_messages,
            GOOGLE_GENERATE: _google_generate,
            OPENAI_CHAT: _openai_chat,
            OPENAI_RESPONSES: _openai_responses,
        }

    def register(self, endpoint: Endpoint) -> None:
        """Add an endpoint; one of the same name is replaced."""
        self._endpoints[endpoint.name] = endpoint

    def unregister(self, name: str) -> None:
        """Remove an endpoint.

        Raises:
            UnknownProvider: No endpoint has that name.
        """
        self.get(name)
        del self._endpoints[name]

    def get(self, name: str) -> Endpoint:
        """Find an endpoint.

        Raises:
            UnknownProvider: No endpoint has that name.
        """
        try:
            return self._endpoints[name]
        except KeyError:
            raise UnknownProvider(name, self.names()) from None

    def names(self) -> tuple[str, ...]:
        """The names of all endpoints, sorted."""
        return tuple(sorted(self._endpoints))

    def __iter__(self) -> Iterator[Endpoint]:
        return iter([self._endpoints[name] for name in self.names()])

    def register_api(self, api: str, make: MakeProjection) -> None:
        """Add a protocol; one of the same name is replaced.

        Args:
            api: The protocol's name, which endpoints refer to as `Endpoint.api`.
            make: Makes the protocol's projection for an endpoint.
        """
        self._apis[api] = make

    def projection(self, endpoint: Endpoint, quirks: Any = None) -> Projection:
        """Make the projection of an endpoint's protocol.

        Args:
            endpoint: The endpoint.
            quirks: The caller's quirks; see `MakeProjection`.

        Raises:
            UnknownApi: The endpoint's protocol is not registered.
            UnknownQuirk: The protocol has no quirk of that name.
            msgspec.ValidationError: A quirk's value has the wrong type.
        """
        try:
            make = self._apis[endpoint.api]
        except KeyError:
            raise UnknownApi(endpoint.api, tuple(sorted(self._apis))) from None
        return make(endpoint, quirks)


def _anthropic_messages(endpoint: Endpoint, quirks: Any) -> Projection:
    from agentkit_providers.anthropic_messages import AnthropicMessages, Quirks

    return AnthropicMessages(endpoint.name, _merged_quirks(endpoint, quirks, Quirks))


def _google_generate(endpoint: Endpoint, quirks: Any) -> Projection:
    from agentkit_providers.google_generate import GoogleGenerate, Quirks

    return GoogleGenerate(endpoint.name, _merged_quirks(endpoint, quirks, Quirks))


def _openai_chat(endpoint: Endpoint, quirks: Any) -> Projection:
    from agentkit_providers.openai_chat import OpenAIChat, Quirks

    return OpenAIChat(endpoint.name, _merged_quirks(endpoint, quirks, Quirks))


def _openai_responses(endpoint: Endpoint, quirks: Any) -> Projection:
    from agentkit_providers.openai_responses import OpenAIResponses, Quirks

    return OpenAIResponses(endpoint.name, _merged_quirks(endpoint, quirks, Quirks))


def _merged_quirks(endpoint: Endpoint, callers: Any, kind: type[Q]) -> Q:
    """Merge the quirks of the model's card, the endpoint and the caller; later ones win."""
    if isinstance(callers, kind):
        return callers
    known = kind.__struct_fields__
    fields = {**_card_quirks(endpoint.card, known), **endpoint.quirks, **(callers or {})}
    unknown = sorted(set(fields) - set(known))
    if unknown:
        raise UnknownQuirk(tuple(unknown), known)
    quirks = msgspec.convert(fields, kind)
    media_in = None if endpoint.card is None else endpoint.card.media_in
    if media_in is None or "media" not in known or "media" in (callers or {}):
        return quirks
    # The endpoint and the model must both accept a modality.
    return replace(quirks, media=quirks.media & media_in)  # type: ignore[attr-defined]


def _card_quirks(card: ModelCard | None, known: tuple[str, ...]) -> dict[str, Any]:
    """The facts of a card that are quirks of the protocol, as far as they are known."""
    if card is None:
        return {}
    facts = {
        "thinking_level_map": card.thinking_level_map or None,
        "max_output_tokens": card.max_output_tokens,
        "sampling": card.sampling,
    }
    return {name: fact for name, fact in facts.items() if name in known and fact is not None}


default_registry: Final = Registry(VENDORS)
"""The registry that `connect` uses where the caller passes none. The whole process shares it."""
