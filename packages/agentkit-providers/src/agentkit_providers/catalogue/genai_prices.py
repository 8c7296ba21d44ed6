"""Cards from the data of `genai-prices`, which is updated often; needs the `prices` extra.

    model = connect("groq:openai/gpt-oss-120b", card=card("groq", "openai/gpt-oss-120b"))

The data has prices and context windows. All other facts come from the built-in card of a model.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from agentkit_providers.catalogue._card import ModelCard, Prices, PriceTier
from agentkit_providers.catalogue._catalogue import default_catalogue

try:
    import genai_prices
    from genai_prices.data_snapshot import get_snapshot
    from genai_prices.types import ModelInfo, ModelPrice, TieredPrices
except ImportError as error:
    raise ImportError(
        "agentkit_providers.catalogue.genai_prices needs genai-prices: "
        "pip install 'agentkit-providers[prices]'"
    ) from error

__all__ = ["card"]

_THEIR_NAMES: Final = {"xai": "x-ai", "moonshot": "moonshotai"}
"""Vendors that have another name there."""
_RATES: Final = {
    "input_per_mtok": "input_mtok",
    "output_per_mtok": "output_mtok",
    "cache_read_per_mtok": "cache_read_mtok",
    "cache_write_per_mtok": "cache_write_mtok",
    "cache_write_1h_per_mtok": "cache_write_1h_mtok",
}


def card(vendor: str, model: str, *, at: datetime | None = None) -> ModelCard | None:
    """Make the card of a model.

    Args:
        vendor: The vendor's name among the endpoints.
        model: The model's id, as the vendor names it.
        at: The time of the prices, with its time zone; None is now. The prices of some vendors
            depend on the time of day.

    Returns:
        The card; None where the vendor or the model is not known there.
    """
    theirs = _THEIR_NAMES.get(vendor, vendor)
    try:
        _, info = get_snapshot().find_provider_model(model, None, theirs, None)
    except LookupError:
        return None
    at = at or datetime.now(tz=UTC)
    known = default_catalogue().find(vendor, model) or ModelCard(vendor=vendor, id=model)
    return replace(
        known,
        name=known.name or info.name or "",
        context_window=info.context_window or known.context_window,
        prices=_prices(info, at),
        source=f"genai-prices {genai_prices.__version__}",
        checked_on=at.date(),
    )


def _prices(info: ModelInfo, at: datetime) -> Prices | None:
    listed = info.get_prices(at)
    rates = _rates(listed)
    if rates is None:
        return None
    starts = sorted(
        {
            tier.start
            for name in _RATES.values()
            if isinstance(price := getattr(listed, name), TieredPrices)
            for tier in price.tiers
        }
    )
    tiers = (
        PriceTier(above_prompt_tokens=start, **tier_rates)
        for start in starts
        if (tier_rates := _rates(listed, start + 1)) is not None
    )
    prices = Prices(**rates)  # type: ignore[arg-type]
    factors = _service_tiers(info, at, rates)
    return replace(prices, tiers=tuple(tiers), service_tiers=factors)


def _service_tiers(
    info: ModelInfo, at: datetime, rates: dict[str, Decimal]
) -> dict[str, Decimal | None]:
    """The factors of service tiers; None where input and output have different factors."""
    names = {variant.when.get("service_tier") for variant in info.price_variants or ()}
    factors: dict[str, Decimal | None] = {}
    for name in sorted(name for name in names if name):
        other = _rates(info.get_prices(at, {"service_tier": name}))
        if other is None or other == rates:
            continue
        factor = other["input_per_mtok"] / (rates["input_per_mtok"] or 1)
        same = other["output_per_mtok"] == factor * rates["output_per_mtok"]
        factors[name] = factor if same and factor == round(factor, 6) else None
    return factors


def _rates(listed: ModelPrice, prompt_tokens: int = 0) -> dict[str, Decimal] | None:
    """What a million tokens cost in a request with a prompt of that length; None if not known."""
    rates: dict[str, Decimal] = {}
    for ours, theirs in _RATES.items():
        price = getattr(listed, theirs)
        if isinstance(price, TieredPrices):
            exceeded = [tier for tier in price.tiers if prompt_tokens > tier.start]
            price = exceeded[-1].price if exceeded else price.base
        if price is not None:
            rates[ours] = price
    return rates if {"input_per_mtok", "output_per_mtok"} <= rates.keys() else None
