"""The catalogue: cards are found, costs are exact, and what is not known stays unknown."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    CostUsage,
    FinishReason,
    Item,
    ModelRequest,
    ModelResponse,
    TokenUsage,
    Usage,
)
from agentkit_core.provider import ModelEvent, ResponseFinished, UsageReported
from agentkit_core.testing import check_decoder
from agentkit_providers import connect
from agentkit_providers.catalogue import (
    Catalogue,
    ModelCard,
    Prices,
    PriceTier,
    cost,
    default_catalogue,
)
from agentkit_providers.catalogue._priced import PricedDecoder
from agentkit_providers.endpoints import default_registry
from agentkit_providers.openai_chat import OpenAIChat
from agentkit_providers.openai_responses import OpenAIResponses
from agentkit_providers.replay import Answer, ReplayServer, openai_chat

RATES: dict[str, Any] = {
    "input_per_mtok": Decimal(3),
    "output_per_mtok": Decimal(15),
    "cache_read_per_mtok": Decimal("0.3"),
    "cache_write_per_mtok": Decimal("3.75"),
}
DOUBLED = {name: 2 * rate for name, rate in RATES.items()}
ALL_KINDS = TokenUsage(input=1000, output=500, cache_read=2000, cache_write=100)
CARDS = list(default_catalogue())
counts = st.none() | st.integers(0, 10**9)


def card(**given: Any) -> ModelCard:
    return ModelCard(vendor="one", id="m", prices=Prices(**(RATES | given)))


def dollars(usage: TokenUsage, card: ModelCard, **given: Any) -> Decimal | None:
    found = cost(usage, card, **given)
    return None if found is None else found.amount


# Costs.


def test_every_kind_of_token_has_its_own_price() -> None:
    assert dollars(ALL_KINDS, card()) == Decimal("0.011475")


def test_writes_that_are_kept_for_an_hour_cost_twice_the_input_unless_the_card_says_more() -> None:
    kept = TokenUsage(input=1000, output=500, cache_read=2000, cache_write=100, cache_write_1h=100)

    assert dollars(kept, card()) == Decimal("0.0117")
    assert dollars(kept, card(cache_write_1h_per_mtok=Decimal(0))) == Decimal("0.0111")


def test_no_more_writes_are_kept_for_an_hour_than_there_are_writes() -> None:
    told = TokenUsage(input=0, output=0, cache_write=50, cache_write_1h=100)

    assert dollars(told, card()) == Decimal("0.0003")


def test_cached_tokens_cost_as_much_as_others_where_no_price_is_named_for_them() -> None:
    plain = ModelCard(
        vendor="one", id="m", prices=Prices(input_per_mtok=Decimal(1), output_per_mtok=Decimal(2))
    )

    assert dollars(ALL_KINDS, plain) == Decimal("0.0041")


@pytest.mark.parametrize(
    ("prompt", "rate"), [(200_000, 3), (200_001, 6), (499_999, 6), (500_000, 6), (500_001, 30)]
)
def test_the_highest_tier_below_the_prompt_prices_the_whole_request(prompt: int, rate: int) -> None:
    far = {**DOUBLED, "input_per_mtok": Decimal(30)}
    tiers = (
        PriceTier(above_prompt_tokens=500_000, **far),
        PriceTier(above_prompt_tokens=200_000, **DOUBLED),
    )
    tiered = card(tiers=tiers, cache_read_per_mtok=None)
    # What a cache serves counts as well, and costs the same here.
    usage = TokenUsage(input=prompt - 100_000, cache_read=100_000, output=0)
    cached_rate = Decimal("0.6") if rate > 3 else Decimal(rate)

    expected = (prompt - 100_000) * Decimal(rate) + 100_000 * cached_rate
    assert dollars(usage, tiered) == expected / 1_000_000


def test_a_free_model_costs_nothing_which_is_not_the_same_as_unknown() -> None:
    free = ModelCard(
        vendor="one", id="m", prices=Prices(input_per_mtok=Decimal(0), output_per_mtok=Decimal(0))
    )

    assert cost(ALL_KINDS, free) == CostUsage({"USD": Decimal(0)})
    assert cost(ALL_KINDS, ModelCard(vendor="one", id="m")) is None
    assert cost(TokenUsage(), free) is None
    assert cost(TokenUsage(reasoning=3), free) is None


def test_vl29_a_request_with_a_count_missing_has_no_price() -> None:
    assert cost(TokenUsage(1000, 100), card()) is not None
    for usage in (
        TokenUsage(input=1000), TokenUsage(output=100), TokenUsage(cache_read=9, output=100),
        TokenUsage(input=1000, cache_read=9),
    ):  # fmt: skip
        assert cost(usage, card()) is None


def test_a_service_tier_has_a_factor_or_a_price_that_is_not_known() -> None:
    tiered = card(service_tiers={"flex": Decimal("0.5"), "priority": Decimal(2), "scale": None})

    assert dollars(ALL_KINDS, tiered, service_tier="flex") == Decimal("0.0057375")
    assert dollars(ALL_KINDS, tiered, service_tier="priority") == Decimal("0.02295")
    assert dollars(ALL_KINDS, tiered, service_tier="default") == Decimal("0.011475")
    assert cost(ALL_KINDS, tiered, service_tier="scale") is None


def test_a_price_is_in_the_currency_of_the_card() -> None:
    assert cost(ALL_KINDS, card(currency="CNY")) == CostUsage({"CNY": Decimal("0.011475")})


reported = st.integers(0, 1_000_000)
usages = st.builds(TokenUsage, reported, reported, *[counts] * 4)


@given(usages, usages)
def test_without_tiers_costs_add_up_as_tokens_do(one: TokenUsage, other: TokenUsage) -> None:
    if (one.cache_write_1h or 0) > (one.cache_write or 0):
        one = TokenUsage(one.input, one.output, one.cache_read, one.cache_write)
    if (other.cache_write_1h or 0) > (other.cache_write or 0):
        other = TokenUsage(other.input, other.output, other.cache_read, other.cache_write)
    parts = [dollars(usage, card()) for usage in (one, other)]

    assert (dollars(one + other, card()) or 0) == sum(part or 0 for part in parts)


@given(st.builds(TokenUsage, *[counts] * 6))
def test_no_usage_has_a_negative_price(usage: TokenUsage) -> None:
    assert (dollars(usage, card()) or 0) >= 0


# Cards.


def test_a_model_is_found_by_its_vendor_and_id_in_any_case() -> None:
    one, same_id = ModelCard(vendor="a", id="M"), ModelCard(vendor="b", id="M")
    catalogue = Catalogue([one, same_id])

    assert catalogue.find("a", "M") is one
    assert catalogue.find("b", "m") is same_id
    assert catalogue.find("c", "M") is None
    assert catalogue.find("a", "M2") is None


@pytest.mark.parametrize("snapshot", ["-2025-08-07", "-20250807", "@20250807", "-latest"])
def test_a_snapshot_is_found_by_its_model_unless_it_has_a_card(snapshot: str) -> None:
    model = ModelCard(vendor="a", id="m")
    own = ModelCard(vendor="a", id=f"m{snapshot}")

    assert Catalogue([model]).find("a", f"m{snapshot}") is model
    assert Catalogue([model, own]).find("a", f"m{snapshot}") is own
    assert Catalogue([model]).find("a", f"m{snapshot}-mini") is None


def test_a_catalogue_is_extended_without_being_changed() -> None:
    first = Catalogue([ModelCard(vendor="a", id="m"), ModelCard(vendor="b", id="n")])
    replacing = ModelCard(vendor="a", id="m", name="M")

    second = first.with_cards([replacing, ModelCard(vendor="c", id="o")])

    assert first.find("a", "m") != replacing
    assert second.find("a", "m") == replacing
    assert second.vendors() == ("a", "b", "c")
    assert [found.id for found in second.models("a")] == ["m"]
    assert second.models("nobody") == ()
    assert (len(first), len(second)) == (2, 3)


@pytest.mark.parametrize("found", CARDS, ids=[f"{found.vendor}:{found.id}" for found in CARDS])
def test_every_card_is_of_a_known_vendor_and_says_where_and_when_it_was_read(
    found: ModelCard,
) -> None:
    vendors = {row.catalogue or row.name for row in default_registry}

    assert found.vendor in vendors | {"anthropic", "google"}
    assert found.source
    assert found.checked_on is not None
    assert default_catalogue().find(found.vendor, found.id) is found
    assert 0 < (found.max_output_tokens or 1) <= (found.context_window or 1_000)
    if found.prices is not None:
        assert 0 < found.prices.input_per_mtok <= found.prices.output_per_mtok
        assert (found.prices.cache_read_per_mtok or 0) <= found.prices.input_per_mtok


# Costs of answers.


def asked(answer: Answer, name: str = "compatible:m", **given: Any) -> ModelResponse:
    with ReplayServer([answer]) as server:
        model = connect(name, base_url=server.url, api_key="k", **given)
        request = ModelRequest(model=model.name, items=(Item.user("hi"),))
        return model.complete_blocking(request)


ANSWER = openai_chat.text("hello", usage=(1000, 500))


def test_an_answer_says_what_it_cost_where_the_price_is_known() -> None:
    known = asked(ANSWER, card=card())

    assert known.usage.cost.amount == Decimal("0.0105")
    assert known.usage.priced_requests == 1
    assert known.usage.tokens.output == 500


def test_an_answer_of_an_unknown_model_has_no_price() -> None:
    unknown = asked(ANSWER)

    assert unknown.usage.cost.amount is None
    assert unknown.usage.priced_requests == 0


def test_a_model_of_the_catalogue_has_its_price_by_default() -> None:
    known = default_catalogue().find("openai", "gpt-5-mini")
    assert known is not None

    assert asked(ANSWER, "openai:gpt-5-mini").usage.cost.amount == dollars(
        TokenUsage(1000, 500), known
    )
    assert asked(ANSWER, "azure:gpt-5-mini").usage.cost.amount is None


def test_a_catalogue_of_ones_own_takes_the_place_of_the_built_in_one() -> None:
    mine = Catalogue([ModelCard(vendor="compatible", id="m", prices=card().prices)])

    assert asked(ANSWER, catalogue=mine).usage.cost.amount == Decimal("0.0105")
    assert asked(ANSWER, "openai:gpt-5-mini", catalogue=mine).usage.cost.amount is None


def test_a_price_that_the_provider_reports_stays() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 500, "cost": 0.5}
    answer = Answer.events(
        {"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]},
        {"choices": [], "usage": usage},
        "[DONE]",
    )

    assert asked(answer, "openrouter:m", card=card()).usage.cost.amount == Decimal("0.5")
    assert asked(answer, "compatible:m", card=card()).usage.cost.amount == Decimal("0.0105")


@pytest.mark.parametrize(
    ("tier", "amount"), [("flex", "0.00525"), ("default", "0.0105"), (None, "0.0105")]
)
def test_an_answer_is_priced_by_the_service_tier_that_it_was_given_in(
    tier: str | None, amount: str
) -> None:
    answer = Answer.events(
        {
            "id": "a",
            "service_tier": tier,
            "choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}],
        },
        {"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 500}},
        "[DONE]",
    )

    found = asked(answer, card=card(service_tiers={"flex": Decimal("0.5")}))

    assert found.usage.cost.amount == Decimal(amount)
    assert found.usage.requests == found.usage.priced_requests == 1


def test_every_protocol_with_service_tiers_can_read_them() -> None:
    for name, api in (("openai", "openai_chat"), ("openai-responses", "openai_responses")):
        projection = connect(f"{name}:m").projection
        assert isinstance(projection, OpenAIChat | OpenAIResponses)

        assert projection.service_tier({f"{api}.service_tier": "flex"}) == "flex"
        assert projection.service_tier({f"{api}.service_tier": 3}) is None
        assert projection.service_tier({}) is None


def test_an_answer_that_breaks_off_costs_what_it_is_known_to_have_used() -> None:
    answer = Answer.events(
        {
            "choices": [{"index": 0, "delta": {"content": "hi"}}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 1},
        },
    )
    broken = asked(answer, card=card())

    assert broken.failure is not None
    assert broken.usage.cost.amount == Decimal("0.003015")


class Reporting:
    """Decodes nothing: each byte stands for the next event."""

    def __init__(self, *events: ModelEvent) -> None:
        self._events = list(events)

    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        return tuple(self._events.pop(0) for _ in chunk)

    def finish(self) -> tuple[ModelEvent, ...]:
        return ()


def test_each_report_is_priced_by_all_that_was_reported_before_it() -> None:
    reports = (
        UsageReported(Usage(TokenUsage(input=1000), requests=1)),
        UsageReported(Usage(TokenUsage(output=500))),
        ResponseFinished(FinishReason.COMPLETED, metadata={"x.tier": "default"}),
    )
    decoder = PricedDecoder(Reporting(*reports), card(), lambda metadata: str(metadata["x.tier"]))

    events = decoder.feed(b"123")

    priced = [event.usage for event in events if isinstance(event, UsageReported)]
    assert [usage.cost.amount for usage in priced] == [None, Decimal("0.0105")]
    assert [usage.priced_requests for usage in priced] == [0, 1]
    assert [usage.tokens for usage in priced] == [TokenUsage(input=1000), TokenUsage(output=500)]
    assert events[-1] == reports[-1]


def test_a_decoder_that_prices_keeps_the_laws_of_decoders() -> None:
    model = connect("compatible:m", base_url="http://x", card=card())
    body = b"".join(
        b"data: " + line + b"\n\n"
        for line in (
            b'{"choices":[{"index":0,"delta":{"content":"hi"}}],"usage":{"prompt_tokens":9}}',
            b'{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
            b'{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}',
            b"[DONE]",
        )
    )
    request = ModelRequest(model="m")
    response = check_decoder(lambda: model._calls.decoder(request), body)

    assert response.usage.cost.amount == Decimal("0.000057")
