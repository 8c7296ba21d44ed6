"""Model cards: what is known of models, and what their answers cost."""

from agentkit_providers._model_card import ModelCard, Prices, PriceTier, Rates

__all__ = ["ModelCard", "PriceTier", "Prices", "Rates"]
