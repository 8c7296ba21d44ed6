"""Histories as a model goes on from them: open turns, its own last words, late instructions."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import (
    FinishReason,
    Item,
    Provenance,
    Reasoning,
    Text,
    TextOutput,
    ThinkingLevel,
    ToolCall,
    ToolCallId,
    ToolResult,
)
from providers.fitting.asking import CALL, RESULT, TOOL, send

HIGH = ThinkingLevel.HIGH
BUDGET = ("anthropic:claude-sonnet-4-5", "anthropic:claude-3-7-sonnet-20250219",
          "vertex-anthropic:claude-haiku-4-5@20251001", "anthropic-compatible:m")  # fmt: skip


def call(name: str) -> ToolCall:
    return ToolCall(ToolCallId(name), "get_weather", {"city": "Oslo"})


def result(name: str) -> Item:
    return Item.tool(ToolResult(ToolCallId(name), TextOutput("sunny")))


def own(model: str, *parts: Any) -> Item:
    vendor, _, name = model.partition(":")
    origin = Provenance(vendor, "anthropic_messages", name)
    return replace(Item.assistant(*parts), provenance=origin)


SIGNED = Reasoning("hm", metadata={"anthropic_messages.signature": "S"})


@pytest.mark.parametrize("model", BUDGET)
@pytest.mark.parametrize("more", [(), (Item.user("and in Rome?"),)])
def test_vp01_a_turn_that_began_without_thinking_goes_on_without_it(
    model: str, more: tuple[Item, ...]
) -> None:
    sent = send(model, Item.user("Weather?"), CALL, RESULT, *more, tools=[TOOL], thinking=HIGH)

    assert sent.body["thinking"] == {"type": "disabled"}
    assert sent.changes["thinking"].asked == "high"


@pytest.mark.parametrize("model", BUDGET[:3])
def test_vp01_a_turn_that_began_with_thinking_and_a_new_turn_think_as_asked(model: str) -> None:
    begun = (Item.user("Weather?"), own(model, SIGNED, call("c1")), result("c1"))
    further = (*begun, own(model, call("c2")), result("c2"))
    new = (Item.user("Weather?"), CALL, RESULT, Item.assistant("Sunny."), Item.user("And now?"))

    for items in (begun, further, new):
        sent = send(model, *items, tools=[TOOL], thinking=HIGH)
        assert sent.body["thinking"]["type"] == "enabled"
        assert "thinking" not in sent.changes


@pytest.mark.parametrize("model", BUDGET[:3])
def test_vp01_what_another_model_did_in_the_turn_was_not_thought(model: str) -> None:
    begun = (Item.user("Weather?"), own(model, SIGNED, call("c1")), result("c1"))
    sent = send(model, *begun, Item.assistant(call("c2")), result("c2"), thinking=HIGH)

    assert sent.body["thinking"] == {"type": "disabled"}
    assert "thinking" not in str(sent.body["messages"])


def test_vp01_without_thinking_the_thinking_of_the_open_turn_is_left_out() -> None:
    model = BUDGET[0]
    begun = (Item.user("Weather?"), own(model, SIGNED, call("c1")), result("c1"))
    over = (*begun, own(model, SIGNED, Text("Sunny.")), Item.user("And now?"))

    off = ThinkingLevel.OFF
    assert "thinking" not in str(send(model, *begun, thinking=off).body["messages"])
    assert "thinking" in str(send(model, *over, thinking=off).body["messages"])
    assert "thinking" in str(send(model, *begun, thinking=HIGH).body["messages"])


def test_vp01_models_with_an_effort_think_anew_in_any_turn() -> None:
    sent = send("anthropic:claude-opus-4-6", Item.user("Weather?"), CALL, RESULT, thinking=HIGH)

    assert sent.body["thinking"]["type"] == "adaptive"


@pytest.mark.parametrize(
    "model",
    [
        "openrouter:anthropic/claude-sonnet-4.5",
        "openrouter:anthropic/claude-sonnet-4",
        "openrouter:anthropic/claude-3.7-sonnet",
        "vercel:anthropic/claude-opus-4.1",
    ],
)
def test_vp01_gateways_before_such_models_have_the_same_rule(model: str) -> None:
    sent = send(model, Item.user("Weather?"), CALL, RESULT, tools=[TOOL], thinking=HIGH)

    assert sent.body["reasoning"] == {"effort": "none"}
    assert sent.changes["thinking"].asked == "high"
    newer = send(
        "openrouter:anthropic/claude-opus-4.6", Item.user("?"), CALL, RESULT, thinking=HIGH
    )
    assert newer.body["reasoning"] == {"effort": "high"}


PREFILL = (Item.user("Tell."), Item.assistant("Here it is: { \n"))


def turns_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a body, whatever they are called."""
    names = ("messages", "contents", "input")
    turns: list[dict[str, Any]] = next(body[name] for name in names if name in body)
    return turns


def roles(body: dict[str, Any]) -> list[str]:
    return [message["role"] for message in turns_of(body)]


@pytest.mark.parametrize(
    "model",
    [
        "anthropic:claude-opus-4-6",
        "vertex-anthropic:claude-opus-4-8",
        "openrouter-anthropic:anthropic/claude-opus-4.6",
        "openrouter:anthropic/claude-opus-4.6",
        "litellm:bedrock/claude-sonnet-5",
        "deepseek:deepseek-v4-pro",
        "perplexity:sonar",
        "google:gemini-3-pro",
    ],
)
def test_vp19_a_user_message_follows_where_a_model_does_not_go_on(model: str) -> None:
    sent = send(model, *PREFILL)

    assert roles(sent.body)[-1] == "user"
    assert "Here it is" in str(sent.body)
    assert "items" in sent.changes


def test_vp19_models_that_go_on_are_sent_the_words_in_the_form_that_they_take() -> None:
    claude = send("anthropic:claude-sonnet-4-5", *PREFILL).body["messages"]
    assert claude[-1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "Here it is: {"}],
    }
    assert send("mistral:m", *PREFILL).body["messages"][-1]["prefix"] is True
    assert send("moonshot:m", *PREFILL).body["messages"][-1]["partial"] is True
    assert send("openai:gpt-4.1", *PREFILL).body["messages"][-1]["role"] == "assistant"
    for model in ("mistral:m", "moonshot:m"):
        assert "prefix" not in str(send(model, *PREFILL, Item.user("on")).body["messages"])


def test_vp19_while_a_model_thinks_it_is_not_made_to_go_on() -> None:
    sent = send("anthropic:claude-sonnet-4-5", *PREFILL, thinking=HIGH)

    assert roles(sent.body) == ["user", "assistant", "user"]
    assert sent.body["thinking"]["type"] == "enabled"


def test_vp19_a_paused_turn_goes_back_as_it_is() -> None:
    paused = replace(Item.assistant("Searching."), finish_reason=FinishReason.PAUSED)

    sent = send("anthropic:claude-opus-4-6", Item.user("u"), paused)

    assert roles(sent.body) == ["user", "assistant"]


START = (Item.system("S1"), Item.user("u1"), Item.assistant("a1"))
STRICT = ("mistral:m", "perplexity:m", "vllm:m", "llamacpp:m", "lmstudio:m", "sglang:m", "ollama:m",
          "compatible:m", "minimax:m", "openrouter:anthropic/claude-opus-4.6")  # fmt: skip


@pytest.mark.parametrize("late", [Item.system("S2"), Item.developer("S2"), Item.context("S2")])
@pytest.mark.parametrize("model", ["anthropic:claude-sonnet-4-5", "google:gemini-3-pro", *STRICT])
def test_vp34_a_late_system_item_is_told_at_its_place(model: str, late: Item) -> None:
    before = send(model, *START, Item.user("u2")).body
    body = send(model, *START, late, Item.user("u2")).body

    for front in ("system", "systemInstruction"):
        assert body.get(front) == before.get(front)
    turns = turns_of(body)
    system = [at for at, turn in enumerate(turns) if turn["role"] in ("system", "developer")]
    assert system in ([], [0])
    assert "S2" in str(turns[-2:])
    assert str(turns[-1]).endswith(("u2'}", "u2'}]}"))


@pytest.mark.parametrize("model", ["mistral:m", "perplexity:m"])
def test_vp34_strict_hosts_get_strict_turns(model: str) -> None:
    body = send(model, Item.system("S0"), Item.developer("S1"), *START[1:], Item.system("S2"),
                Item.notification("N"), Item.user("u2")).body  # fmt: skip

    assert roles(body) == ["system", "user", "assistant", "user"]
    assert body["messages"][0]["content"] == "S0\nS1"
    for told in ("S2", "N", "u2"):
        assert told in str(body["messages"][-1])


@pytest.mark.parametrize(
    "model", ["anthropic:claude-sonnet-4-5", "google:gemini-3-pro", "mistral:m"]
)
def test_vp34_what_stands_before_the_first_user_message_belongs_to_the_front(model: str) -> None:
    items = (Item.system("S1"), Item.assistant("hello"), Item.system("S2"), Item.user("u"))
    body = send(model, *items).body
    front = body.get("system", body.get("systemInstruction", body.get("messages", [])[:1]))

    assert "S1" in str(front)
    assert "S2" in str(front)


def test_vp34_hosts_that_take_system_messages_anywhere_get_them_there() -> None:
    for model in ("openai:gpt-5-mini", "openai-responses:gpt-5-mini", "deepseek:deepseek-v4-pro"):
        body = send(model, *START, Item.system("S2"), Item.user("u2")).body
        turns = turns_of(body)
        assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "system", "user"]
