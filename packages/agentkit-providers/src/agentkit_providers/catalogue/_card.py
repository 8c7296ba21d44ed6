"""What is known of one model, as data: what it takes, how much of it, how it thinks, its prices.

Every fact may be unknown, and a model without a card works too: a card only saves a request
that the provider would refuse, and knows what an answer cost.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from msgspec import Struct, field

from agentkit_core import Modality, ThinkingLevel


class Rates(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a million tokens cost, by what became of them.

    Attributes:
        input_per_mtok: Prompt tokens that no cache served.
        output_per_mtok: Tokens of the answer, reasoning included.
        cache_read_per_mtok: Prompt tokens that a cache served; None is as `input_per_mtok`.
        cache_write_per_mtok: Prompt tokens that a cache took in; None is as `input_per_mtok`.
        cache_write_1h_per_mtok: Those of them that it keeps for an hour; None is twice
            `input_per_mtok`.
    """

    input_per_mtok: Decimal
    output_per_mtok: Decimal
    cache_read_per_mtok: Decimal | None = None
    cache_write_per_mtok: Decimal | None = None
    cache_write_1h_per_mtok: Decimal | None = None


class PriceTier(Rates, frozen=True, kw_only=True, omit_defaults=True):
    """The rates of requests with a long prompt; they hold for all tokens of such a request.

    Attributes:
        above_prompt_tokens: They hold from the next token on: a prompt of just as many has the
            lower rates.
    """

    above_prompt_tokens: int


class Prices(Rates, frozen=True, kw_only=True, omit_defaults=True):
    """What a model costs. Tokens alone: what vendors take for searches and the like is not here.

    Attributes:
        currency: ISO 4217.
        tiers: For long prompts, in any order; the one with the highest limit below the prompt
            holds.
        service_tiers: The vendor's service tiers (`flex`, `priority`) and the factor on the whole
            price; None where another price holds that is not known, and 1 for those that are not
            named.
    """

    currency: str = "USD"
    tiers: tuple[PriceTier, ...] = ()
    service_tiers: dict[str, Decimal | None] = field(default_factory=dict)


class ModelCard(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One model of one vendor. None and empty mean that it is not known.

    Attributes:
        vendor: The vendor's name among the endpoints.
        id: The model's id, as the vendor knows it, without the date of a snapshot.
        name: What people call it.
        api: The protocol in which the vendor offers all that it can do.
        media_in: What it can be sent besides text.
        media_out: What it can answer with besides text.
        context_window: How many tokens prompt and answer may have together.
        max_output_tokens: How many the answer may have, reasoning included.
        reasoning: Whether it can think before it answers.
        thinking_levels: The vendor's word for a level, or None where the model lacks it. Levels up
            to `high` that are not named are had by their own names, `xhigh` and `max` are not.
        sampling: Whether `temperature` and `top_p` may be sent.
        source: Where this is written.
        checked_on: When it was read there.
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
        """The levels in the form that protocols take; a model that cannot think has only `off`."""
        if self.reasoning is False:
            return {one: None for one in ThinkingLevel if one is not ThinkingLevel.OFF}
        return self.thinking_levels
