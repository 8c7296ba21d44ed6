"""What tokens cost, in exact decimals."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from agentkit_core import CostUsage, TokenUsage
from agentkit_providers.catalogue._card import ModelCard, Prices, Rates

_MILLION: Final = Decimal(1_000_000)
_ONE: Final = Decimal(1)


def cost(
    usage: TokenUsage, card: ModelCard, *, service_tier: str | None = None
) -> CostUsage | None:
    """Compute what the tokens of one request cost.

    Use it for each request, not for sums: the rates can depend on the length of each prompt.

    Args:
        usage: The request's tokens. Counts of a cache that are not reported are taken as 0.
        card: The model.
        service_tier: In which service tier the response was given, in the vendor's word.

    Returns:
        The price; None where it is not known: the card has no prices, or none for the service tier,
        or the input or the output is not reported.
    """
    prices = card.prices
    if prices is None or usage.input is None or usage.output is None:
        return None
    factor = prices.service_tiers.get(service_tier or "", _ONE)
    if factor is None:
        return None
    rates = _rates(prices, usage.prompt or 0)
    # Never more than all writes, whatever a server reports.
    write_1h = min(usage.cache_write_1h or 0, usage.cache_write or 0)
    counts = (
        (usage.input, rates.input_per_mtok),
        (usage.output, rates.output_per_mtok),
        (usage.cache_read or 0, _or(rates.cache_read_per_mtok, rates.input_per_mtok)),
        (
            (usage.cache_write or 0) - write_1h,
            _or(rates.cache_write_per_mtok, rates.input_per_mtok),
        ),
        (write_1h, _or(rates.cache_write_1h_per_mtok, 2 * rates.input_per_mtok)),
    )
    amount = sum((count * rate for count, rate in counts), start=Decimal(0)) / _MILLION
    return CostUsage({prices.currency: amount * factor})


def _rates(prices: Prices, prompt_tokens: int) -> Rates:
    """The rates of a request: those of the highest tier whose limit its prompt exceeds."""
    exceeded = [tier for tier in prices.tiers if prompt_tokens > tier.above_prompt_tokens]
    return max(exceeded, key=lambda tier: tier.above_prompt_tokens, default=prices)


def _or(rate: Decimal | None, otherwise: Decimal) -> Decimal:
    return otherwise if rate is None else rate
