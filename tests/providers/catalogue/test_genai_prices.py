"""Cards from the data of `genai-prices`."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

pytest.importorskip("genai_prices", reason="the extra `prices` is not installed")

from genai_prices import Usage as TheirUsage
from genai_prices import calc_price
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import TokenUsage
from agentkit_providers.catalogue import cost, default_catalogue
from agentkit_providers.catalogue.genai_prices import card

THEN = datetime(2026, 11, 30, 12, tzinfo=UTC)
MODELS = [
    ("openai", "openai", "gpt-4o"),
    ("openai", "openai", "gpt-5.5"),
    ("anthropic", "anthropic", "claude-sonnet-4-5"),
    ("anthropic", "anthropic", "claude-haiku-5-5"),
    ("google", "google", "gemini-2.5-pro"),
    ("xai", "x-ai", "grok-4.7"),
    ("deepseek", "deepseek", "deepseek-v4-pro"),
]


@pytest.mark.parametrize(("vendor", "theirs", "model"), MODELS)
@given(
    plain=st.integers(0, 400_000),
    read=st.integers(0, 400_000),
    output=st.integers(0, 100_000),
)
def test_a_cost_by_such_a_card_is_what_that_package_makes_of_the_same_usage(
    vendor: str, theirs: str, model: str, plain: int, read: int, output: int
) -> None:
    known = card(vendor, model, at=THEN)
    assert known is not None
    usage = TheirUsage(input_tokens=plain + read, cache_read_tokens=read, output_tokens=output)
    expected = calc_price(usage, model, provider_id=theirs, genai_request_timestamp=THEN)

    found = cost(TokenUsage(input=plain, cache_read=read, output=output), known)

    assert found is not None
    assert found.amount == expected.total_price


def test_prices_are_those_of_the_moment() -> None:
    before = card("openai", "o3", at=datetime(2025, 6, 1, tzinfo=UTC))
    after = card("openai", "o3", at=datetime(2025, 7, 1, tzinfo=UTC))

    assert before is not None
    assert before.prices is not None
    assert after is not None
    assert after.prices is not None
    assert (before.prices.input_per_mtok, after.prices.input_per_mtok) == (Decimal(10), Decimal(2))


def test_a_service_tier_that_is_no_plain_factor_has_no_known_price() -> None:
    mini, whole = card("openai", "gpt-4o-mini", at=THEN), card("openai", "gpt-5", at=THEN)

    assert mini is not None
    assert mini.prices is not None
    assert mini.prices.service_tiers["priority"] is None
    assert whole is not None
    assert whole.prices is not None
    assert whole.prices.service_tiers["flex"] == Decimal("0.5")


def test_what_the_built_in_card_says_besides_stays() -> None:
    built_in, made = default_catalogue().find("openai", "gpt-5"), card("openai", "gpt-5")

    assert built_in is not None
    assert made is not None
    assert made.thinking_levels == built_in.thinking_levels
    assert made.max_output_tokens == built_in.max_output_tokens
    assert "genai-prices" in made.source


def test_a_model_that_is_not_known_there_has_no_card() -> None:
    assert card("openai", "no-such-model") is None
    assert card("no-such-vendor", "gpt-5") is None
