"""The catalogue: cards by vendor and model, and the cards that come with this package."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

import msgspec

from agentkit_providers.catalogue._card import ModelCard

_SNAPSHOT: Final = re.compile(r"(?:-\d{4}-\d\d-\d\d|[-@]\d{8}|-latest)$")
"""The end of a snapshot's name: `gpt-5-2025-08-07`, `claude-opus-4-5@20251101`."""


class Catalogue:
    """Cards of models. Iterating yields them in the order in which they were first added.

    Args:
        cards: The cards; of two for the same model of one vendor the later one wins.
    """

    __slots__ = ("__weakref__", "_cards")

    def __init__(self, cards: Iterable[ModelCard] = ()) -> None:
        self._cards = {(card.vendor, card.id.lower()): card for card in cards}

    def find(self, vendor: str, model: str) -> ModelCard | None:
        """Find the card of a model, or of the model whose snapshot it is.

        Args:
            vendor: The vendor's name among the endpoints.
            model: The model's id, in any case.

        Returns:
            The card; None where nothing is known of the model.
        """
        name = model.lower()
        exact = self._cards.get((vendor, name))
        return exact or self._cards.get((vendor, _SNAPSHOT.sub("", name)))

    def models(self, vendor: str) -> tuple[ModelCard, ...]:
        """All cards of a vendor; empty for an unknown one."""
        return tuple(card for card in self if card.vendor == vendor)

    def vendors(self) -> tuple[str, ...]:
        """All vendors with a card, sorted."""
        return tuple(sorted({card.vendor for card in self}))

    def with_cards(self, cards: Iterable[ModelCard]) -> Catalogue:
        """Return a catalogue with further cards, which replace those of the same models."""
        return Catalogue([*self, *cards])

    def __iter__(self) -> Iterator[ModelCard]:
        return iter(self._cards.values())

    def __len__(self) -> int:
        return len(self._cards)


@lru_cache(maxsize=1)
def default_catalogue() -> Catalogue:
    """Return the cards that come with this package; they are loaded at the first call.

    There are few of them, and each was correct on the day that it names. Prices change: use cards
    of your own, or those of `agentkit_providers.catalogue.genai_prices`.
    """
    data = pkgutil.get_data("agentkit_providers.catalogue", "cards.json")
    return Catalogue(msgspec.json.decode(data or b"[]", type=list[ModelCard]))
