"""Usage: what model calls cost in tokens and money.

Counts are disjoint: `input` (not from a cache), `cache_read`, `cache_write` and `output`
never hold the same token twice; `reasoning` is a share of `output`, and `cache_write_1h` of
`cache_write`. `None` is "not reported", which is not zero. Money is `Decimal`, per currency; an
unknown price is unknown.

Adding is associative and has a neutral element (`TokenUsage()`, `CostUsage()`, `Usage()`),
so usage can be summed in any grouping; reports of one and the same request replace each
other instead (`updated_by`). What is known is summed over what is not, and
`Usage` counts for how many requests it is complete: a sum is exact where
`reported_requests == requests`, else a lower bound.
"""

from __future__ import annotations

from decimal import Decimal

from msgspec import field

from agentkit_core._errors import CurrencyMismatch
from agentkit_core._metadata import MetadataMap
from agentkit_core.values import Record


class TokenUsage(Record, frozen=True, omit_defaults=True):
    """Token counts, disjoint, each at least 0 or None for "not reported".

    Attributes:
        input: Prompt tokens that no cache served and none took.
        output: Tokens of the answer, reasoning included.
        cache_read: Prompt tokens served from the provider's cache.
        cache_write: Prompt tokens written to the provider's cache.
        reasoning: The share of `output` that was spent on reasoning.
        cache_write_1h: The share of `cache_write` that the provider keeps for an hour, which costs
            more.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    cache_write_1h: int | None = None

    @property
    def prompt(self) -> int | None:
        """All tokens of the prompt: input, cache reads and cache writes."""
        return _sum(_sum(self.input, self.cache_read), self.cache_write)

    @property
    def total(self) -> int | None:
        """Prompt and output."""
        return _sum(self.prompt, self.output)

    def __add__(self, other: TokenUsage) -> TokenUsage:
        """Add count by count; what neither reports stays unreported."""
        if not isinstance(other, TokenUsage):
            return NotImplemented
        return TokenUsage(
            _sum(self.input, other.input),
            _sum(self.output, other.output),
            _sum(self.cache_read, other.cache_read),
            _sum(self.cache_write, other.cache_write),
            _sum(self.reasoning, other.reasoning),
            _sum(self.cache_write_1h, other.cache_write_1h),
        )

    def updated_by(self, later: TokenUsage) -> TokenUsage:
        """Take what a later report of the same request says; what it leaves out stays."""
        return TokenUsage(
            _later(self.input, later.input),
            _later(self.output, later.output),
            _later(self.cache_read, later.cache_read),
            _later(self.cache_write, later.cache_write),
            _later(self.reasoning, later.reasoning),
            _later(self.cache_write_1h, later.cache_write_1h),
        )


class CostUsage(Record, frozen=True, omit_defaults=True):
    """Money, per currency. Empty means that no price is known, not that it was free.

    Attributes:
        amounts: ISO 4217 code to amount, in whole units of that currency (`{"USD":
            Decimal("0.01")}`).
    """

    amounts: dict[str, Decimal] = field(default_factory=dict)

    @property
    def amount(self) -> Decimal | None:
        """The amount, when it is in one currency; None when none is known.

        Raises:
            CurrencyMismatch: There are several currencies.
        """
        if len(self.amounts) > 1:
            raise CurrencyMismatch(tuple(sorted(self.amounts)))
        return next(iter(self.amounts.values()), None)

    def __add__(self, other: CostUsage) -> CostUsage:
        """Add currency by currency."""
        if not isinstance(other, CostUsage):
            return NotImplemented
        if not other.amounts:
            return self
        summed = dict(self.amounts)
        for currency, amount in other.amounts.items():
            summed[currency] = summed[currency] + amount if currency in summed else amount
        return CostUsage(summed)


class Usage(Record, frozen=True, omit_defaults=True):
    """What some requests used: tokens, money, and for how many of them that is known.

    Attributes:
        requests: How many requests this is the usage of.
        reported_requests: How many of them reported their tokens to the end.
        priced_requests: How many of them have a price in `cost`.
        metadata: The vendors' raw numbers (`<owner>.usage`), of the last request that brought some.
    """

    tokens: TokenUsage = TokenUsage()
    cost: CostUsage = CostUsage()
    requests: int = 0
    reported_requests: int = 0
    priced_requests: int = 0
    metadata: MetadataMap = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether the token counts are whole; if not, they are a lower bound."""
        return self.reported_requests >= self.requests

    def __add__(self, other: Usage) -> Usage:
        """Add everything; of metadata under the same key the later one stays."""
        if not isinstance(other, Usage):
            return NotImplemented
        return Usage(
            self.tokens + other.tokens,
            self.cost + other.cost,
            self.requests + other.requests,
            self.reported_requests + other.reported_requests,
            self.priced_requests + other.priced_requests,
            self.metadata | other.metadata,
        )

    def updated_by(self, later: Usage) -> Usage:
        """Take what a later report of the same requests says; what it leaves out stays.

        Nothing is added up: many servers repeat running totals in every chunk.
        """
        return Usage(
            self.tokens.updated_by(later.tokens),
            later.cost if later.cost.amounts else self.cost,
            max(self.requests, later.requests),
            max(self.reported_requests, later.reported_requests),
            max(self.priced_requests, later.priced_requests),
            self.metadata | later.metadata,
        )


def _sum(one: int | None, other: int | None) -> int | None:
    if one is None:
        return other
    return one if other is None else one + other


def _later(known: int | None, reported: int | None) -> int | None:
    return known if reported is None else reported
