"""The catalogue: cards by vendor and model, and those that come with this package."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

import msgspec

from agentkit_providers.catalogue._card import ModelCard

_SNAPSHOT: Final = re.compile(r"(?:-\d{4}-\d\d-\d\d|[-@]\d{8}|-latest)$")
"""What names a moment of a model: `gpt-5-2025-08-07`, `claude-opus-4-5@20251101`."""


class Catalogue:
    """Cards of models. Iterating gives them in the order in which they were first added.

    Args:
        cards: Of two for the same model of one vendor the later one stays.
    """

    def __init__(self, cards: Iterable[ModelCard] = ()) -> None:
        self._cards = {(card.vendor, card.id.lower()): card for card in cards}

    def find(self, vendor: str, model: str) -> ModelCard | None:
        """Find the card of a model, or of the model that it is a snapshot of.

        Args:
            vendor: The vendor's name among the endpoints.
            model: The model's id, in any case.

        Returns:
            None where nothing is known of it.
        """
        name = model.lower()
        exact = self._cards.get((vendor, name))
        return exact or self._cards.get((vendor, _SNAPSHOT.sub("", name)))

    def models(self, vendor: str) -> tuple[ModelCard, ...]:
        """All cards of a vendor; none where it is not known."""
        return tuple(card for card in self if card.vendor == vendor)

    def vendors(self) -> tuple[str, ...]:
        """All vendors of whom there is a card, sorted."""
        return tuple(sorted({card.vendor for card in self}))

    def extended(self, cards: Iterable[ModelCard]) -> Catalogue:
        """Make a catalogue with further cards, which replace those of the same models."""
        return Catalogue([*self, *cards])

    def __iter__(self) -> Iterator[ModelCard]:
        return iter(self._cards.values())

    def __len__(self) -> int:
        return len(self._cards)


@lru_cache(maxsize=1)
def default_catalogue() -> Catalogue:
    """The cards that come with this package; read when they are first asked for.

    They are few and were right on the day that each one names. Prices change: bring your own
    cards, or take those of `agentkit_providers.catalogue.genai_prices`.
    """
    data = pkgutil.get_data("agentkit_providers.catalogue", "cards.json")
    return Catalogue(msgspec.json.decode(data or b"[]", type=list[ModelCard]))
