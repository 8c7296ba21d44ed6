"""Options: each is sent, noted or refused, in every protocol and for every model."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import (
    Item,
    JsonFormat,
    NamedTool,
    Provenance,
    ThinkingLevel,
    ToolChoiceMode,
    UnsupportedContent,
)
from agentkit_core.cache import CacheRequest
from providers.fitting.asking import CALL, RESULT, TOOL, send

HIGH, OFF = ThinkingLevel.HIGH, ThinkingLevel.OFF


@pytest.mark.parametrize("model", ["gpt-5.2", "gpt-5.4", "gpt-5.4-mini", "gpt-5.5", "gpt-5.5-pro"])
@pytest.mark.parametrize("vendor", ["openai", "azure"])
def test_vp06_models_that_think_with_tools_elsewhere_get_no_effort_with_tools(
    vendor: str, model: str
) -> None:
    sent = send(f"{vendor}:{model}", tools=[TOOL], thinking=ThinkingLevel.MEDIUM)

    assert "reasoning_effort" not in sent.body
    assert sent.changes["thinking"].asked == "medium"
    assert sent.changes["thinking"].reason
    assert send(f"{vendor}:{model}", thinking=HIGH).body["reasoning_effort"] == "high"


@pytest.mark.parametrize("model", ["gpt-5.6", "gpt-5.6-luna", "gpt-6-sol", "gpt-6.1-sol"])
@pytest.mark.parametrize("level", [None, OFF, ThinkingLevel.LOW])
def test_vp06_newer_models_are_told_none_even_where_nothing_was_asked(
    model: str, level: ThinkingLevel | None
) -> None:
    assert send(f"openai:{model}", tools=[TOOL], thinking=level).body["reasoning_effort"] == "none"
    assert "reasoning_effort" not in send(f"openai:{model}").body


@pytest.mark.parametrize("model", ["gpt-5", "gpt-5-mini", "gpt-5.1", "o3"])
def test_vp06_models_that_take_both_are_sent_both(model: str) -> None:
    sent = send(f"openai:{model}", tools=[TOOL], thinking=HIGH)

    assert sent.body["reasoning_effort"] == "high"
    assert not sent.changes


@pytest.mark.parametrize("choice", [ToolChoiceMode.REQUIRED, NamedTool("get_weather")])
@pytest.mark.parametrize("level", [None, HIGH])
@pytest.mark.parametrize(
    ("model", "off"),
    [
        ("deepseek:deepseek-v4-pro", {"thinking": {"type": "disabled"}}),
        ("moonshot:kimi-k2.6", {"thinking": {"type": "disabled"}}),
        ("alibaba:qwen3.5-plus", {"enable_thinking": False}),
        ("openrouter:deepseek/deepseek-v4-flash", {"reasoning": {"effort": "none"}}),
    ],
)
def test_vp07_thinking_is_off_where_a_call_is_required(
    choice: Any, level: ThinkingLevel | None, model: str, off: dict[str, Any]
) -> None:
    sent = send(model, tools=[TOOL], thinking=level, tool_choice=choice)

    assert off.items() <= sent.body.items()
    assert sent.body["tool_choice"] != "auto"
    assert sent.changes["thinking"].sent == "off"


def test_vp07_a_model_that_always_thinks_is_left_the_choice() -> None:
    sent = send("deepseek:deepseek-reasoner", tools=[TOOL], tool_choice=ToolChoiceMode.REQUIRED)

    assert sent.body["tool_choice"] == "auto"
    assert sent.changes["tool_choice"].asked == "required"


@pytest.mark.parametrize("model", ["openai:gpt-5-mini", "deepseek:deepseek-chat", "groq:llama-3"])
def test_vp07_a_call_is_required_where_that_is_possible(model: str) -> None:
    sent = send(model, tools=[TOOL], tool_choice=ToolChoiceMode.REQUIRED)

    assert sent.body["tool_choice"] == "required"
    assert not sent.changes


def test_vp07_messages_turns_thinking_off_or_refuses() -> None:
    sent = send(
        "anthropic:claude-sonnet-4-5",
        tools=[TOOL],
        thinking=HIGH,
        tool_choice=ToolChoiceMode.REQUIRED,
    )

    assert sent.body["thinking"] == {"type": "disabled"}
    assert sent.changes["thinking"].sent == "off"
    with pytest.raises(UnsupportedContent):
        send("anthropic:claude-opus-5-5", tools=[TOOL], tool_choice=ToolChoiceMode.REQUIRED)


def test_vp07_claude_behind_a_gateway_does_not_think_where_a_call_is_required() -> None:
    sent = send(
        "openrouter:anthropic/claude-opus-4.6",
        tools=[TOOL],
        thinking=HIGH,
        tool_choice=ToolChoiceMode.REQUIRED,
    )

    assert sent.body["reasoning"] == {"effort": "none"}


ASKED: dict[str, Any] = {
    "thinking": HIGH,
    "max_output_tokens": 10_000_000,
    "temperature": 1.9,
    "top_p": 0.5,
    "seed": 7,
    "stop_sequences": ("A", "B", "C", "D", "E", "F"),
    "parallel_tool_calls": False,
    "response_format": JsonFormat(),
    "tool_choice": ToolChoiceMode.REQUIRED,
    "cache": CacheRequest(key="k"),
}
FIELDS = {
    "thinking": ("thinking", "reasoning_effort", "reasoning", "thinkingConfig", "enable_thinking",
                 "chat_template_kwargs", "chat_template_args"),
    "max_output_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens",
                          "maxOutputTokens"),
    "temperature": ("temperature",),
    "top_p": ("top_p", "topP"),
    "seed": ("seed",),
    "stop_sequences": ("stop", "stop_sequences", "stopSequences"),
    "parallel_tool_calls": ("parallel_tool_calls", "disable_parallel_tool_use"),
    "response_format": ("response_format", "text", "output_config", "responseMimeType"),
    "tool_choice": ("tool_choice", "toolConfig"),
    "cache": ("prompt_cache_key", "cache_control", "prompt_cache_retention"),
}  # fmt: skip
MODELS = (
    "openai:gpt-4.1", "openai:gpt-5-mini", "openai:gpt-5.4", "openai:gpt-5.6", "openai:o3",
    "openai-responses:gpt-5-mini", "openai-responses:gpt-4.1", "openai-responses:o4-mini",
    "xai-responses:grok-4.5", "anthropic:claude-3-5-haiku", "anthropic:claude-sonnet-4-5",
    "anthropic:claude-opus-4-6", "anthropic:claude-opus-5-5", "anthropic-compatible:m",
    "google:gemini-2.5-flash", "google:gemini-3-pro", "google:gemma-3", "mistral:mistral-large-4",
    "deepseek:deepseek-v4-pro", "deepseek:deepseek-reasoner", "moonshot:kimi-k2.6", "zai:GLM-5.3",
    "alibaba:qwen3-max", "minimax:MiniMax-M2.7", "xai:grok-4.5", "xai:grok-4-1-fast-non-reasoning",
    "groq:llama-3.3-70b", "cerebras:gpt-oss-120b", "perplexity:sonar", "compatible:m", "ollama:m",
    "litellm:claude-sonnet-4-5", "openrouter:anthropic/claude-sonnet-4.5", "google-openai:gemini-3",
)  # fmt: skip


def keys_of(value: Any) -> set[str]:
    """All keys of objects inside a value."""
    if isinstance(value, dict):
        return {*value, *(key for entry in value.values() for key in keys_of(entry))}
    if isinstance(value, list):
        return {key for entry in value for key in keys_of(entry)}
    return set()


@pytest.mark.parametrize("model", MODELS)
def test_vp17_every_option_is_sent_noted_or_refused(model: str) -> None:
    for option, asked in ASKED.items():
        tools = () if option == "response_format" else (TOOL,)
        try:
            sent = send(model, tools=tools, **{option: asked})
        except UnsupportedContent:
            continue

        noted = option in sent.changes
        assert noted or keys_of(sent.body) & set(FIELDS[option]), option


@pytest.mark.parametrize(
    ("model", "most"), [("openai:gpt-5-mini", 0), ("openai:o3", 0), ("xai:grok-4.5", 0),
                        ("openai:gpt-4.1", 4), ("azure:gpt-4.1", 4),
                        ("openai:gpt-5-chat-latest", 4),
                        ("groq:llama-3.3-70b", 4), ("google:gemini-3-pro", 5), ("zai:GLM-5.3", 1),
                        ("compatible:m", 6)]
)  # fmt: skip
def test_vp17_a_model_gets_as_many_stop_sequences_as_it_takes(model: str, most: int) -> None:
    sent = send(model, stop_sequences=ASKED["stop_sequences"])
    config = sent.body.get("generationConfig", sent.body)

    assert config.get("stop", config.get("stopSequences", [])) == list("ABCDEF"[:most])
    assert ("stop_sequences" in sent.changes) is (most < 6)


@pytest.mark.parametrize(
    ("model", "most"), [("anthropic:claude-sonnet-4-5", 1.0), ("mistral:m", 1.5), ("zai:m", 1.0),
                        ("google:gemini-3-pro", 2.0), ("openai:gpt-4.1", 2.0)]
)  # fmt: skip
def test_vp17_a_temperature_is_lowered_to_the_vendors_highest(model: str, most: float) -> None:
    sent = send(model, temperature=2.5)
    config = sent.body.get("generationConfig", sent.body)

    assert config["temperature"] == most
    assert sent.changes["temperature"].asked == 2.5


def test_vp17_limits_above_what_the_model_puts_out_are_lowered_and_noted() -> None:
    for model, field in (
        ("openai:gpt-4.1", "max_completion_tokens"),
        ("openai-responses:gpt-4.1", "max_output_tokens"),
        ("anthropic:claude-opus-4-1", "max_tokens"),
        ("google:gemini-2.5-pro", "maxOutputTokens"),
    ):
        sent = send(model, max_output_tokens=900_000)
        config = sent.body.get("generationConfig", sent.body)
        assert config[field] < 900_000
        assert sent.changes["max_output_tokens"].asked == 900_000


FOREIGN = replace(Item.assistant("plain"), provenance=Provenance("other", "x", "y"))


@pytest.mark.parametrize(
    ("model", "level", "has_field"),
    [
        ("deepseek:deepseek-reasoner", None, True),
        ("deepseek:deepseek-v4-pro", None, True),
        ("deepseek:deepseek-v4-pro", OFF, False),
        ("deepseek:deepseek-chat", None, False),
        ("deepseek:deepseek-chat", HIGH, True),
        ("moonshot:kimi-k2.6", None, True),
        ("moonshot:kimi-k2-thinking", None, True),
        ("moonshot:kimi-k2-thinking", OFF, True),
        ("moonshot:moonshot-v1-8k", None, False),
        ("zai:GLM-5.3", None, False),
        ("openai:gpt-5-mini", HIGH, False),
        ("compatible:deepseek-reasoner", HIGH, False),
    ],
)
def test_vp32_the_reasoning_field_is_there_while_the_model_thinks(
    model: str, level: ThinkingLevel | None, has_field: bool
) -> None:
    body = send(model, Item.user("u"), FOREIGN, Item.user("v"), thinking=level).body

    assert ("reasoning_content" in body["messages"][1]) is has_field


HISTORY = (Item.user("u"), CALL, RESULT, Item.user("sum up"))


@pytest.mark.parametrize("model", MODELS)
def test_vp33_tools_are_never_an_empty_list(model: str) -> None:
    sent = send(model, *HISTORY, tool_choice=ToolChoiceMode.AUTO, parallel_tool_calls=True)

    if "tools" in sent.body:
        assert model.startswith("litellm")
        assert [tool["function"]["name"] for tool in sent.body["tools"]] == ["get_weather"]
        assert sent.body["tool_choice"] == "none"
        assert "parallel_tool_calls" not in sent.body
    else:
        assert not keys_of(sent.body) & {"tool_choice", "parallel_tool_calls", "toolConfig"}


def test_vp33_a_required_call_without_tools_is_refused_at_such_a_host_too() -> None:
    with pytest.raises(UnsupportedContent):
        send("litellm:bedrock/claude", *HISTORY, tool_choice=ToolChoiceMode.REQUIRED)
