"""A decoder that knows prices: it adds to each report of usage what that much costs."""

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
from agentkit_providers.catalogue._card import ModelCard
from agentkit_providers.catalogue._cost import cost

Events = tuple[ModelEvent, ...]
ServiceTier = Callable[[MetadataMap], str | None]
"""Reads the service tier of an answer from the metadata of its last event."""

_LOOKED_AT: Final = frozenset({UsageReported, ResponseFinished, ResponseFailed})


class PricedDecoder:
    """Decodes as another decoder does, and prices what that one reports.

    A price that the provider itself reports stays. Prices come with each report and not at the
    end alone, so that an answer which is cancelled has one too.

    Args:
        decoder: Reads the answer.
        card: The model that answers; its prices are known.
        service_tier: Where the protocol tells service tiers, how to read them.
    """

    def __init__(
        self, decoder: ResponseDecoder, card: ModelCard, service_tier: ServiceTier | None
    ) -> None:
        self._decoder = decoder
        self._card = card
        self._service_tier = service_tier
        self._usage = Usage()
        """All that was reported, without our own prices."""

    def feed(self, chunk: bytes, /) -> Events:
        """Take the next bytes; see `agentkit_core.provider.ResponseDecoder`."""
        events = self._decoder.feed(chunk)
        for event in events:
            if type(event) in _LOOKED_AT:
                return tuple(self._priced(events))
        return events

    def finish(self) -> Events:
        """Take note that the body is over; see `agentkit_core.provider.ResponseDecoder`."""
        return tuple(self._priced(self._decoder.finish()))

    def _priced(self, events: Events) -> Iterator[ModelEvent]:
        for event in events:
            if isinstance(event, UsageReported):
                self._usage = self._usage.updated_by(event.usage)
                amount = self._cost(None)
                if amount is not None:
                    usage = replace(event.usage, cost=amount, priced_requests=1)
                    event = UsageReported(usage)
            elif isinstance(event, ResponseFinished | ResponseFailed):
                yield from self._at_the_end(event.metadata)
            yield event

    def _at_the_end(self, metadata: MetadataMap) -> Iterator[UsageReported]:
        """Correct the price where the answer turns out to be of another service tier."""
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
