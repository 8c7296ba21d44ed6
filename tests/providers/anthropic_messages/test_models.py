"""Messages: what a model takes, by its name, and how much it is asked to think."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    Item,
    ModelOptions,
    ModelRequest,
    NamedTool,
    ThinkingLevel,
    ToolChoiceMode,
    ToolSpec,
)
from agentkit_providers.anthropic_messages import AnthropicMessages, Quirks, ThinkingStyle
from agentkit_providers.anthropic_messages._models import traits_of
from support.messages_bodies import sent

NONE, BUDGET, ADAPTIVE = ThinkingStyle.NONE, ThinkingStyle.BUDGET, ThinkingStyle.ADAPTIVE


@pytest.mark.parametrize(
    ("model", "style", "most", "sampling"),
    [
        ("claude-2.1", NONE, 4096, True),
        ("claude-instant-1.2", NONE, 4096, True),
        ("claude-3-opus-20240229", NONE, 4096, True),
        ("claude-3-5-sonnet-20240620", NONE, 8192, True),
        ("claude-3-7-sonnet@20250219", BUDGET, 64_000, True),
        ("claude-sonnet-4-20250514", BUDGET, 64_000, True),
        ("claude-opus-4-1-20250805", BUDGET, 32_000, True),
        ("claude-opus-4-5", BUDGET, 64_000, True),
        ("anthropic/claude-haiku-4.5", BUDGET, 64_000, True),
        ("claude-opus-4-6", ADAPTIVE, 128_000, True),
        ("us.anthropic.claude-sonnet-4-6-v1:0", ADAPTIVE, 128_000, True),
        ("anthropic/claude-4.7-opus-20260416", ADAPTIVE, 128_000, False),
        ("claude-sonnet-5", ADAPTIVE, 128_000, False),
        ("claude-mythos-preview", ADAPTIVE, 128_000, False),
        ("some-other-model", BUDGET, 64_000, True),
    ],
)
def test_a_model_is_known_by_family_and_version(
    model: str, style: ThinkingStyle, most: int, sampling: bool
) -> None:
    traits = traits_of(model)

    assert (traits.thinking, traits.max_output_tokens, traits.sampling) == (style, most, sampling)


@pytest.mark.parametrize(
    ("model", "off", "xhigh", "forced"),
    [
        ("claude-opus-4-6", "disabled", "max", True),
        ("claude-opus-4-8", "disabled", "xhigh", True),
        ("claude-sonnet-5", "disabled", "xhigh", True),
        ("claude-sonnet-5-5", "between_tools", "xhigh", False),
        ("claude-haiku-5-5", "disabled", "xhigh", True),
        ("claude-opus-5", "disabled", "xhigh", True),
        ("claude-opus-5-5", None, "xhigh", False),
        ("claude-fable-5", None, "xhigh", True),
        ("claude-fable-5-1", None, "xhigh", False),
        ("claude-mythos-preview", None, "max", True),
    ],
)
def test_newer_models_differ_in_levels_and_in_whether_they_can_be_made_to_call(
    model: str, off: str | None, xhigh: str, forced: bool
) -> None:
    plain = sent(model=model, thinking=ThinkingLevel.OFF)
    if off is None:
        # It always thinks: the least is what it can do.
        assert plain["thinking"] == {"type": "adaptive"}
        assert plain["output_config"] == {"effort": "low"}
    else:
        assert plain["thinking"] == {"type": off}
        assert "output_config" not in plain
    assert sent(model=model, thinking=ThinkingLevel.XHIGH)["output_config"] == {"effort": xhigh}
    assert traits_of(model).forced_tools is forced


def thinking(level: str, **asked: Any) -> tuple[Any, Any, int]:
    """The thinking, the effort and the limit that are sent for a level."""
    body = sent(Item.user("u"), thinking=ThinkingLevel(level), **asked)
    return body.get("thinking"), body.get("output_config", {}).get("effort"), body["max_tokens"]


@pytest.mark.parametrize(
    ("level", "effort"),
    [("minimal", "low"), ("low", "low"), ("medium", "medium"), ("high", "high"), ("max", "max")],
)
def test_a10_adaptive_models_get_an_effort(level: str, effort: str) -> None:
    assert thinking(level) == ({"type": "adaptive"}, effort, 32_000)
    assert thinking("off") == ({"type": "disabled"}, None, 32_000)


@pytest.mark.parametrize(
    ("level", "asked", "most", "limit", "budget"),
    [
        ("medium", 4096, 64_000, 12_288, 8192),
        ("medium", 4096, 8192, 8192, 7168),
        ("xhigh", 4096, 64_000, 20_480, 16_384),
        ("minimal", 100, 64_000, 1124, 1024),
        ("high", None, 64_000, 32_000, 16_384),
        ("high", None, 10_000, 10_000, 8976),
    ],
)
def test_a10_budgets_are_fitted_into_the_limit(
    level: str, asked: int | None, most: int, limit: int, budget: int
) -> None:
    options: dict[str, Any] = {} if asked is None else {"max_output_tokens": asked}
    quirks = Quirks(max_output_tokens=most)

    assert thinking(level, model="claude-sonnet-4-5", quirks=quirks, **options) == (
        {"type": "enabled", "budget_tokens": budget},
        None,
        limit,
    )


def test_a10_a_budget_that_does_not_fit_at_all_is_none() -> None:
    asked = thinking(
        "high",
        model="claude-sonnet-4-5",
        max_output_tokens=900,
        quirks=Quirks(max_output_tokens=1500),
    )

    assert asked == ({"type": "disabled"}, None, 900)


def test_a10_budgets_can_be_set() -> None:
    quirks = Quirks(thinking_budgets={ThinkingLevel.LOW: 1500}, thinking_display="summarized")

    enabled = {"type": "enabled", "budget_tokens": 1500, "display": "summarized"}
    assert thinking("low", model="claude-sonnet-4-5", quirks=quirks)[0] == enabled


def test_nothing_is_said_of_thinking_unless_it_is_asked() -> None:
    for model in ("claude-3-5-haiku", "claude-sonnet-4-5", "claude-opus-4-6"):
        body = sent(Item.user("u"), model=model)
        assert not {"thinking", "output_config"} & set(body)
    assert "thinking" not in sent(model="claude-3-5-haiku", thinking=ThinkingLevel.HIGH)


def noted(level: str, model: str, quirks: Quirks | None = None, **options: Any) -> Any:
    request = ModelRequest(
        model=model,
        tools=(ToolSpec("f"),),
        options=ModelOptions(thinking=ThinkingLevel(level), **options),
    )
    wire = AnthropicMessages(quirks=quirks or Quirks()).encode(request)
    return wire.metadata.get("anthropic_messages.thinking")


def test_a9_a_level_that_was_changed_is_noted() -> None:
    no_minimal = Quirks(thinking_level_map={ThinkingLevel.MINIMAL: None})

    assert noted("high", "claude-opus-4-6") is None
    assert noted("max", "claude-sonnet-4-5") == {"asked": "max", "sent": "high"}
    assert noted("high", "claude-3-5-haiku") == {"asked": "high", "sent": "off"}
    assert noted("off", "claude-3-5-haiku") is None
    assert noted("off", "claude-opus-5-5") == {"asked": "off", "sent": "minimal"}
    assert noted("minimal", "claude-opus-4-6", no_minimal) == {"asked": "minimal", "sent": "low"}


@pytest.mark.parametrize("choice", [ToolChoiceMode.REQUIRED, NamedTool("f")])
def test_a_call_that_is_required_turns_thinking_off(choice: Any) -> None:
    """The vendor refuses both at once."""
    for model in ("claude-sonnet-4-5", "claude-opus-4-6"):
        assert noted("high", model, tool_choice=choice) == {"asked": "high", "sent": "off"}
        body = sent(
            model=model, tools=(ToolSpec("f"),), thinking=ThinkingLevel.HIGH, tool_choice=choice
        )
        assert body["thinking"] == {"type": "disabled"}


def test_what_is_known_by_name_can_be_overridden() -> None:
    quirks = Quirks(
        thinking_style=ADAPTIVE, thinking_level_map={ThinkingLevel.HIGH: "ultra"}, forced_tools=True
    )

    assert thinking("high", model="m", quirks=quirks)[1] == "ultra"
    forced = {"tools": (ToolSpec("f"),), "tool_choice": ToolChoiceMode.REQUIRED}
    body = sent(model="claude-opus-5-5", quirks=quirks, **forced)
    assert body["tool_choice"] == {"type": "any"}


def test_the_limit_is_the_models_own_where_that_is_lower() -> None:
    assert sent(model="claude-3-opus-20240229")["max_tokens"] == 4096
    assert sent(model="claude-3-opus-20240229", max_output_tokens=10)["max_tokens"] == 10
    assert sent(model="m", quirks=Quirks(default_max_tokens=5))["max_tokens"] == 5


@given(model=st.text(max_size=30) | st.text(max_size=20).map(lambda rest: f"claude-{rest}"))
def test_no_name_makes_a_request_impossible(model: str) -> None:
    body = sent(model=model, thinking=ThinkingLevel.MEDIUM)

    assert body["max_tokens"] > body.get("thinking", {}).get("budget_tokens", 0)
