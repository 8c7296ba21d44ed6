"""The catalogue: what is known of models, and what their responses cost."""

from agentkit_providers.catalogue._card import ModelCard, Prices, PriceTier, Rates
from agentkit_providers.catalogue._catalogue import Catalogue, default_catalogue
from agentkit_providers.catalogue._cost import cost

__all__ = [
    "Catalogue",
    "ModelCard",
    "PriceTier",
    "Prices",
    "Rates",
    "cost",
    "default_catalogue",
]
