"""What is known of one model, as data: its media, its limits, how it thinks, its prices.

Every fact may be unknown, and a model without a card works too. A card avoids requests that the
provider would refuse, and makes it possible to say what a response cost.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from msgspec import Struct, field

from agentkit_core import Modality, ThinkingLevel


class Rates(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a million tokens cost, by kind.

    Attributes:
        input_per_mtok: For prompt tokens that did not come from a cache.
        output_per_mtok: For tokens of the response, reasoning included.
        cache_read_per_mtok: For prompt tokens that came from a cache; None is `input_per_mtok`.
        cache_write_per_mtok: For prompt tokens that were written to a cache; None is
            `input_per_mtok`.
        cache_write_1h_per_mtok: For those of them that are kept for an hour; None is twice
            `input_per_mtok`.
    """

    input_per_mtok: Decimal
    output_per_mtok: Decimal
    cache_read_per_mtok: Decimal | None = None
    cache_write_per_mtok: Decimal | None = None
    cache_write_1h_per_mtok: Decimal | None = None


class PriceTier(Rates, frozen=True, kw_only=True, omit_defaults=True):
    """The rates of requests with a long prompt. They apply to all tokens of such a request.

    Attributes:
        above_prompt_tokens: They apply to prompts with more tokens than this; a prompt with exactly
            as many has the lower rates.
        input_per_mtok: For prompt tokens that did not come from a cache.
        output_per_mtok: For tokens of the response, reasoning included.
        cache_read_per_mtok: For prompt tokens that came from a cache; None is `input_per_mtok`.
        cache_write_per_mtok: For prompt tokens that were written to a cache; None is
            `input_per_mtok`.
        cache_write_1h_per_mtok: For those of them that are kept for an hour; None is twice
            `input_per_mtok`.
    """

    above_prompt_tokens: int


class Prices(Rates, frozen=True, kw_only=True, omit_defaults=True):
    """What the tokens of a model cost. What vendors charge for searches and the like is left out.

    Attributes:
        input_per_mtok: For prompt tokens that did not come from a cache.
        output_per_mtok: For tokens of the response, reasoning included.
        cache_read_per_mtok: For prompt tokens that came from a cache; None is `input_per_mtok`.
        cache_write_per_mtok: For prompt tokens that were written to a cache; None is
            `input_per_mtok`.
        cache_write_1h_per_mtok: For those of them that are kept for an hour; None is twice
            `input_per_mtok`.
        currency: ISO 4217.
        tiers: The rates for long prompts, in any order. Of the tiers whose limit the prompt
            exceeds, the one with the highest limit applies.
        service_tiers: For the vendor's service tiers (`flex`, `priority`), the factor on the whole
            price; None where the price is not known. The factor of other service tiers is 1.
    """

    currency: str = "USD"
    tiers: tuple[PriceTier, ...] = ()
    service_tiers: dict[str, Decimal | None] = field(default_factory=dict)


class ModelCard(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One model of one vendor. None and empty mean that a fact is not known.

    Attributes:
        vendor: The vendor's name among the endpoints.
        id: The model's id, as the vendor names it, without the date of a snapshot.
        name: The model's name for people.
        api: The protocol in which the vendor offers everything that the model can do.
        media_in: What the model can be sent besides text.
        media_out: What the model can respond with besides text.
        context_window: How many tokens prompt and response may have together.
        max_output_tokens: How many tokens the response may have, reasoning included.
        reasoning: Whether the model can think before it responds.
        thinking_levels: The vendor's words for levels; None for a level that the model lacks. Of
            the levels that are not in it, the model has those up to `high`, under their own names.
        sampling: Whether `temperature` and `top_p` may be sent.
        prices: What the model's tokens cost.
        source: Where these facts are published.
        checked_on: When they were read there.
    """

    vendor: str
    id: str
    name: str = ""
    api: str | None = None
    media_in: frozenset[Modality] | None = None
    media_out: frozenset[Modality] | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    reasoning: bool | None = None
    thinking_levels: dict[ThinkingLevel, str | None] = field(default_factory=dict)
    sampling: bool | None = None
    prices: Prices | None = None
    source: str = ""
    checked_on: date | None = None

    @property
    def thinking_level_map(self) -> dict[ThinkingLevel, str | None]:
        """The levels in the form of the protocols' quirks; only `off` without reasoning."""
        if self.reasoning is False:
            return {level: None for level in ThinkingLevel if level is not ThinkingLevel.OFF}
        return self.thinking_levels
