"""Usage: the tokens and the money that model calls cost.

Counts are disjoint: `input` (not from a cache), `cache_read`, `cache_write` and `output` never
count the same token twice. `reasoning` is a share of `output`, and `cache_write_1h` of
`cache_write`. None means "not reported", which is not zero. Money is `Decimal`, per currency; an
unknown price is absent, not zero.

Addition is associative and has a neutral element (`TokenUsage()`, `CostUsage()`, `Usage()`), so
usage can be summed in any grouping. Later reports of the same request replace earlier ones
(`updated_by`). A sum contains what is known; `Usage` says for how many requests that is complete:
if `reported_requests == requests` the sum is exact, otherwise it is a lower bound.
"""

from __future__ import annotations

from decimal import Decimal

from msgspec import field

from agentkit_core._errors import CurrencyMismatch
from agentkit_core._metadata import MetadataMap
from agentkit_core.values import Record


class TokenUsage(Record, frozen=True, omit_defaults=True):
    """Disjoint token counts, each at least 0, or None for "not reported".

    Attributes:
        input: Prompt tokens that were neither read from a cache nor written to one.
        output: Tokens of the answer, including reasoning.
        cache_read: Prompt tokens served from the provider's cache.
        cache_write: Prompt tokens written to the provider's cache.
        reasoning: The share of `output` that was spent on reasoning.
        cache_write_1h: The share of `cache_write` that the provider keeps for one hour, at a
            higher price.
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
        """All tokens of prompt and output."""
        return _sum(self.prompt, self.output)

    def __add__(self, other: TokenUsage) -> TokenUsage:
        """Add each count; a count that neither reports stays None."""
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
        """Return the counts of a later report of the same request; its None keep the old counts."""
        return TokenUsage(
            _later(self.input, later.input),
            _later(self.output, later.output),
            _later(self.cache_read, later.cache_read),
            _later(self.cache_write, later.cache_write),
            _later(self.reasoning, later.reasoning),
            _later(self.cache_write_1h, later.cache_write_1h),
        )


class CostUsage(Record, frozen=True, omit_defaults=True):
    """Money, per currency. Empty means that the price is unknown, not that it is zero.

    Attributes:
        amounts: ISO 4217 code to amount, in units of that currency: `{"USD": Decimal("0.01")}` is
            one cent.
    """

    amounts: dict[str, Decimal] = field(default_factory=dict)

    @property
    def amount(self) -> Decimal | None:
        """The amount, if it is in one currency; None if it is unknown.

        Raises:
            CurrencyMismatch: There are amounts in several currencies.
        """
        if len(self.amounts) > 1:
            raise CurrencyMismatch(tuple(sorted(self.amounts)))
        return next(iter(self.amounts.values()), None)

    def __add__(self, other: CostUsage) -> CostUsage:
        """Add the amounts of each currency."""
        if not isinstance(other, CostUsage):
            return NotImplemented
        if not other.amounts:
            return self
        if not self.amounts:
            return other
        summed = dict(self.amounts)
        for currency, amount in other.amounts.items():
            summed[currency] = summed[currency] + amount if currency in summed else amount
        return CostUsage(summed)


class Usage(Record, frozen=True, omit_defaults=True):
    """The tokens and the money that some requests used, and for how many of them it is known.

    Attributes:
        tokens: The sum of the reported tokens.
        cost: The sum of the known prices.
        requests: The number of requests.
        reported_requests: How many of them reported all their tokens.
        priced_requests: How many of them are in `cost`.
        metadata: The vendors' own numbers, under `<owner>.usage`, from the last request that
            reported them.
    """

    tokens: TokenUsage = TokenUsage()
    cost: CostUsage = CostUsage()
    requests: int = 0
    reported_requests: int = 0
    priced_requests: int = 0
    metadata: MetadataMap = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether the token counts are complete; otherwise they are a lower bound."""
        return self.reported_requests >= self.requests

    @property
    def fully_priced(self) -> bool:
        """Whether `cost` covers every request; otherwise it is a lower bound, or unknown."""
        return self.priced_requests >= self.requests

    def __add__(self, other: Usage) -> Usage:
        """Add all numbers; where both have the same metadata key, the one of `other` is kept."""
        if not isinstance(other, Usage):
            return NotImplemented
        return Usage(
            self.tokens + other.tokens,
            self.cost + other.cost,
            self.requests + other.requests,
            self.reported_requests + other.reported_requests,
            self.priced_requests + other.priced_requests,
            _merged(self.metadata, other.metadata),
        )

    def updated_by(self, later: Usage) -> Usage:
        """Return the usage of a later report of the same requests; its gaps keep the old numbers.

        Nothing is added: many servers repeat running totals in every chunk.
        """
        return Usage(
            self.tokens.updated_by(later.tokens),
            later.cost if later.cost.amounts else self.cost,
            max(self.requests, later.requests),
            max(self.reported_requests, later.reported_requests),
            max(self.priced_requests, later.priced_requests),
            _merged(self.metadata, later.metadata),
        )


def _sum(left: int | None, right: int | None) -> int | None:
    if left is None:
        return right
    return left if right is None else left + right


def _merged(metadata: MetadataMap, later: MetadataMap) -> MetadataMap:
    """Merge metadata; where nothing of the earlier is left, these are the later ones themselves."""
    if not later:
        return metadata
    return later if metadata.keys() <= later.keys() else metadata | later


def _later(known: int | None, reported: int | None) -> int | None:
    return known if reported is None else reported
