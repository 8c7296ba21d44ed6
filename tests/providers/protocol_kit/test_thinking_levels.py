"""Thinking levels against what a model has, and budgets against what it may put out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import ThinkingLevel
from agentkit_providers._protocol_kit._thinking_levels import (
    LEAST_ANSWER,
    TOKEN_BUDGETS,
    fitted_budget,
    supported_level,
)
from agentkit_providers.catalogue import ModelCard

LEVELS = tuple(ThinkingLevel)
EXTRA = (ThinkingLevel.XHIGH, ThinkingLevel.MAX)
level_maps = st.dictionaries(st.sampled_from(LEVELS), st.none() | st.just("a word"))


def had(level: ThinkingLevel, level_map: dict[ThinkingLevel, str | None]) -> bool:
    return level_map[level] is not None if level in level_map else level not in EXTRA


@pytest.mark.parametrize(
    ("asked", "level_map", "given"),
    [
        ("high", {}, "high"),
        ("max", {}, "high"),
        ("max", {"xhigh": "xhigh"}, "xhigh"),
        ("xhigh", {"max": "max"}, "max"),
        ("minimal", {"minimal": None}, "low"),
        ("off", {"off": None}, "minimal"),
        ("off", {"off": None, "minimal": None}, "low"),
        ("high", {"high": None}, "medium"),
        ("low", dict.fromkeys(ThinkingLevel), "off"),
    ],
)
def test_a_level_that_a_model_lacks_becomes_the_next_higher_or_else_lower_one(
    asked: str, level_map: dict[str, str | None], given: str
) -> None:
    known = {ThinkingLevel(level): word for level, word in level_map.items()}

    assert supported_level(ThinkingLevel(asked), known) == given


@given(st.sampled_from(LEVELS), level_maps)
def test_a_model_has_every_level_that_is_returned_for_it(
    asked: ThinkingLevel, level_map: dict[ThinkingLevel, str | None]
) -> None:
    given_level = supported_level(asked, level_map)

    if any(had(level, level_map) for level in LEVELS):
        assert had(given_level, level_map)
    else:
        assert given_level is ThinkingLevel.OFF


@given(st.sampled_from(LEVELS), level_maps)
def test_a_level_that_the_model_has_is_returned_unchanged(
    asked: ThinkingLevel, level_map: dict[ThinkingLevel, str | None]
) -> None:
    given_level = supported_level(asked, level_map)

    assert supported_level(given_level, level_map) is given_level
    if had(asked, level_map):
        assert given_level is asked


def test_a_preference_is_clamped_for_a_model_and_not_forgotten() -> None:
    plain = ModelCard(vendor="a", id="plain", reasoning=False)
    thinking = ModelCard(vendor="a", id="thinking", reasoning=True)

    levels = [
        supported_level(ThinkingLevel.HIGH, model.thinking_level_map)
        for model in (thinking, plain, thinking)
    ]

    assert levels == ["high", "off", "high"]


def test_levels_above_high_have_the_budget_of_high() -> None:
    assert [TOKEN_BUDGETS.get(level) for level in LEVELS] == [
        None, 1024, 2048, 8192, 16384, 16384, 16384,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("budget", "asked_tokens", "most_tokens", "fitted"),
    [
        (8192, 4096, 64000, (12288, 8192)),
        (8192, 4096, 8192, (8192, 7168)),
        (8192, None, 64000, (64000, 8192)),
        (512, 4096, 64000, (4608, 512)),
        (8192, None, 8193, (8193, 7169)),
        (8192, 100, 64000, (8292, 8192)),
        (16384, None, 1024, (1024, 0)),
        (16384, None, 512, (512, 0)),
    ],
)
def test_a_budget_leaves_tokens_for_the_response(
    budget: int, asked_tokens: int | None, most_tokens: int, fitted: tuple[int, int]
) -> None:
    assert fitted_budget(budget, asked_tokens=asked_tokens, most_tokens=most_tokens) == fitted


@given(
    st.sampled_from(sorted(set(TOKEN_BUDGETS.values()))),
    st.none() | st.integers(1, 200_000),
    st.integers(1, 200_000),
)
def test_a_budget_never_takes_the_place_of_the_answer(
    budget: int, asked_tokens: int | None, most_tokens: int
) -> None:
    limit, fitted = fitted_budget(budget, asked_tokens=asked_tokens, most_tokens=most_tokens)

    assert 0 <= fitted <= budget
    assert limit <= most_tokens
    assert limit - fitted >= min(LEAST_ANSWER, asked_tokens or LEAST_ANSWER, limit)
