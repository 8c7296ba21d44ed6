"""Endpoints: vendors as rows. Where a protocol is spoken, with which key, with which quirks.

A row is data. A vendor that speaks a known protocol needs a row and nothing else; a protocol
of one's own is registered with `Registry.register_api`. Nothing here reads the environment or
opens a connection, and a protocol's code is imported when its first model is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from agentkit_core import AgentkitError
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

__all__ = [
    "ANTHROPIC_MESSAGES",
    "GOOGLE_GENERATE",
    "OPENAI_CHAT",
    "OPENAI_RESPONSES",
    "Endpoint",
    "MakeProjection",
    "Registry",
    "UnknownApi",
    "UnknownProvider",
    "UnknownQuirk",
    "default_registry",
]

MakeProjection = Callable[[Endpoint, Any], Projection]
"""Makes a protocol's projection for an endpoint, which is the row of one model where the model is
known. The second argument is what the caller gave as `quirks`: None, a mapping to be laid over
the endpoint's own, or the protocol's quirks type."""

Q = TypeVar("Q", bound=msgspec.Struct)


class UnknownProvider(AgentkitError):
    """No endpoint of this name is registered."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(
            f"no provider is called {name!r}; known are {', '.join(known) or 'none'}. "
            f"A server with an OpenAI-compatible API is 'compatible:<model>' with base_url=…"
        )
        self.name = name
        self.known = known


class UnknownApi(AgentkitError):
    """An endpoint names a protocol that nobody registered."""

    def __init__(self, api: str, known: tuple[str, ...]) -> None:
        super().__init__(
            f"no protocol is called {api!r}; known are {', '.join(known)}. "
            f"Register it with `register_api`"
        )
        self.api = api
        self.known = known


class UnknownQuirk(AgentkitError):
    """A quirk is named that the protocol does not have."""

    def __init__(self, names: tuple[str, ...], known: tuple[str, ...]) -> None:
        super().__init__(f"no quirk is called {', '.join(names)}; known are {', '.join(known)}")
        self.names = names
        self.known = known


class Registry:
    """Names to endpoints, and protocols to projections. Iterating gives the endpoints by name.

    Args:
        endpoints: The first rows; of two with one name the later one stays.
    """

    def __init__(self, endpoints: Iterable[Endpoint] = ()) -> None:
        self._endpoints: dict[str, Endpoint] = {row.name: row for row in endpoints}
        self._apis: dict[str, MakeProjection] = {
            ANTHROPIC_MESSAGES: _anthropic_messages,
            GOOGLE_GENERATE: _google_generate,
            OPENAI_CHAT: _openai_chat,
            OPENAI_RESPONSES: _openai_responses,
        }

    def register(self, endpoint: Endpoint) -> None:
        """Add a row; one of the same name is replaced."""
        self._endpoints[endpoint.name] = endpoint

    def unregister(self, name: str) -> None:
        """Remove a row.

        Raises:
            UnknownProvider: There is none of that name.
        """
        self.get(name)
        del self._endpoints[name]

    def get(self, name: str) -> Endpoint:
        """Find a row.

        Raises:
            UnknownProvider: There is none of that name.
        """
        try:
            return self._endpoints[name]
        except KeyError:
            raise UnknownProvider(name, self.names()) from None

    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self._endpoints))

    def __iter__(self) -> Iterator[Endpoint]:
        return iter([self._endpoints[name] for name in self.names()])

    def register_api(self, api: str, make: MakeProjection) -> None:
        """Add a protocol; one of the same name is replaced."""
        self._apis[api] = make

    def projection(self, endpoint: Endpoint, quirks: Any = None) -> Projection:
        """Make the projection that an endpoint's protocol needs.

        Raises:
            UnknownApi: Nobody registered its protocol.
            UnknownQuirk: The protocol has no quirk of that name.
            msgspec.ValidationError: A quirk's value is of the wrong type.
        """
        try:
            make = self._apis[endpoint.api]
        except KeyError:
            raise UnknownApi(endpoint.api, tuple(sorted(self._apis))) from None
        return make(endpoint, quirks)


def _anthropic_messages(endpoint: Endpoint, quirks: Any) -> Projection:
    from agentkit_providers.anthropic_messages import AnthropicMessages, Quirks

    return AnthropicMessages(endpoint.name, _quirks(endpoint, quirks, Quirks))


def _google_generate(endpoint: Endpoint, quirks: Any) -> Projection:
    from agentkit_providers.google_generate import GoogleGenerate, Quirks

    return GoogleGenerate(endpoint.name, _quirks(endpoint, quirks, Quirks))


def _openai_chat(endpoint: Endpoint, quirks: Any) -> Projection:
    from agentkit_providers.openai_chat import OpenAIChat, Quirks

    return OpenAIChat(endpoint.name, _quirks(endpoint, quirks, Quirks))


def _openai_responses(endpoint: Endpoint, quirks: Any) -> Projection:
    from agentkit_providers.openai_responses import OpenAIResponses, Quirks

    return OpenAIResponses(endpoint.name, _quirks(endpoint, quirks, Quirks))


def _quirks(endpoint: Endpoint, given: Any, kind: type[Q]) -> Q:
    """Lay over each other what the catalogue, the row and the caller say, the last one on top."""
    if isinstance(given, kind):
        return given
    known = kind.__struct_fields__
    fields = {**_from_card(endpoint.card, known), **endpoint.quirks, **(given or {})}
    unknown = sorted(set(fields) - set(known))
    if unknown:
        raise UnknownQuirk(tuple(unknown), known)
    quirks = msgspec.convert(fields, kind)
    taken = None if endpoint.card is None else endpoint.card.media_in
    if taken is None or "media" not in known or "media" in (given or {}):
        return quirks
    return replace(quirks, media=quirks.media & taken)  # type: ignore[attr-defined]


def _from_card(card: ModelCard | None, known: tuple[str, ...]) -> dict[str, Any]:
    """What a card says that this protocol has a quirk for."""
    if card is None:
        return {}
    facts = {
        "thinking_level_map": card.thinking_level_map or None,
        "max_output_tokens": card.max_output_tokens,
        "sampling": card.sampling,
    }
    return {name: fact for name, fact in facts.items() if name in known and fact is not None}


default_registry: Final = Registry(VENDORS)
"""The registry that `connect` asks when it is given none; the process shares it."""
