"""A decoder that adds prices: it adds to each usage report what the tokens cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from agentkit_core import CostUsage, MetadataMap, Usage
from agentkit_core.provider import (
    ModelEvent,
    ResponseDecoder,
    ResponseFailed,
    ResponseFinished,
    UsageReported,
)
from agentkit_providers._protocol_kit._completion import is_complete
from agentkit_providers.catalogue._card import ModelCard
from agentkit_providers.catalogue._cost import cost

Events = tuple[ModelEvent, ...]
ServiceTier = Callable[[MetadataMap], str | None]
"""Reads the service tier of a response from the metadata of its last event."""

_RELEVANT: Final = frozenset({UsageReported, ResponseFinished, ResponseFailed})


class PricedDecoder:
    """Decodes like another decoder, and adds prices to its usage reports.

    A price that the provider itself reports is kept. Prices come with each report, not only at the
    end, so that a cancelled response has one too.

    Args:
        decoder: Decodes the response.
        card: The model's card, which has prices.
        service_tier: Reads the response's service tier; None where the protocol has none.
    """

    def __init__(
        self, decoder: ResponseDecoder, card: ModelCard, service_tier: ServiceTier | None
    ) -> None:
        self._decoder = decoder
        self._card = card
        self._service_tier = service_tier
        self._usage = Usage()
        """Everything that was reported, without our own prices."""

    @property
    def is_complete(self) -> bool:
        """Whether all of the response has come; see `CompletionAware`."""
        return is_complete(self._decoder)

    def feed(self, chunk: bytes, /) -> Events:
        """Take the next bytes; see `agentkit_core.provider.ResponseDecoder`."""
        events = self._decoder.feed(chunk)
        for event in events:
            if type(event) in _RELEVANT:
                return tuple(self._with_prices(events))
        return events

    def finish(self) -> Events:
        """Take note that the body is over; see `agentkit_core.provider.ResponseDecoder`."""
        return tuple(self._with_prices(self._decoder.finish()))

    def _with_prices(self, events: Events) -> Iterator[ModelEvent]:
        for event in events:
            if isinstance(event, UsageReported):
                self._usage = self._usage.updated_by(event.usage)
                amount = self._cost(None)
                if amount is not None:
                    usage = replace(event.usage, cost=amount, priced_requests=1)
                    event = UsageReported(usage)
            elif isinstance(event, ResponseFinished | ResponseFailed):
                yield from self._corrections(event.metadata)
            yield event

    def _corrections(self, metadata: MetadataMap) -> Iterator[UsageReported]:
        """Correct the price where the response was given in another service tier."""
        tier = None if self._service_tier is None else self._service_tier(metadata)
        if tier is None:
            return
        amount = self._cost(tier)
        if amount is not None and amount != self._cost(None):
            yield UsageReported(Usage(cost=amount, priced_requests=1))

    def _cost(self, tier: str | None) -> CostUsage | None:
        if self._usage.cost.amounts:
            return None
        return cost(self._usage.tokens, self._card, service_tier=tier)
