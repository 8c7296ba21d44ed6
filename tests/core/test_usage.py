"""Usage adds up in any grouping, and never takes the unknown for nothing."""

from decimal import Decimal

import pytest
from hypothesis import given

from agentkit_core import CostUsage, CurrencyMismatch, TokenUsage, Usage, from_json, to_json
from support.items import cost_usages, money, token_usages, usages


@given(usages(), usages(), usages())
def test_adding_is_associative(a: Usage, b: Usage, c: Usage) -> None:
    assert (a + b) + c == a + (b + c)


@given(usages())
def test_no_usage_is_the_neutral_element(usage: Usage) -> None:
    assert usage + Usage() == usage
    assert Usage() + usage == usage


@given(token_usages(), token_usages(), token_usages())
def test_tokens_add_like_a_commutative_monoid(a: TokenUsage, b: TokenUsage, c: TokenUsage) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + TokenUsage() == a == TokenUsage() + a


@given(cost_usages(), cost_usages(), cost_usages())
def test_money_adds_like_a_commutative_monoid(a: CostUsage, b: CostUsage, c: CostUsage) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + CostUsage() == a == CostUsage() + a


@given(usages(), usages())
def test_adding_leaves_both_as_they_were(a: Usage, b: Usage) -> None:
    before = to_json(a), to_json(b)
    _ = a + b, a.updated_by(b)

    assert (to_json(a), to_json(b)) == before


def test_what_neither_reports_stays_unknown_and_zero_stays_zero() -> None:
    summed = TokenUsage(10, 5, reasoning=2) + TokenUsage(1, 1, cache_read=0)

    assert summed == TokenUsage(11, 6, cache_read=0, cache_write=None, reasoning=2)


def test_derived_counts_of_nothing_are_unknown_not_zero() -> None:
    assert TokenUsage().prompt is None
    assert TokenUsage().total is None
    assert TokenUsage(output=3).total == 3
    assert TokenUsage(0).prompt == 0


def test_u04_counts_are_disjoint_so_that_each_token_is_counted_once() -> None:
    openai = TokenUsage(input=200, output=50, cache_read=800, cache_write=0)
    anthropic = TokenUsage(input=200, output=50, cache_read=800, cache_write=100)

    assert (openai.prompt, openai.total) == (1000, 1050)
    assert (anthropic.prompt, anthropic.total) == (1100, 1150)


def test_u05_reasoning_is_a_share_of_the_output() -> None:
    usage = TokenUsage(input=55, output=87, reasoning=78)

    assert usage.total == 142


def test_u01_running_totals_replace_each_other() -> None:
    reports = [Usage(TokenUsage(10, n), requests=1) for n in (1, 4, 5)]
    known = reports[0]
    for report in reports[1:]:
        known = known.updated_by(report)

    assert known == Usage(TokenUsage(10, 5), requests=1)


def test_u03_a_number_replaces_and_what_is_left_out_stays_and_zero_is_a_number() -> None:
    first = TokenUsage(input=25, output=1, cache_read=100, cache_write=7)
    second = TokenUsage(input=10682, output=40, cache_write=0)
    third = TokenUsage(input=None, output=60)

    assert first.updated_by(second).updated_by(third) == TokenUsage(10682, 60, 100, 0)


def test_a_later_report_fills_in_what_the_earlier_one_lacks() -> None:
    final = Usage(cost=money("0.1"), requests=1, priced_requests=1, metadata={"a.usage": 1})
    streamed = Usage(TokenUsage(3, 4), requests=1, reported_requests=1, metadata={"a.usage": 2})

    assert streamed.updated_by(final) == Usage(
        TokenUsage(3, 4), money("0.1"), 1, 1, 1, {"a.usage": 1}
    )


@given(usages())
def test_a_report_that_says_nothing_or_the_same_changes_nothing(usage: Usage) -> None:
    assert usage.updated_by(Usage()) == usage
    assert usage.updated_by(usage) == usage


def test_u06_an_attempt_without_numbers_makes_a_sum_a_lower_bound() -> None:
    died = Usage(TokenUsage(input=500), requests=1)
    succeeded = Usage(TokenUsage(input=500, output=20), requests=1, reported_requests=1)
    run = died + succeeded

    assert run.tokens == TokenUsage(input=1000, output=20)
    assert run.requests == 2
    assert not run.exact
    assert succeeded.exact


def test_money_is_exact_and_kept_by_currency() -> None:
    cost = money("0.1") + money("0.2") + money("1", "EUR")

    assert cost.amounts == {"USD": Decimal("0.3"), "EUR": Decimal(1)}
    assert from_json(to_json(cost), CostUsage) == cost
    assert to_json(money("0.10")) == b'{"amounts":{"USD":"0.10"}}'


def test_several_currencies_have_no_one_amount() -> None:
    assert CostUsage().amount is None
    assert money("0.5").amount == Decimal("0.5")
    with pytest.raises(CurrencyMismatch) as caught:
        _ = (money("1") + money("1", "EUR")).amount
    assert caught.value.currencies == ("EUR", "USD")


@pytest.mark.parametrize("value", [TokenUsage(), CostUsage(), Usage()])
def test_usage_adds_to_nothing_but_usage(value: Usage) -> None:
    with pytest.raises(TypeError):
        _ = value + 1  # type: ignore[operator]


def test_a_sum_shares_the_metadata_of_which_nothing_is_replaced() -> None:
    earlier, later = Usage(metadata={"a.usage": 1}), Usage(metadata={"a.usage": 2})

    assert (earlier + later).metadata is later.metadata
    assert (Usage() + later).metadata is later.metadata
    assert (earlier + Usage()).metadata is earlier.metadata
    assert earlier.updated_by(later).metadata is later.metadata
    assert (earlier + Usage(metadata={"b.usage": 3})).metadata == {"a.usage": 1, "b.usage": 3}
