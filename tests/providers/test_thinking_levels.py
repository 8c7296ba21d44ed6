"""Thinking levels against what a model has."""

import pytest

from agentkit_core import ThinkingLevel
from agentkit_providers._thinking_levels import TOKEN_BUDGETS, fitted_budget, supported_level


@pytest.mark.parametrize(
    ("asked", "level_map", "given"),
    [
        ("high", {}, "high"),
        ("max", {}, "high"),
        ("max", {"xhigh": "xhigh"}, "xhigh"),
        ("xhigh", {"max": "max"}, "max"),
        ("minimal", {"minimal": None}, "low"),
        ("high", {"high": None}, "medium"),
        ("low", dict.fromkeys(ThinkingLevel), "off"),
    ],
)
def test_a_level_that_a_model_lacks_becomes_the_next_one_up_or_else_down(
    asked: str, level_map: dict[str, str | None], given: str
) -> None:
    known = {ThinkingLevel(level): word for level, word in level_map.items()}

    assert supported_level(ThinkingLevel(asked), known) == given


@pytest.mark.parametrize(
    ("asked_tokens", "most_tokens", "fitted"),
    [(4096, 64000, (12288, 8192)), (4096, 8192, (8192, 7168)), (None, 64000, (64000, 8192))],
)
def test_a_budget_is_fitted_so_that_the_answer_has_room(
    asked_tokens: int | None, most_tokens: int, fitted: tuple[int, int]
) -> None:
    budget = TOKEN_BUDGETS[ThinkingLevel.MEDIUM]

    assert fitted_budget(budget, asked_tokens=asked_tokens, most_tokens=most_tokens) == fitted
