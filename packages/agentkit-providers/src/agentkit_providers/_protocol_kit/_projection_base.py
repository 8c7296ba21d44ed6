"""What the projections of all protocols have in common: one protocol, as one vendor speaks it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from agentkit_core import MetadataMap, ModelRequest, ProviderFailure
from agentkit_core.provider import (
    IdRule,
    RequestEncoder,
    ResponseDecoder,
    Target,
    WireRequest,
)
from agentkit_providers._protocol_kit._encoded_request import PieceEncoder
from agentkit_providers._protocol_kit._kept_facts import KeptFacts
from agentkit_providers._protocol_kit._naming import NamingDecoder, NamingEncoder
from agentkit_providers._protocol_kit._wire_names import WireNames, wire_names
from agentkit_providers.failures._classify import classify_http

Q = TypeVar("Q")


class VendorProjection(ABC, Generic[Q]):
    """A protocol as one vendor speaks it; see `agentkit_core.provider.Projection`.

    Args:
        provider: Who is asked; goes into the provenance of the responses.
        quirks: How the vendor differs from the protocol's defaults.
    """

    __slots__ = ("__weakref__", "_changes_key", "_kept", "provider", "quirks")

    api: ClassVar[str]
    """The protocol's name."""
    tool_names: ClassVar[IdRule] = IdRule()
    """The names of tools that the protocol takes; others are renamed, and restored in answers."""

    def __init__(self, provider: str, quirks: Q) -> None:
        self.provider = provider
        self.quirks = quirks
        self._kept = KeptFacts()
        self._changes_key = f"{self.api}.changes"

    @abstractmethod
    def target(self, model: str) -> Target:
        """Say what the vendor's model can be sent."""

    def argument_names(self, model: str) -> IdRule | None:
        """The names of arguments that a model takes, as for `tool_names`; None for any."""
        return None

    @abstractmethod
    def _encoder(self) -> PieceEncoder:
        """Make an encoder for requests whose names the vendor takes."""

    @abstractmethod
    def _decoder(self, request: ModelRequest) -> ResponseDecoder:
        """Make a decoder for the response to a request whose names the vendor takes."""

    def encoder(self) -> RequestEncoder:
        """Make an encoder for one conversation, which keeps what it wrote of the history."""
        return NamingEncoder(self._encoder(), self._wire_names, self._changes_key)

    def decoder(self, request: ModelRequest, /) -> ResponseDecoder:
        """Make a decoder for the response to this request, streamed or whole."""
        names = self._wire_names(request)
        if names is None:
            return self._decoder(request)
        sent = names.request(request, request.items, names.specs(request.tools))
        return NamingDecoder(self._decoder(sent), names)

    def _wire_names(self, request: ModelRequest) -> WireNames | None:
        model, tools = request.model, tuple(request.tools)
        return self._kept.of(
            tools,
            ("names", model),
            lambda: wire_names(tools, self.tool_names, self.argument_names(model)),
        )

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request requires something that the vendor cannot do.
        """
        return self.encoder().encode(request)

    def failure(
        self, status: int, headers: Mapping[str, str], body: bytes, *, now_s: float | None = None
    ) -> ProviderFailure:
        """Say what kind of failure an HTTP error response is.

        Args:
            status: The HTTP status.
            headers: The response's headers, names in any case.
            body: The body as far as it was read; may be empty, cut, or not JSON.
            now_s: Seconds since 1970, to read waits that name a moment. None goes by the
                response's own `date` header.
        """
        return classify_http(status, headers, body, now_s=now_s)

    def service_tier(self, metadata: MetadataMap) -> str | None:
        """Read in which service tier a response was given.

        Args:
            metadata: The metadata of the response's last event.

        Returns:
            The vendor's word; None where the response does not say.
        """
        tier: Any = metadata.get(f"{self.api}.service_tier")
        return tier if isinstance(tier, str) else None
