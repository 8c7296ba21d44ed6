"""The rows of vendors, against what is known of them: where keys are, and what bodies they take.

Run this file to write the table of the documentation anew:
`python tests/providers/vendors/test_vendors.py --write`.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentkit_core import Item, ItemKind, ModelOptions, ModelRequest, Text, ThinkingLevel, ToolSpec
from agentkit_core.cache import CacheRequest
from agentkit_providers import connect
from agentkit_providers.endpoints import default_registry

KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "azure": ("AZURE_OPENAI_API_KEY",),
    "google-openai": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "vercel": ("AI_GATEWAY_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "zai": ("ZAI_API_KEY",),
    "minimax": ("MINIMAX_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "huggingface": ("HF_TOKEN",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "together": ("TOGETHER_API_KEY",),
    "baseten": ("BASETEN_API_KEY",),
    "nvidia": ("NVIDIA_API_KEY",),
    "perplexity": ("PERPLEXITY_API_KEY",),
    "alibaba": ("DASHSCOPE_API_KEY",),
    "venice": ("VENICE_API_KEY",),
    "github-models": ("GITHUB_TOKEN",),
}
PAGE = Path(__file__).parents[3] / "docs" / "packages" / "providers.md"
LOCAL = ("ollama", "vllm", "llamacpp", "lmstudio", "sglang", "litellm", "compatible")


def body_of(name: str, **options: Any) -> Mapping[str, Any]:
    """What a model is sent: instructions of the developer's, a question, one strict tool."""
    model = connect(name, base_url="http://x")
    developer = Item(ItemKind.DEVELOPER, (Text("be brief"),))
    tool = ToolSpec("look", "Looks.", {"type": "object", "properties": {}}, strict=True)
    asked = ModelRequest(
        model=model.name,
        items=(developer, Item.user("hi")),
        tools=(tool,),
        options=ModelOptions(**options),
    )
    body: Mapping[str, Any] = msgspec.json.decode(model.projection.encode(asked).body)
    return body


@pytest.mark.parametrize(("name", "variables"), KEYS.items())
def test_a_vendors_key_is_looked_for_where_people_keep_it(
    name: str, variables: tuple[str, ...]
) -> None:
    row = default_registry.get(name)

    assert row.key_env == variables
    assert row.key_required


@pytest.mark.parametrize("name", LOCAL)
def test_a_local_server_needs_no_key(name: str) -> None:
    assert not default_registry.get(name).key_required


@pytest.mark.parametrize(
    ("name", "role", "tokens", "store", "effort", "strict"),
    [
        ("openai:gpt-x", "developer", "max_completion_tokens", False, "high", True),
        ("azure:gpt-x", "developer", "max_completion_tokens", False, "high", True),
        ("groq:gpt-x", "system", "max_completion_tokens", None, "high", True),
        ("cerebras:m", "system", "max_completion_tokens", None, "high", True),
        ("xai:grok-2", "system", "max_completion_tokens", None, None, True),
        ("xai:grok-4.7", "system", "max_completion_tokens", None, "high", True),
        ("deepseek:m", "system", "max_tokens", None, "high", True),
        ("together:m", "system", "max_tokens", None, None, None),
        ("moonshot:m", "system", "max_tokens", None, None, None),
        ("nvidia:m", "system", "max_tokens", None, None, None),
        ("zai:m", "system", "max_tokens", None, None, True),
        ("mistral:m", "system", "max_tokens", None, None, True),
        ("minimax:m", "system", "max_completion_tokens", None, None, None),
        ("openrouter:m", "system", "max_completion_tokens", None, None, True),
        ("openrouter:openai/m", "developer", "max_completion_tokens", None, None, True),
        ("openrouter:anthropic/m", "developer", "max_completion_tokens", None, None, True),
        ("compatible:m", "system", "max_tokens", None, "high", True),
    ],
)
def test_a_body_has_what_its_vendor_takes(
    name: str, role: str, tokens: str, store: bool | None, effort: str | None, strict: bool | None
) -> None:
    body = body_of(name, thinking=ThinkingLevel.HIGH, max_output_tokens=100)

    assert body["messages"][0]["role"] == role
    assert body[tokens] == 100
    assert body.get("store") is store
    assert body.get("reasoning_effort") == effort
    assert body["tools"][0]["function"].get("strict") is strict


@pytest.mark.parametrize(
    ("name", "level", "fields"),
    [
        ("groq:qwen/qwen3-32b", "off", {"reasoning_effort": "none"}),
        ("groq:qwen/qwen3-32b", "low", {"reasoning_effort": "default"}),
        ("groq:openai/gpt-oss-120b", "off", {"reasoning_effort": "low"}),
        ("groq:llama-3.3-70b-versatile", "high", {}),
        ("openai:gpt-4o", "high", {}),
        ("openai:gpt-4-turbo", "high", {}),
        ("openai:gpt-5-chat-latest", "high", {}),
        ("openai:gpt-5-mini", "off", {"reasoning_effort": "minimal"}),
        ("openai:gpt-5-mini-2025-08-07", "max", {"reasoning_effort": "high"}),
        ("openai:gpt-5.1", "off", {"reasoning_effort": "none"}),
        ("openai:gpt-5.1", "minimal", {"reasoning_effort": "low"}),
        ("openai:gpt-5.2", "max", {}),
        ("openai:o3", "off", {"reasoning_effort": "low"}),
        ("azure:gpt-5.1", "minimal", {"reasoning_effort": "low"}),
        (
            "deepseek:deepseek-reasoner",
            "off",
            {"thinking": {"type": "enabled"}, "reasoning_effort": "minimal"},
        ),
        ("deepseek:deepseek-chat", "off", {"thinking": {"type": "disabled"}}),
        ("xai:grok-4.7", "off", {"reasoning_effort": "low"}),
        ("xai:grok-4.3", "off", {"reasoning_effort": "none"}),
        ("openrouter:m", "off", {"reasoning": {"effort": "none"}}),
        ("zai:m", "high", {"thinking": {"type": "enabled", "clear_thinking": False}}),
        ("together:m", "high", {"reasoning": {"enabled": True}}),
        ("alibaba:m", "high", {"enable_thinking": True}),
        ("baseten:m", "high", {"chat_template_args": {"enable_thinking": True}}),
        (
            "vllm:m",
            "off",
            {"chat_template_kwargs": {"enable_thinking": False, "preserve_thinking": True}},
        ),
    ],
)
def test_a_level_is_asked_for_as_the_model_takes_it(
    name: str, level: str, fields: dict[str, Any]
) -> None:
    body, plain = body_of(name, thinking=ThinkingLevel(level)), body_of(name)

    assert body == {**plain, **fields}


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("openai:o4-mini", False),
        ("openai:gpt-5-mini", False),
        ("openai:gpt-7-imagined", False),
        ("openai:gpt-4.1", True),
        ("openai:gpt-5-chat-latest", True),
        ("groq:anything", True),
    ],
)
def test_a_temperature_is_sent_to_those_who_take_one(name: str, sent: bool) -> None:
    body = body_of(name, temperature=0.5, top_p=0.9)

    assert ("temperature" in body, "top_p" in body) == (sent, sent)


@pytest.mark.parametrize(
    ("name", "asked", "sent"),
    [("openai:gpt-4o", 1_000_000, 16384), ("openai:gpt-4o", 100, 100), ("openai:m", 10**6, 10**6)],
)
def test_a_limit_on_the_output_is_lowered_to_what_the_model_can(
    name: str, asked: int, sent: int
) -> None:
    assert body_of(name, max_output_tokens=asked)["max_completion_tokens"] == sent


def test_marks_of_the_cache_are_sent_to_anthropics_models_alone() -> None:
    marked = msgspec.json.encode(body_of("openrouter:anthropic/m", cache=CacheRequest()))
    plain = msgspec.json.encode(body_of("openrouter:openai/m", cache=CacheRequest()))

    assert b"cache_control" in marked
    assert b"cache_control" not in plain


def test_minimax_is_asked_to_tell_its_reasoning_from_its_answer() -> None:
    assert body_of("minimax:m")["reasoning_split"] is True


def table() -> str:
    """All vendors as a table of Markdown."""
    lines = ["| name | protocol | key | address |", "| --- | --- | --- | --- |"]
    for row in default_registry:
        key = ", ".join(f"`{name}`" for name in row.key_env) or "`api_key=`"
        optional = "" if row.key_required else " (optional)"
        address = row.base_url or "(yours)"
        lines.append(f"| `{row.name}` | {row.api} | {key}{optional} | {address} |")
    return "\n".join(lines)


def page_with(rows: str) -> str:
    """The page, with these rows in the place of its table."""
    page = PAGE.read_text(encoding="utf-8")
    before, begins, rest = page.partition("<!-- vendors: ")
    comment, _, rest = rest.partition("\n")
    _, ends, after = rest.partition("<!-- vendors end -->")
    assert begins
    assert ends
    return f"{before}{begins}{comment}\n\n{rows}\n\n{ends}{after}"


def test_the_documentation_lists_every_vendor_as_its_row_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_with(table()), f"python {__file__} --write"


if __name__ == "__main__" and "--write" in sys.argv:
    PAGE.write_text(page_with(table()), encoding="utf-8")
